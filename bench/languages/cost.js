// SPDX-License-Identifier: LGPL-2.1-or-later
'use strict';

const trace = require('tracetoolkit');

const none = trace.event('cost', 'none');
const one = trace.event('cost', 'one', 'value:i64');
const three = trace.event('cost', 'three', 'id:i64 price:f64 customer:text');
const scope = trace.scope('cost', 'scope');
const EVENTS = 10000;

function nsPerTurn(run) {
  let best = 1e9;
  for (let round = 0; round < 50; round++) {
    const begin = process.hrtime.bigint();
    run();
    best = Math.min(best, Number(process.hrtime.bigint() - begin) / EVENTS);
  }
  return best.toFixed(1);
}

console.log(nsPerTurn(() => { for (let i = 0; i < EVENTS; i++) none(); }),
  nsPerTurn(() => { for (let i = 0; i < EVENTS; i++) one(i); }),
  nsPerTurn(() => { for (let i = 0; i < EVENTS; i++) three(i, 9.5, 'alice'); }),
  nsPerTurn(() => { for (let i = 0; i < EVENTS; i++) scope(() => i); }));
