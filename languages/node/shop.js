// SPDX-License-Identifier: LGPL-2.1-or-later
/** shop.js - a program that records events of its own:  tracedaemon t.trace -- node shop.js */
'use strict';

const trace = require('./index.js');

const waiting = trace.counter('shop', 'waiting', 'i32');
const order = trace.request('shop', 'order');
const checkout = trace.scope('shop', 'checkout');
const paid = trace.event('shop', 'order_paid', 'id:i32 price:f64 customer:text');
const never = new Int32Array(new SharedArrayBuffer(4));
let sleptNs = 0n;

function sleep() {
  const begin = process.hrtime.bigint();
  Atomics.wait(never, 0, 0, 2);
  sleptNs += process.hrtime.bigint() - begin;
}

for (let id = 1; id <= 10; id++) {
  order.begin(id);
  waiting(10 - id);
  checkout(() => {
    sleep();
    paid(id, id * 9.5, 'alice');
  });
  order.end(id);
}
console.log(`10 orders, slept ${sleptNs} ns`);
