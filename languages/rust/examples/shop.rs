// SPDX-License-Identifier: LGPL-2.1-or-later
//! A program that records events of its own:  tracedaemon t.trace -- cargo run --example shop

use std::thread::sleep;
use std::time::{Duration, Instant};
use tracetoolkit::{counter, event, request_begin, request_end, scope};

struct Order {
    id: i32,
    price: f64,
    customer: String,
}

fn check_out(order: &Order) -> Duration {
    scope!(shop, checkout);
    let begin = Instant::now();
    sleep(Duration::from_millis(2));
    let slept = begin.elapsed();
    event!(shop, order_paid, id = order.id, price = order.price, customer = order.customer);
    slept
}

fn main() {
    let mut slept = Duration::ZERO;
    for id in 1..=10 {
        let order = Order { id, price: f64::from(id) * 9.5, customer: "alice".to_string() };
        request_begin!(shop, order, id);
        counter!(shop, waiting, 10 - id);
        slept += check_out(&order);
        request_end!(shop, order, id);
    }
    println!("10 orders, slept {} ns", slept.as_nanos());
}
