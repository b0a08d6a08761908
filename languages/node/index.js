// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * tracetoolkit - events of a Node program, in the same trace as those of the kernel.
 *
 *     const trace = require('tracetoolkit');
 *     const paid = trace.event('shop', 'order_paid', 'id:i32 price:f64 customer:text');
 *     const checkout = trace.scope('shop', 'checkout');
 *
 *     checkout(() => {
 *       paid(7, 9.5, 'alice');
 *     });
 *
 * An event belongs to the thread that records it. It never throws: a value that the field's type cannot take is zero or the
 * empty text.
 */
'use strict';

const { declare } = require('./tracetoolkit.node');

const [EVENT, BEGIN, END, COUNTER, REQUEST_BEGIN, REQUEST_END, REQUEST_HANDOFF] = [0, 1, 2, 3, 4, 5, 6];

/** The file and the line of the code that called into this module. */
function place() {
  const lines = new Error().stack.split('\n').slice(1);
  const match = /\(?([^()]*):(\d+):\d+\)?$/.exec(lines.find((line) => !line.includes(__filename)) || '');
  return match ? [match[1].replace(/^ *at (async )?(file:\/\/)?/, ''), Number(match[2])] : ['', 0];
}

const known = new Map(); // so that a function that declares its events in each call uses no further memory

function declared(provider, name, role, fields) {
  const [file, line] = place();
  const key = JSON.stringify([provider, name, role, fields, file, line]);
  try {
    if (!known.has(key))
      known.set(key, declare(String(provider), String(name), role, String(fields), file, line));
    return known.get(key);
  } catch (error) {
    throw new TypeError(`${provider}:${name} '${fields}': ${error.message}`);
  }
}

/**
 * Declare an event with fields 'NAME:TYPE ...'; types: i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 bool pointer text bytes.
 * Returns the function that records it; its isOn() says whether a recording selects the event.
 */
function event(provider, name, fields = '') {
  return declared(provider, name, EVENT, fields);
}

/** A value over time: call the result with the value. */
function counter(provider, name, type = 'f64') {
  return declared(provider, name, COUNTER, `value:${type}`);
}

const AsyncFunction = (async () => {}).constructor;

/**
 * Declare a scope: the time from begin to end, in one thread. Returns a function that calls f inside of it; or
 * scope.begin(values...) and scope.end() by hand, without an `await` between them, because the thread runs other code there:
 * request() is for such work.
 */
function scope(provider, name, fields = '') {
  const begin = declared(provider, name, BEGIN, fields);
  const end = declared(provider, name, END, '');
  function run(f) {
    if (f instanceof AsyncFunction)
      throw new TypeError(`${provider}:${name}: an async function pauses, so it is no scope of its thread; see request()`);
    begin();
    try {
      return f();
    } finally {
      end();
    }
  }
  return Object.assign(run, { begin, end });
}

/**
 * Declare requests with ids of a type. From begin(id) to end(id) the thread's time belongs to the request. handoff(id) ends
 * this thread's part: the request waits until a thread begins it again. Around an `await`: handoff(id) before it, begin(id)
 * after it.
 */
function request(provider, name, type = 'i64') {
  const [begin, end, handoff] = [REQUEST_BEGIN, REQUEST_END, REQUEST_HANDOFF]
    .map((role) => declared(provider, name, role, `id:${type}`));
  return { begin, end, handoff };
}

module.exports = { event, counter, scope, request };
