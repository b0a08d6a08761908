# SPDX-License-Identifier: LGPL-2.1-or-later
"""odd.py - values and declarations that a program should not use; prints what each event is to be."""
import asyncio
import os
import threading
import time

import tracetoolkit


class Hostile:
    def __str__(self):
        raise RuntimeError("no text")

    __int__ = __float__ = __str__


values = tracetoolkit.event("odd", "values", small="i8", big="u64", number=float, text=str, blob=bytes, flag=bool)


def expect(description, *arguments):
    values(*arguments)
    print("expect", description)


expect('small=44 big=18446744073709551615 number=1 text="7" blob=7879 flag=1', 300, -1, True, 7, b"xy", 2)
expect('small=0 big=0 number=0 text="" blob= flag=0')
expect('small=0 big=0 number=0 text="" blob= flag=0', *[Hostile()] * 6)
expect('small=0 big=0 number=2.5 text="a" blob=62 flag=0', None, "x", 2.5, "a", bytearray(b"b"), None, "too", "many")
expect('small=1 big=2 number=3 text="' + "x" * 1021 + '..." blob= flag=1', 1, 2, 3, "x" * 5000, b"", True)
thread = threading.Thread(target=expect, args=('small=2 big=0 number=0 text="thread" blob= flag=0', 2, 0, 0, "thread"))
thread.start()
thread.join()
if os.fork() == 0:
    values(3, 0, 0, "child")
    os._exit(0)
os.wait()
print('expect small=3 big=0 number=0 text="child" blob= flag=0')

for wrong in ({"a-b": int}, {"a": "int"}, {f"f{i}": int for i in range(17)}):
    try:
        tracetoolkit.event("odd", "wrong", **wrong)
        print("no error for", wrong)
    except ValueError as error:
        assert "names are letters" in str(error)
try:
    @tracetoolkit.scope("odd", "task")
    async def pauses():
        pass
    print("no error for a coroutine")
except TypeError:
    pass


@tracetoolkit.scope("odd", "raises")
def raises():
    raise KeyError("left by an exception")


try:
    raises()
except KeyError:
    pass


tasks = tracetoolkit.request("odd", "tasks")


async def task(number):
    tasks.begin(number)
    tasks.handoff(number)
    begin = time.monotonic_ns()
    await asyncio.sleep(0.005)
    waited = time.monotonic_ns() - begin
    tasks.begin(number)
    tasks.end(number)
    return waited


async def all_tasks():
    return sum(await asyncio.gather(*map(task, range(3))))


print(f"tasks 3 waited {asyncio.run(all_tasks())} ns")
