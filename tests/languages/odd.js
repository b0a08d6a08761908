// SPDX-License-Identifier: LGPL-2.1-or-later
/** odd.js - values and declarations that a program should not use; prints what each event is to be. */
'use strict';

const { Worker, isMainThread } = require('worker_threads');
const trace = require('tracetoolkit');

const values = trace.event('odd', 'values', 'small:i8 big:u64 number:f64 text:text blob:bytes flag:bool');

function expect(description, ...given) {
  values(...given);
  console.log(`expect ${description}`);
}

if (!isMainThread) {
  expect('small=2 big=0 number=0 text="thread" blob= flag=0', 2, 0, 0, 'thread');
} else {
  const hostile = { toString() { throw new Error('no text'); }, valueOf() { throw new Error('no number'); } };
  expect('small=44 big=18446744073709551615 number=1 text="7" blob=7879 flag=1', 300, -1n, true, 7, Buffer.from('xy'), 2);
  expect('small=0 big=0 number=0 text="" blob= flag=0');
  expect('small=0 big=0 number=0 text="" blob= flag=0', ...new Array(6).fill(hostile));
  expect('small=0 big=0 number=2.5 text="a" blob=62 flag=0', null, 'x', 2.5, 'a', new Uint8Array([98]), NaN, 'too', 'many');
  expect(`small=1 big=2 number=3 text="${'x'.repeat(1021)}..." blob= flag=1`, 1, 2, 3, 'x'.repeat(5000), Buffer.alloc(0), true);
  for (const wrong of ['a-b:i32', 'a:int', 'a', Array.from({ length: 17 }, (_, i) => `f${i}:u8`).join(' ')]) {
    try {
      trace.event('odd', 'wrong', wrong);
      console.log(`no error for ${wrong}`);
    } catch (error) {
      if (!(error instanceof TypeError && error.message.includes('names are letters')))
        throw error;
    }
  }
  const raises = trace.scope('odd', 'raises');
  try {
    raises(async () => {});
    console.log('no error for an async function');
  } catch (error) {
    if (!(error instanceof TypeError))
      throw error;
  }
  try {
    raises(() => { throw new RangeError('left by an exception'); });
  } catch (error) {
    if (!(error instanceof RangeError))
      throw error;
  }
  const tasks = trace.request('odd', 'tasks');
  const task = async (id) => {
    tasks.begin(id);
    tasks.handoff(id);
    const begin = process.hrtime.bigint();
    await new Promise((resolve) => setTimeout(resolve, 5));
    const waited = process.hrtime.bigint() - begin;
    tasks.begin(id);
    tasks.end(id);
    return waited;
  };
  Promise.all([0, 1, 2].map(task)).then((waited) => console.log(`tasks 3 waited ${waited.reduce((a, b) => a + b)} ns`));
  new Worker(__filename);
}
