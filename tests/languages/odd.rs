// SPDX-License-Identifier: LGPL-2.1-or-later
//! Values that a program should not use; prints what each event is to be.

use std::cell::Cell;
use tracetoolkit::{event, scope};

fn expect(description: &str, small: i8, big: u64, number: f32, text: &str, blob: Vec<u8>, flag: bool) {
    event!(odd, values, small, big, number, text, blob, flag);
    println!("expect {description}");
}

fn raises() {
    scope!(odd, raises, id = 7usize);
    scope!(odd, inner);
    panic!("left by a panic");
}

/// The fields of an event are evaluated only if a recording selects it.
fn lazy(evaluated: &Cell<u32>) {
    event!(odd, lazy, count = {
        evaluated.set(evaluated.get() + 1);
        evaluated.get()
    });
}

fn main() {
    let owned = String::from("owned");
    let text = "x".repeat(5000);
    expect("small=-8 big=18446744073709551615 number=1.5 text=\"owned\" blob=7879 flag=1", -8, u64::MAX, 1.5, &owned, b"xy".to_vec(), true);
    expect(&format!("small=0 big=0 number=0 text=\"{}...\" blob= flag=0", "x".repeat(1021)), 0, 0, 0.0, &text, vec![], false);
    let thread = std::thread::spawn(|| expect("small=2 big=0 number=0 text=\"thread\" blob= flag=0", 2, 0, 0.0, "thread", vec![], false));
    thread.join().unwrap();
    event!(odd, moved, owned, reference = &&owned, last = owned.chars().last().unwrap(), pointer = std::ptr::null::<u8>(),);
    drop(owned); // the event has borrowed it
    event!(odd, bare);
    std::panic::set_hook(Box::new(|_| {}));
    let _ = std::panic::catch_unwind(raises);
    let evaluated = Cell::new(0);
    lazy(&evaluated);
    println!("evaluated {}", evaluated.get());
}
