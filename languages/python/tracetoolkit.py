# SPDX-License-Identifier: LGPL-2.1-or-later
"""tracetoolkit - events of a Python program, in the same trace as those of the kernel.

    import tracetoolkit

    paid = tracetoolkit.event("shop", "order_paid", id=int, price=float, customer=str)
    checkout = tracetoolkit.scope("shop", "checkout")

    with checkout:
        paid(7, 9.5, "alice")

The module needs libtracer.so.0 and nothing else. An event belongs to the thread that records it. It never raises: a value
of another type is converted, one that cannot be is zero or the empty text. While no recording selects an event, a call of
it reads one byte.
"""
import ctypes
import functools
import inspect
import struct
import sys

_EVENT, _BEGIN, _END, _COUNTER, _REQUEST_BEGIN, _REQUEST_END, _REQUEST_HANDOFF = range(7)
_PYTHON_TYPES = {int: "i64", float: "f64", str: "text", bytes: "bytes", bool: "bool"}
_MASK = (1 << 64) - 1

try:
    _library = ctypes.PyDLL("libtracer.so.0") # keeps the interpreter's lock, because no call waits
    _declare = _library.trace_dynamic_declare
    _record = _library.trace_dynamic_record
    _flag = _library.trace_dynamic_flag
    _rules = _library.trace_dynamic_rules
except (OSError, AttributeError) as error:
    raise ImportError(f"tracetoolkit: no libtracer.so.0 with <trace/dynamic.h>; install it, or set LD_LIBRARY_PATH ({error})") \
        from None
_declare.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint32,
                     ctypes.POINTER(ctypes.c_void_p))
_record.argtypes, _record.restype = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t), None
_flag.argtypes, _flag.restype = (ctypes.c_void_p,), ctypes.c_void_p
_rules.restype = ctypes.c_char_p


def _word(value, code):
    """The value as a word of the struct code q, Q or d; 0 if it is no number."""
    try:
        if code == "d":
            return float(value)
        number = int(value) & _MASK
        return number - (1 << 64) if code == "q" and number >> 63 else number
    except Exception: # a value's own conversion may raise anything
        return 0


def _text(value):
    try:
        if isinstance(value, (bytes, bytearray, memoryview)):
            return bytes(value)
        return b"" if value is None else str(value).encode("utf-8", "surrogateescape")
    except Exception:
        return b""


def _pack_any(codes, values):
    """Pack what the quick way does not take: values that are missing, too many, or of other types."""
    values = list(values[:len(codes)]) + [None] * (len(codes) - len(values))
    texts = [_text(value) if code == "s" else b"" for code, value in zip(codes, values)]
    words = [len(text) if code == "s" else _word(value, code) for code, value, text in zip(codes, values, texts)]
    return struct.pack("=" + codes.replace("s", "Q"), *words) + b"".join(texts)


def _code(kind):
    if kind in ("text", "bytes"):
        return "s"
    return "d" if kind[0] == "f" else "q" if kind[0] == "i" else "Q"


def _event(provider, name, role, fields, frame):
    """Declare an event, and return the function that records it: a function, because its call is the cheapest that there is."""
    kinds = [_PYTHON_TYPES.get(kind, kind) for kind in fields.values()]
    described = " ".join(f"{field}:{kind}" for field, kind in zip(fields, kinds))
    handle = ctypes.c_void_p()
    if _declare(provider.encode(), name.encode(), role, described.encode(), frame.f_code.co_filename.encode("utf-8", "replace"),
                frame.f_lineno, ctypes.byref(handle)):
        raise ValueError(f"{provider}:{name} {described}: {_rules().decode()}")
    flag = memoryview((ctypes.c_ubyte * 1).from_address(_flag(handle))).cast("B")
    codes = "".join(map(_code, kinds))
    pack = struct.Struct("=" + codes.replace("s", "Q")).pack
    text_at = [i for i, code in enumerate(codes) if code == "s"]

    def pack_texts(values):
        words, texts = list(values), []
        for i in text_at:
            text = values[i]
            texts.append(text.encode() if text.__class__ is str else bytes(memoryview(text)))
            words[i] = len(texts[-1])
        return pack(*words) + b"".join(texts)

    def record(*values):
        if flag[0]:
            try:
                data = pack_texts(values) if text_at else pack(*values)
            except Exception:
                data = _pack_any(codes, values)
            _record(handle, data, len(data))

    record.is_on = lambda: flag[0] != 0
    record.__name__ = record.__qualname__ = f"{provider}:{name}"
    return record


class Scope:
    """The time from begin to end: a context manager, a decorator, or begin(values...) and end() by hand.

    Both ends are in one thread, properly nested with other scopes of that thread. A block with an `await` or a `yield` in it
    is not: the thread runs other code meanwhile. request() is for such work.
    """

    __slots__ = ("begin", "end")

    def __init__(self, provider, name, fields, frame):
        self.begin = _event(provider, name, _BEGIN, fields, frame)
        self.end = _event(provider, name, _END, {}, frame)

    def __enter__(self):
        self.begin()
        return self

    def __exit__(self, *_):
        self.end()

    def __call__(self, function):
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"{function.__qualname__} pauses and lets its thread run other code, so it is no scope of the thread; "
                            "see tracetoolkit.request()")

        @functools.wraps(function)
        def inside(*args, **kwargs):
            self.begin()
            try:
                return function(*args, **kwargs)
            finally:
                self.end()
        return inside


class Request:
    """The requests that threads work for, each with an id of the type that request() was given.

    From begin(id) to end(id) the thread's time belongs to the request. handoff(id) ends this thread's part: the request waits
    until a thread begins it again. Around an `await`: handoff(id) before it, begin(id) after it.
    """

    __slots__ = ("begin", "end", "handoff")

    def __init__(self, provider, name, kind, frame):
        self.begin, self.end, self.handoff = (_event(provider, name, role, {"id": kind}, frame)
                                              for role in (_REQUEST_BEGIN, _REQUEST_END, _REQUEST_HANDOFF))


def event(provider, name, /, **fields):
    """Declare an event; the result is the function that records it.

    A field's type is int, float, str, bytes, bool, or a name of <trace/dynamic.h>: "u32", "f32". The result's is_on() says
    whether a recording selects the event: ask before you compute a value that takes long.
    """
    return _event(provider, name, _EVENT, fields, sys._getframe(1))


def counter(provider, name, kind=int):
    """A value over time: call it with the value."""
    return _event(provider, name, _COUNTER, {"value": kind}, sys._getframe(1))


def scope(provider, name, /, **fields):
    """Declare a scope; fields are those of its begin, for begin(values...)."""
    return Scope(provider, name, fields, sys._getframe(1))


def request(provider, name, kind=int):
    """Declare requests with ids of type `kind`: int or str."""
    return Request(provider, name, kind, sys._getframe(1))
