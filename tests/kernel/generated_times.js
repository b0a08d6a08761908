// SPDX-License-Identifier: LGPL-2.1-or-later
// Two functions that measure their own CPU time, for test_e2e_generated.c; the argument is the file of the truth.
function own_light(n) {
  let s = 0;
  for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003;
  return s;
}
function own_heavy(n) {
  let s = 0;
  for (let i = 0; i < 2 * n; i++) s = (s * 37 + i) % 1000003;
  return s;
}
function outer(times, n) {
  const begin = process.cpuUsage().user;
  own_light(n);
  const middle = process.cpuUsage().user;
  own_heavy(n);
  times[0] += middle - begin;
  times[1] += process.cpuUsage().user - middle;
}
const times = [0, 0];
for (let i = 0; i < 50; i++) outer([0, 0], 20000); // until the functions are compiled
while (times[0] + times[1] < 1000000) outer(times, 200000);
require("fs").writeFileSync(process.argv[2], `pid ${process.pid}\nlight ${times[0] * 1000}\nheavy ${times[1] * 1000}\n`);
