#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""column_bytes.py - the bytes per event of each column of a trace, and the entropy of its ids and times

    bench/column_bytes.py TRACE [EVERY]     EVERY: reads one chunk in so many, because it is slow

A column's bytes are those of zstd at level 1 on that column alone. The line "all columns" has what
the file stores of all of them. An entropy is the mean -log2 of the share of a value after what is
known, over the whole trace. It leaves out the tables that each block needs, so with much context
it is below what a coder can reach.
"""
import collections
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests" / "libtrace"))

import zstandard
import format_reader as reader


def packed(data):
	return len(zstandard.ZstdCompressor(level=1, write_content_size=False).compress(data)) if data else 0


class Tally:
	"""Events, and bytes of each column: raw, and packed alone."""

	def __init__(self):
		self.events = self.stored = 0
		self.raw, self.packed = collections.Counter(), collections.Counter()

	def add(self, name, data, is_coded=False):
		self.raw[name] += len(data)
		self.packed[name] += len(data) if is_coded else packed(data)

	def show(self):
		total = sum(self.packed.values())
		print(f"{'column':<40} {'raw':>9} {'packed':>9} {'B/event':>8} {'%':>6}")
		for name, size in self.packed.most_common(24):
			print(f"{name:<40} {self.raw[name]:>9} {size:>9} {size / self.events:>8.4f} {100 * size / total:>6.1f}")
		print(f"{'all columns':<40} {sum(self.raw.values()):>9} {self.stored:>9} {self.stored / self.events:>8.4f}")


class Entropy:
	"""How often each value followed each context."""

	def __init__(self):
		self.counts = collections.defaultdict(collections.Counter)

	def add(self, context, value):
		self.counts[context][value] += 1

	def bits(self):
		"""Bits per value, and the pairs of context and value that occurred."""
		total = bits = 0
		for values in self.counts.values():
			n = sum(values.values())
			total += n
			bits -= sum(k * math.log2(k / n) for k in values.values())
		return bits / max(total, 1), sum(map(len, self.counts.values()))


def symbol_of(steps):
	"""The symbol of a number of steps, and the bits after it."""
	if steps < 8:
		return steps, 0
	m = steps.bit_length() - 3
	return (steps >> m) + 4 * m, m


def take_struct(layouts, take, name):
	return layouts.read(name, take.bytes(layouts.size(name)))


def steps_of(take, head, times, types, ids):
	"""The steps of each event: read_times() of the reader, without the clock."""
	take.bytes(2 * times.nr_corrections)
	lengths = reader.Take(take.bytes(times.code_bytes))
	if times.coding == 2:
		ids = reader.read_letters(lengths, types, ids)
	codes = reader.codes_by_context(lengths, ids) if times.coding else reader.codes_by_type(lengths, types, ids)
	steps, e = [], (head.events + 3) // 4
	for s in range(4):
		size = int.from_bytes(times.bit_bytes[4 * s:4 * s + 4], "little")
		steps += reader.read_steps(take.bytes(size), codes[e * s:e * (s + 1)])
	return steps


def fields_in(type_, word):
	fields = type_.fields if type_ else []
	return ",".join(field.name for field in fields if field.bytes and field.offset // 8 == word)


def add_types(tally, take, types, names, schema):
	"""The columns of all types; returns the bytes of their texts."""
	for type_ in types:
		name, keys = names.get(type_.id, str(type_.id)), None
		type_.first_words, type_.numbers = None, range(type_.events)
		for word in range(1 if type_.flags & 4 else type_.words):
			start = take.at
			keys = reader.read_column(take, type_.payloads, keys)
			type_.first_words = type_.first_words if word else keys
			tally.add(f"{name}: {fields_in(schema.get(type_.id), word)}", take.data[start:take.at])
		start = take.at
		if type_.flags & 4:
			stacks = reader.Stacks(take, type_.payloads)
			tally.add(f"{name}: symbols of frames", stacks.symbols)
			tally.add(f"{name}: numbers of frames", take.data[start:start + 3 * type_.payloads])
		elif type_.flags & 1:
			reader.read_column(take, type_.payloads)
			tally.add(f"{name}: lengths", take.data[start:take.at])
		if type_.flags & 2:
			planes = sum(type_.payloads > least for least in (1, 256, 65536))
			start = take.at
			type_.numbers = reader.read_planes(take, type_.events, 0, range(planes))
			tally.add(f"{name}: numbers of payloads", take.data[start:take.at])


def add_entropies(entropies, steps, ids):
	"""`ids`: of the types, not indexes, so that chunks share the counts."""
	past = (0,) * 6
	for step, id_ in zip(steps, ids):
		symbol, extra = symbol_of(step)
		for order in (1, 2, 3, 4, 6):
			entropies[f"id after {order} ids"].add(past[:order], id_)
		entropies["steps by id"].add(id_, symbol)
		entropies["steps by id and the id before"].add((id_, past[0]), symbol)
		entropies["steps by id and 2 ids before"].add((id_, past[:2]), symbol)
		entropies["bits after the symbols"].add(0, extra)
		past = (id_,) + past[:5]


def main():
	every = int(sys.argv[2]) if len(sys.argv) > 2 else 1
	layouts = reader.Layouts((ROOT / "docs" / "FORMAT.md").read_text())
	data = pathlib.Path(sys.argv[1]).read_bytes()
	schema, tally, entropies, nr = {}, Tally(), collections.defaultdict(Entropy), 0
	chunks, _ = reader.walk(layouts, data, layouts.read("trace_file_header", data))
	for chunk in chunks:
		if chunk.kind == reader.SCHEMA:
			reader.read_schema(layouts, chunk.raw, schema)
	names = {id_: type_.name for id_, type_ in schema.items()}
	for chunk in chunks:
		if chunk.kind != reader.EVENTS or chunk.encoding != 3 or nr % every:
			nr += chunk.kind == reader.EVENTS
			continue
		nr += 1
		take = reader.Take(chunk.raw)
		head, times = (take_struct(layouts, take, f"trace_columns_{name}") for name in ("header", "times"))
		types = [take_struct(layouts, take, "trace_columns_type") for _ in range(head.nr_types)]
		ids = take.bytes(head.events)
		tally.events += head.events
		tally.stored += chunk.packed_bytes
		tally.add("heads", chunk.raw[:take.at - head.events])
		tally.add("ids", ids)
		add_types(tally, take, types, names, schema)
		tally.add("texts", take.bytes(head.string_bytes))
		tally.add("times", chunk.raw[take.at:], is_coded=True)
		add_entropies(entropies, steps_of(take, head, times, types, ids), [types[i].id for i in ids])
	tally.show()
	print(f"\n{'entropy':<40} {'bits':>9} {'B/event':>9} {'contexts':>9}")
	for name, entropy in entropies.items():
		bits, size = entropy.bits()
		if name.startswith("bits"):
			bits = sum(k * n for k, n in entropy.counts[0].items()) / max(sum(entropy.counts[0].values()), 1)
		print(f"{name:<40} {bits:>9.3f} {bits / 8:>9.4f} {size:>9}")


if __name__ == "__main__":
	main()
