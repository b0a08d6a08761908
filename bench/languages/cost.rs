// SPDX-License-Identifier: LGPL-2.1-or-later
use std::time::Instant;
use tracetoolkit::{event, scope};

const EVENTS: u64 = 10000;

fn ns_per_turn(run: impl Fn(u64)) -> f64 {
    let mut best = 1e9f64;
    for _ in 0..50 {
        let begin = Instant::now();
        for i in 0..EVENTS {
            run(i);
        }
        best = best.min(begin.elapsed().as_nanos() as f64 / EVENTS as f64);
    }
    best
}

fn main() {
    let none = ns_per_turn(|_| event!(cost, none));
    let one = ns_per_turn(|i| event!(cost, one, value = i));
    let three = ns_per_turn(|i| event!(cost, three, id = i, price = 9.5, customer = "alice"));
    let scope = ns_per_turn(|_| {
        scope!(cost, scope);
    });
    println!("{none:.1} {one:.1} {three:.1} {scope:.1}");
}
