# SPDX-License-Identifier: LGPL-2.1-or-later
"""A reader of traces written from docs/FORMAT.md alone, without other knowledge of the format.

The layouts of the structs come from the document's tables at run time, everything else from its prose. It is written to be read
next to the document, not to be fast: it walks through the file, decodes every event, and prints one line for each.

    format_reader.py FORMAT.md TRACE [--whole]      whole: a finished file; also compare the values that the file stores twice
"""
import re
import sys
from types import SimpleNamespace

import xxhash
import zstandard

DISCARDED, OVERWRITTEN, DAMAGED, MISSED, SUSPECT, CUT, UNWRITTEN = range(7)  # why events are missing
SCHEMA, START, EVENTS, CLOCK, STRINGS, STATISTICS, INDEX, TABLE, ROOT = range(1, 10)
CHUNK_MAGIC, END_MAGIC = b"\x8achunk\r\n", b"\x8bend..\r\n"
MAX_RAW, MAX_HEADER = 16 << 20, 4096
INFOS = ("host", "kernel", "machine", "clock", "command", "boot id", "parts left out", "chosen process", "CPUs", "distrusted programs", "recorder")
ROLES = ("event", "begin", "end", "counter", "request-begin", "request-end", "request-handoff")
LOW_32, LOW_64 = (1 << 32) - 1, (1 << 64) - 1


class Layouts:
	"""The structs of the document: a table of offset, bytes, field and meaning below each heading."""

	def __init__(self, document):
		self.structs = {}
		for part in re.split(r"^### struct ", document, flags=re.M)[1:]:
			rows = re.findall(r"^\| (\d+) \| (\d+) \| (\w+) \| (.*?) ?\|$", part, flags=re.M)
			self.structs[part.split("\n")[0]] = [(field, int(at), int(size), doc.startswith("signed")) for at, size, field, doc in rows]

	def size(self, name):
		_, at, size, _ = self.structs[name][-1]
		return at + size

	def read(self, name, data, start=0):
		"""The struct at `start`: numbers, or bytes where a field is no number."""
		if start + self.size(name) > len(data):
			raise ValueError(f"{name} is cut off")
		values = {}
		for field, at, size, is_signed in self.structs[name]:
			raw = data[start + at:start + at + size]
			values[field] = int.from_bytes(raw, "little", signed=is_signed) if size <= 8 and field != "magic" else raw
		return SimpleNamespace(**values)


def xxh3(data):
	return xxhash.xxh3_64_intdigest(data, 0)


def has_checksum(header):
	return xxh3(header[:-8]) == int.from_bytes(header[-8:], "little")


class Take:
	"""Takes bytes from the front of a payload."""

	def __init__(self, data):
		self.data, self.at = data, 0

	def bytes(self, n):
		if self.at + n > len(self.data):
			raise ValueError("the payload is cut off")
		self.at += n
		return self.data[self.at - n:self.at]

	def byte(self):
		return self.bytes(1)[0]


# ---- chunks ----

def chunk_header(layouts, data, at, trace_id):
	"""The header of a valid chunk at `at`, or None."""
	if data[at:at + 8] != CHUNK_MAGIC or at + layouts.size("trace_chunk_header") > len(data):
		return None
	chunk = layouts.read("trace_chunk_header", data, at)
	if not layouts.size("trace_chunk_header") <= chunk.header_bytes <= MAX_HEADER or not has_checksum(data[at:at + chunk.header_bytes]):
		return None
	if max(chunk.raw_bytes, chunk.packed_bytes) > MAX_RAW or trace_id not in (None, chunk.trace_id):
		return None
	return chunk


def unpack(chunk):
	packed = chunk.data
	if len(packed) != chunk.packed_bytes or xxh3(packed) != chunk.payload_checksum:
		raise ValueError("checksum")
	if chunk.compression == 1:
		raw = b""
		while packed:  # one frame after the other
			frame = zstandard.ZstdDecompressor().decompressobj()
			raw += frame.decompress(packed)
			packed = frame.unused_data
	elif chunk.compression == 0:
		raw = packed
	else:
		raise ValueError(f"compression {chunk.compression}")
	if len(raw) != chunk.raw_bytes:
		raise ValueError("not of raw_bytes")
	return raw


def are_entries(layouts, data, at, trace_id):
	"""Are there two index entries at `at` and 160 bytes later, of chunks that follow each other?"""
	stride = layouts.size("trace_index_entry")
	chunk = chunk_header(layouts, data, at + 8, trace_id) if at >= 0 else None
	if not chunk or not chunk_header(layouts, data, at + stride + 8, trace_id):
		return False
	distance = int.from_bytes(data[at + stride:at + stride + 8], "little") - int.from_bytes(data[at:at + 8], "little")
	return chunk.header_bytes + chunk.packed_bytes <= distance <= 2 * MAX_RAW


def is_copy(layouts, data, at, trace_id):
	"""Is the header at `at` part of an index entry: equal to the header at the offset in the 8 bytes before, or among other entries?"""
	header_bytes, entry = layouts.size("trace_chunk_header"), at - 8
	if chunk_header(layouts, data, at, trace_id).kind == INDEX:
		return False
	offset = int.from_bytes(data[entry:at], "little")
	if offset < at and data[offset:offset + header_bytes] == data[at:at + header_bytes]:
		return True
	index = chunk_header(layouts, data, entry - header_bytes, trace_id) if entry >= header_bytes else None
	return bool(index and index.kind == INDEX) or any(are_entries(layouts, data, entry - back, trace_id) for back in (0, layouts.size("trace_index_entry")))


def next_chunk(layouts, data, at, trace_id):
	"""The begin of the next chunk with a valid header, or the end of the file."""
	while (at := data.find(CHUNK_MAGIC, at)) >= 0:
		chunk = chunk_header(layouts, data, at, trace_id)
		if chunk and not is_copy(layouts, data, at, trace_id):
			return at
		at += 1
	return len(data)


def is_end(layouts, data, at):
	"""Is there an end mark at `at`, with which the file ends or once ended?"""
	size = layouts.size("trace_end_mark")
	if at < 0 or data[at:at + 8] != END_MAGIC or at + size > len(data) or not has_checksum(data[at:at + size]):
		return False
	return layouts.read("trace_end_mark", data, at).file_bytes == at + size


def add_from_index(layouts, data, chunks):
	"""A chunk with a damaged header is read by the copy of its header in the index."""
	size, known = layouts.size("trace_index_entry"), {chunk.at for chunk in chunks}
	entries = b"".join(chunk.raw for chunk in chunks if chunk.kind == INDEX and chunk.raw)
	for entry in range(0, len(entries) - size + 1, size):
		offset, chunk = int.from_bytes(entries[entry:entry + 8], "little"), chunk_header(layouts, entries, entry + 8, None)
		if offset in known or not chunk:
			continue
		chunk.at, start = offset, offset + chunk.header_bytes
		chunk.is_cut, chunk.data = False, data[start:start + chunk.packed_bytes]
		try:
			chunk.raw = unpack(chunk)
		except ValueError:
			chunk.raw = None
		chunks.append(chunk)
	chunks.sort(key=lambda chunk: chunk.at)


def walk(layouts, data, header):
	"""All chunks with a valid header, in file order; their payloads may be damaged. Also whether there is an end mark at the end."""
	trace_id, at = None, 0
	is_complete = is_end(layouts, data, len(data) - layouts.size("trace_end_mark"))
	if header:
		trace_id, at = header.trace_id, header.header_bytes
	chunks = []
	while at < len(data):
		chunk = chunk_header(layouts, data, at, trace_id)
		if not chunk:
			is_complete |= is_end(layouts, data, at)
			at = next_chunk(layouts, data, at + 1, trace_id)
			continue
		trace_id, chunk.at = chunk.trace_id, at
		start = at + chunk.header_bytes
		chunk.is_cut = start + chunk.packed_bytes > len(data)
		chunk.data = data[start:start + chunk.packed_bytes]
		try:
			chunk.raw = unpack(chunk)
			at = start + chunk.packed_bytes
		except ValueError:
			chunk.raw = None
			at = next_chunk(layouts, data, start, trace_id)  # perhaps only a part of this one was written
		chunks.append(chunk)
	if is_end(layouts, data, len(data) - layouts.size("trace_end_mark")):
		add_from_index(layouts, data, chunks)
	return chunks, is_complete


# ---- schema ----

def text_at(texts, offset):
	return texts[offset:texts.index(b"\0", offset)].decode()


def read_schema(layouts, raw, types):
	head = layouts.read("trace_schema_header", raw)
	size = layouts.size("trace_schema_header")
	fields_at = size + head.nr_types * head.type_bytes
	texts_at = fields_at + head.nr_fields * head.field_bytes
	texts = raw[texts_at:texts_at + head.text_bytes]
	if not head.text_bytes or texts[-1] or len(texts) != head.text_bytes or texts_at + head.text_bytes != len(raw):
		raise ValueError("the schema does not come out even")
	for i in range(head.nr_types):
		type_ = layouts.read("trace_schema_type", raw, size + i * head.type_bytes)
		for text in ("name", "category", "classic", "program", "text", "doc", "source"):
			setattr(type_, text, text_at(texts, getattr(type_, text)))
		type_.fields = []
		for j in range(type_.first_field, type_.first_field + type_.nr_fields):
			field = layouts.read("trace_schema_field", raw, fields_at + j * head.field_bytes)
			field.name, field.kind = text_at(texts, field.name), text_at(texts, field.kind)
			type_.fields.append(field)
		types.setdefault(type_.id, type_)  # the first counts


def field_value(field, payload, string):
	if field.bytes == 0:
		return string
	raw = payload[field.offset:field.offset + field.bytes]
	if field.kind in ("STRING", "BYTES"):
		start, size = int.from_bytes(raw[:2], "little"), int.from_bytes(raw[2:], "little")
		return (payload + string)[start:start + size]
	if field.kind == "FLOAT":
		return f"0x{raw[::-1].hex()}"
	return int.from_bytes(raw, "little", signed=bool(field.is_signed))


# ---- columns ----

def read_planes(take, n, constant, planes):
	"""The words encoded in planes: byte p of each word is in plane p."""
	words = [0] * n
	for p in planes:
		if constant >> p & 1:
			value = take.byte() << 8 * p
			words = [word | value for word in words] if value else words
		else:
			words = [word | byte << 8 * p for word, byte in zip(words, take.bytes(n))]
	return words


def read_column(take, n, keys=None):
	coding = take.byte()
	if coding == 2 and keys is not None:
		return add_steps(read_column(take, n), keys)
	constant = take.byte()
	if coding == 0:
		return read_planes(take, n, constant, range(8))
	if coding != 1:
		raise ValueError(f"coding {coding}")
	low, last = take.byte(), take.byte()
	indexes = take.bytes(n)
	words = read_planes(take, n, constant, range(low))
	entries = [int.from_bytes(take.bytes(8), "little") << 8 * low for _ in range(last + 1)]
	return [entries[index] + word for index, word in zip(indexes, words)]


def add_steps(steps, keys):
	latest, words = [0] * 256, []
	for step, key in zip(steps, keys):
		slot = (key * 0x9e3779b97f4a7c15 & LOW_64) >> 56
		latest[slot] = latest[slot] + step & LOW_64
		words.append(latest[slot])
	return words


class Stacks:
	"""The stacks of samples in a chunk."""

	def __init__(self, take, payloads):
		self.kernel, self.dropped, self.added = (take.bytes(payloads) for _ in range(3))
		self.symbols = take.bytes(sum(self.added))
		self.addresses, self.regions, self.callees, self.latest, self.at = [], [0] * 4, {}, {}, 0
		if self.symbols and max(self.symbols) >= 65:
			raise ValueError("no such symbol")

	def read_literals(self, take):
		sizes = [(symbol - 17) % 8 + 1 for symbol in self.symbols if symbol > 16]
		new, known = [0] * len(sizes), self.symbols.count(16)
		for plane in range(8):
			for i, size in enumerate(sizes):
				if size > plane:
					new[i] |= take.byte() << 8 * plane
		low, high = take.bytes(known), take.bytes(known)
		self.new, self.known = iter(new), iter([a | b << 8 for a, b in zip(low, high)])

	def frame(self, caller):
		symbol = self.symbols[self.at]
		self.at += 1
		callees = self.callees.setdefault((caller * 0x9e3779b97f4a7c15 & LOW_64) >> 52, [])
		if symbol < 16:
			number = callees.pop(symbol)
		elif symbol == 16:
			number = len(self.addresses) - 1 - next(self.known)
			if number < 0:
				raise ValueError("no such address")
		else:
			base, folded, number = (symbol - 17) // 8, next(self.new), len(self.addresses)
			address = [self.addresses[callees[0]] if callees else 0, caller, *self.regions][base]
			address = address + (folded >> 1 ^ -(folded & 1)) & LOW_64
			same = next((i for i in range(3) if self.regions[i] >> 24 == address >> 24), 3)
			self.regions = [address] + self.regions[:same] + self.regions[same + 1:]
			self.addresses.append(address)
		callees.insert(0, number)
		del callees[16:]
		return self.addresses[number]

	def payload(self, i, first):
		"""The fixed part and the string of payload i, whose first word is known."""
		slot = ((first & LOW_32) * 0x9e3779b97f4a7c15 & LOW_64) >> 56
		before = self.latest.get(slot, [])
		stack = before[:len(before) - self.dropped[i]]
		if self.dropped[i] > len(before) or not self.kernel[i] < len(stack) + self.added[i] <= 255:
			raise ValueError("no such stack")
		for _ in range(self.added[i]):
			stack.append(self.frame(stack[-1] if stack else 0))
		self.latest[slot] = stack
		kernel, user = 8 * self.kernel[i], 8 * (len(stack) - 1 - self.kernel[i])
		first = first + (user // 8 << 56) & LOW_64
		fixed = b"".join(n.to_bytes(size, "little") for n, size in ((first, 8), (24, 2), (kernel, 2), (24 + kernel, 2), (user, 2), (stack[-1], 8)))
		return fixed, b"".join(address.to_bytes(8, "little") for address in stack[-2::-1])


def read_lengths(take):
	"""A code of coding 0: ranges of steps as (bits of the code, base, more), in ascending order."""
	first, last = take.byte(), take.byte()
	nibbles = [0]
	if first < last:
		nibbles = [half for byte in take.bytes((last - first + 2) // 2) for half in (byte & 15, byte >> 4)]
		if len(nibbles) > last - first + 1 and nibbles.pop() or max(nibbles) > 10:
			raise ValueError("no such code")
	if last >= 124:
		raise ValueError("no such symbol")
	ranges = []
	for symbol, bits in enumerate(nibbles, first):
		m = symbol // 4 - 1 if symbol >= 8 else 0
		if bits or first == last:
			ranges.append((bits, symbol - 4 * m, m))
	return ranges


def read_ranges(take):
	"""The same of coding 1."""
	first, last = take.byte(), take.byte()
	halves, ranges = [], []

	def node(base, more, splits):
		if not halves:
			byte = take.byte()
			halves.extend((byte & 15, byte >> 4))
		kind = halves.pop(0)
		if kind == 15:
			if not splits:
				raise ValueError("a range that is too narrow")
			node(2 * base, more - 1, splits - 1)
			node(2 * base + 1, more - 1, splits - 1)
		elif kind:
			ranges.append((0 if kind == 14 else kind, base, more))

	for octave in range(first, last + 1):
		node(min(octave, 1), max(octave - 1, 0), min(max(octave - 1, 0), 5))
	if last > 32 or any(halves):
		raise ValueError("no such octave")
	return ranges


def read_code(take, coding):
	"""A prefix code: {its bits, as a text: (base, more)}."""
	ranges = read_ranges(take) if coding else read_lengths(take)
	if len(ranges) == 1 and not ranges[0][0]:
		return {"": ranges[0][1:]}
	code, size, value = {}, 0, -1
	for bits, nr in sorted((bits, nr) for nr, (bits, _, _) in enumerate(ranges)):
		if not 1 <= bits <= 10:
			raise ValueError("no such length")
		value = value + 1 << bits - size
		size = bits
		code[f"{value:0{bits}b}"] = ranges[nr][1:]
	if value + 1 != 1 << size:
		raise ValueError("some bits are no code")
	return code


def read_contexts(take):
	"""The classes of types, and the contexts of the codes: (type, classes of the types before it)."""
	nr_classes, nr_codes = take.byte(), take.byte()
	classes = {type_: i + 1 for i, type_ in enumerate(take.bytes(nr_classes))}
	if nr_classes > 15 or len(classes) < nr_classes or nr_codes > 64:
		raise ValueError("no such classes")
	contexts = []
	for _ in range(nr_codes):
		type_, past = take.byte(), int.from_bytes(take.bytes(2), "little")
		depth = past & 15
		if depth > 3 or past >> 4 & (1 << 4 * (3 - depth)) - 1:
			raise ValueError("no such context")
		contexts.append((type_, [past >> 4 * (3 - i) & 15 for i in range(depth)]))
	return classes, contexts


def codes_by_context(take, ids):
	"""The code of each event."""
	classes, contexts = read_contexts(take)
	codes = [read_code(take, 1) for _ in contexts]
	found, past, result = {}, [0, 0, 0], []
	for id_ in ids:
		key = (id_, *past)
		if key not in found:
			found[key] = max(i for i, (type_, before) in enumerate(contexts)
				if type_ in (id_, 255) and before == past[:len(before)])
		result.append(codes[found[key]])
		past = [classes.get(id_, 0)] + past[:2]
	return result


def read_letters(take, types, ids):
	"""The letter of each event, for coding 2."""
	letters = {}
	for letter in range(len(types), len(types) + take.byte()):
		i, payload = take.byte(), int.from_bytes(take.bytes(3), "little")
		if letter > 254 or types[i].flags & 1 or not types[i].words or (i, types[i].first_words[payload]) in letters:
			raise ValueError("no such letter")
		letters[i, types[i].first_words[payload]] = letter
	numbers = [iter(type_.numbers) for type_ in types]
	result = []
	for i in ids:
		number = next(numbers[i])
		result.append(letters.get((i, types[i].first_words[number]), i) if types[i].words else i)
	return result


def codes_by_type(take, types, ids):
	"""The same of coding 0."""
	own = [i for i, type_ in enumerate(types) if type_.events >= 128][:31]
	code_of = {i: read_code(take, 0) for i in own}
	if len(own) < len(types):
		others = read_code(take, 0)
		code_of.update((i, others) for i in range(len(types)) if i not in code_of)
	return [code_of[i] for i in ids]


def read_steps(stream, codes):
	"""The steps of one stream. `codes` has the code of each of its events."""
	bits = "".join(f"{byte:08b}"[::-1] for byte in stream)
	at = 0
	for code in codes:
		end = at
		while bits[at:end] not in code:
			end += 1
			if end - at > 10:
				raise ValueError("no such code")
		base, more = code[bits[at:end]]
		at = end + more
		yield (base << more) + (int(bits[end:at][::-1], 2) if more else 0)
	if len(bits) - at > 7 or "1" in bits[at:]:
		raise ValueError("a stream has bits left over")


def read_times(take, head, times, types, ids):
	skips, amounts = take.bytes(times.nr_corrections), take.bytes(times.nr_corrections)
	lengths = Take(take.bytes(times.code_bytes))
	if times.coding > 2:
		raise ValueError("no such coding of times")
	if times.coding == 2:
		ids = read_letters(lengths, types, ids)
	codes = codes_by_context(lengths, ids) if times.coding else codes_by_type(lengths, types, ids)
	e = (head.events + 3) // 4
	steps = []
	for s in range(4):
		size = int.from_bytes(times.bit_bytes[4 * s:4 * s + 4], "little")
		steps += read_steps(take.bytes(size), codes[e * s:e * (s + 1)])
	if any(take.bytes(8)) or lengths.at != len(lengths.data):
		raise ValueError("times do not end in 0")

	corrected, i = {}, -1
	for skip, amount in zip(skips, amounts):
		i += skip
		if skip != 255:
			i += 1
			corrected[i] = amount - 256 if amount > 127 else amount
	P, K, odd, result = 1 << 31, 0, times.odd << 16, []
	for i, steps_here in enumerate(steps):
		K += steps_here
		clock = P + K * times.step + (odd if K & 1 else 0) & LOW_64
		now = clock >> 32
		if i in corrected:
			now += corrected[i]
			P += (now << 32) + (LOW_32 if corrected[i] < 0 else 0) - clock
		result.append(head.first_ns + now)
	return result


def read_events(layouts, chunk, schema):
	"""The events of a chunk: (time, CPU, stream, type, payload, string)."""
	take = Take(chunk.raw)
	head = layouts.read("trace_columns_header", take.bytes(layouts.size("trace_columns_header")))
	times = layouts.read("trace_columns_times", take.bytes(layouts.size("trace_columns_times")))
	size = layouts.size("trace_columns_type")
	types = [layouts.read("trace_columns_type", take.bytes(size)) for _ in range(head.nr_types)]
	ids = take.bytes(head.events)
	for type_ in types:
		words, type_.stacks = [], None
		for _ in range(1 if type_.flags & 4 else type_.words):
			words.append(read_column(take, type_.payloads, words[-1] if words else None))
		type_.first_words = words[0] if words else None
		type_.fixed = [b"".join(word.to_bytes(8, "little") for word in payload) for payload in zip(*words)] if words else [b""] * type_.payloads
		type_.stacks = Stacks(take, type_.payloads) if type_.flags & 4 else None
		type_.lengths = read_column(take, type_.payloads) if type_.flags & 5 == 1 else None
		type_.numbers = range(type_.events)
		if type_.flags & 2:
			planes = sum(type_.payloads > limit for limit in (1, 256, 65536))
			type_.numbers = read_planes(take, type_.events, 0, range(planes))
	texts_at, stack_bytes = take.at, 0
	for type_ in types:
		type_.strings = [take.bytes(n) for n in type_.lengths] if type_.lengths else [b""] * type_.payloads
		if type_.stacks:
			type_.stacks.read_literals(take)
			stacks = [type_.stacks.payload(i, int.from_bytes(first, "little")) for i, first in enumerate(type_.fixed)]
			type_.fixed, type_.strings = zip(*stacks)
			stack_bytes += sum(map(len, type_.strings))
		type_.next = zip(type_.numbers)
	texts_end = take.at
	counts = [0] * len(types)
	for i in ids:
		counts[i] += 1
	if head.events != chunk.events or head.first_ns != chunk.first_ns or head.stack_bytes != stack_bytes or not 1 <= len(types) <= 255:
		raise ValueError("the columns are of another chunk")
	if texts_end - texts_at != head.string_bytes or counts != [type_.events for type_ in types]:
		raise ValueError("the types do not come out even")
	for type_ in types:
		known, repeats = schema[type_.id], type_.payloads < type_.events
		if type_.words * 8 != known.fixed_bytes or type_.flags & 3 != known.has_string + 2 * repeats or type_.flags & 4 and type_.words != 3 or type_.payloads > type_.events:
			raise ValueError("a type is not that of the schema")
	if int.from_bytes(chunk.ids, "little") != sum(1 << i for i in {min(type_.id, 255) for type_ in types}):
		raise ValueError("the header lists other events")
	stamps = read_times(take, head, times, types, ids)
	if take.at != len(chunk.raw) or stamps[0] != chunk.first_ns or stamps[-1] != chunk.last_ns or stamps != sorted(stamps):
		raise ValueError("the columns do not come out even")
	for stamp, i in zip(stamps, ids):
		type_ = types[i]
		number, = next(type_.next)
		yield stamp, chunk.cpu, chunk.stream, schema[type_.id], type_.fixed[number], type_.strings[number]


# ---- missing events ----

class Stream:
	"""A stream, from its chunks so far."""

	def __init__(self, chunk, start_ns):
		self.stream, self.cpu = chunk.stream, chunk.cpu
		self.number = self.lost_before = self.lost_write = self.undecodable = self.inside = 0
		self.last_ns = self.inside_ns = self.missed_ns = start_ns


class LossLedger:
	"""The gaps: (end, cpu, stream, begin, events, cause), found as the document describes."""

	def __init__(self, trace):
		self.trace, self.gaps, self.streams = trace, [], {}

	def add(self, stream, start, end, lost, cause):
		self.gaps.append((max(start, end), stream.cpu, stream.stream, start, lost, cause))

	def follow(self, chunk):
		"""Accounts for the next chunk of a stream by events_before. False: it is a copy."""
		stream = self.streams.setdefault((chunk.kind, chunk.stream), Stream(chunk, self.trace.start_ns))
		if chunk.events_before < stream.number:
			return False
		start = min(stream.last_ns, chunk.first_ns)
		if stream.inside:
			self.add(stream, stream.inside_ns, chunk.first_ns, stream.inside, SUSPECT)
		missing = chunk.events_before - stream.number - chunk.lost_before
		unwritten = min(chunk.lost_write, missing)
		for lost, cause in ((chunk.lost_before, chunk.lost_cause), (unwritten, UNWRITTEN), (missing - unwritten, DAMAGED)):
			if lost:
				self.add(stream, start, chunk.first_ns, lost, cause)
		if chunk.flags & 1:
			self.add(stream, start, chunk.first_ns, 0, SUSPECT)
		if chunk.raw is None:
			self.add(stream, chunk.first_ns, chunk.last_ns, chunk.events, CUT if chunk.is_cut else DAMAGED)
		if chunk.missed:
			self.add(stream, min(stream.missed_ns, chunk.last_ns), chunk.last_ns, chunk.missed, MISSED)
			stream.missed_ns = chunk.last_ns
		stream.cpu = chunk.cpu
		stream.number = chunk.events_before + chunk.events + chunk.undecodable
		stream.last_ns, stream.inside_ns, stream.inside = chunk.last_ns, start if chunk.flags & 2 else chunk.first_ns, chunk.undecodable
		stream.lost_before += chunk.lost_before
		stream.lost_write += chunk.lost_write
		stream.undecodable += chunk.undecodable
		return True

	def behind(self, account, end_ns):
		"""Losses of a stream, of both kinds, that are in the statistics but not in its chunks."""
		parts = [self.streams[kind, account.stream] for kind in (START, EVENTS) if (kind, account.stream) in self.streams]
		start = max([self.trace.start_ns] + [part.last_ns for part in parts])
		seen_before, seen_write, seen_inside = (sum(getattr(part, name) for part in parts) for name in ("lost_before", "lost_write", "undecodable"))
		discarded, unwritten = account.discarded + account.overwritten - seen_before, max(account.lost_write - seen_write, 0)
		inside = max(account.undecodable - seen_inside, 0)
		gone = account.stored + account.lost_before - sum(part.number for part in parts)
		gone -= max(account.lost_before - seen_before, 0) + unwritten + inside
		for lost, cause in ((discarded, DISCARDED if account.discarded else OVERWRITTEN), (unwritten, UNWRITTEN), (inside, SUSPECT), (gone, DAMAGED)):
			if lost > 0:
				self.add(account, start, end_ns, lost, cause)

	def close(self, accounts, end_ns, has_end):
		for stream in self.streams.values():
			if stream.inside:
				self.add(stream, stream.inside_ns, end_ns, stream.inside, SUSPECT)
			if not has_end:
				self.add(stream, stream.last_ns, end_ns, 0, CUT)
		for account in accounts:
			self.behind(account, end_ns)


# ---- the trace ----

def line(event):
	stamp, cpu, stream, type_, payload, string = event
	words = [str(stamp), str(cpu), str(stream), type_.name]
	for field in type_.fields:
		value = field_value(field, payload, string)
		if isinstance(value, bytes):
			value = "".join(chr(c) if 33 <= c <= 126 and c != 92 else f"\\{c:02x}" for c in value)
		words.append(f"{field.name}={value}")
	return " ".join(words)


def read_statistics(layouts, raw):
	head = layouts.read("trace_statistics_header", raw)
	size = layouts.size("trace_statistics_header")
	starts = [size + i * head.stream_bytes for i in range(head.nr_streams)]
	room = b"\0" * layouts.size("trace_statistics_stream")  # entries of older versions have fewer fields
	return [layouts.read("trace_statistics_stream", raw[at:at + head.stream_bytes] + room) for at in starts], head.end_ns


def read_strings(layouts, raw, strings):
	at = 0
	while at < len(raw):
		entry = layouts.read("trace_string_entry", raw, at)
		at += layouts.size("trace_string_entry") + entry.text_bytes
		strings[entry.space, entry.key] = raw[at - entry.text_bytes:at]


def read_clocks(layouts, raw):
	size = layouts.size("trace_clock_entry")
	if not raw or len(raw) % size:
		raise ValueError("clocks do not come out even")
	return [layouts.read("trace_clock_entry", raw, at) for at in range(0, len(raw), size)]


def type_line(type_):
	def escaped(text):
		return "".join(chr(c) if 33 <= c <= 126 and c != 92 else f"\\{c:02x}" for c in text.encode())

	flags = "".join(f" {name}" for bit, name in ((1, "on"), (2, "structural"), (4, "tid")) if type_.flags & bit)
	numbers = f"{type_.id} {type_.fixed_bytes} {type_.has_string}{flags} {ROLES[type_.role]}"
	texts = [f"{name}={escaped(getattr(type_, name))}" for name in ("name", "category", "classic", "program", "text", "doc", "source")]
	fields = [f"{field.name}:{field.kind}:{field.offset}:{field.bytes}:{field.is_signed}" for field in type_.fields]
	return " ".join(["type", numbers] + texts + fields)


# ---- the rest of a complete file ----

def expect(claim, message):
	if not claim:
		raise SystemExit(message)


def check_index(layouts, data, chunks):
	"""End mark, index, table and its root: everything in them must match the chunks."""
	mark_at, entry_bytes = len(data) - layouts.size("trace_end_mark"), layouts.size("trace_index_entry")
	mark = layouts.read("trace_end_mark", data, mark_at)
	index, table, root = ([chunk for chunk in chunks if chunk.kind == kind] for kind in (INDEX, TABLE, ROOT))
	others = [chunk for chunk in chunks if chunk.kind != INDEX]
	plain = [chunk for chunk in others if chunk.kind not in (TABLE, ROOT)]
	expect(mark.trace_id == chunks[0].trace_id and mark.file_bytes == len(data), "the end mark is of another file")
	expect(mark.nr_index_chunks == len(index) and mark.index_offset == index[0].at and chunks[-1].at + chunks[-1].header_bytes + chunks[-1].packed_bytes == mark_at,
	       "the index is not where the end mark says")
	expect(all((chunk.encoding, chunk.compression) == (0, 0) for chunk in index + table + root), "index or table are compressed")
	expect(all(len(chunk.raw) == 1024 * entry_bytes for chunk in index[:-1]), "an index chunk is short")
	entries = b"".join(chunk.raw for chunk in index)
	copies = [chunk.at.to_bytes(8, "little") + data[chunk.at:chunk.at + layouts.size("trace_chunk_header")] for chunk in others]
	expect(entries == b"".join(copies), "the index lists other chunks")
	check_table(layouts, index, table, root[0], plain)


def check_table(layouts, index, table, root_chunk, plain):
	root, entry_bytes = layouts.read("trace_table_root", root_chunk.raw), layouts.size("trace_table_entry")
	expect(root_chunk.at + 184 == index[0].at and len(root_chunk.raw) == layouts.size("trace_table_root"), "the root is not before the index")
	expect((root.offset, root.nr_entries, root.nr_chunks) == (table[0].at, len(plain), len(table)), "the root is of another table")
	expect((root.entry_bytes, root.header_bytes, root.index_entries) == (64, 152, 1024) and entry_bytes == 64, "the root has other sizes")
	expect(all(len(chunk.raw) == 2048 * entry_bytes for chunk in table[:-1]), "a table chunk is short")
	entries = b"".join(chunk.raw for chunk in table)
	expect(len(entries) == len(plain) * entry_bytes, "the table has other entries")
	for i, chunk in enumerate(plain):
		entry = layouts.read("trace_table_entry", entries, i * entry_bytes)
		loses = bool(chunk.lost_before or chunk.lost_write or chunk.missed or chunk.undecodable or chunk.flags & 1)
		expect(entry.offset == chunk.at and entry.flags == loses, "an entry of the table is wrong")
		for name in ("seq", "first_ns", "last_ns", "events_before", "events", "stream", "cpu", "raw_bytes", "packed_bytes", "kind", "encoding"):
			expect(getattr(entry, name) == getattr(chunk, name), f"an entry of the table has another {name}")


def check_chunks(layouts, header, chunks):
	"""Compares each header with its chunk where the file stores a value twice."""
	schema = next(chunk for chunk in chunks if chunk.kind == SCHEMA)
	expect(header.schema_checksum == xxh3(schema.raw), "the file's header is of another schema")
	expect(header.header_bytes == 64 and (header.reserved, header.reserved2) == (0, 0), "the file's header has something else")
	for chunk in chunks:
		expect(chunk.header_bytes == 152 and chunk.reserved == 0, "a chunk's header has something else")
		expect(chunk.encoding == (3 if chunk.kind in (START, EVENTS) else 0), "a chunk has another encoding")
		expect(chunk.trace_id == header.trace_id, "a chunk is of another trace")


def check_accounts(accounts, streams):
	for of in accounts:
		own = [chunk for chunk in streams if chunk.stream == of.stream]
		expect(of.attempted == of.stored + of.discarded + of.overwritten + of.missed + of.filtered, "an account does not add up")
		expect(of.stored == of.written + of.lost_write + of.undecodable, "what was stored is not written")
		expect(of.written == sum(chunk.events for chunk in own) and of.lost_before == sum(chunk.lost_before for chunk in own), "an account is of other chunks")
		expect(of.last_ns == max((chunk.last_ns for chunk in own), default=0), "an account ends at another time")


class Trace:
	def __init__(self, layouts, data):
		header = layouts.read("trace_file_header", data)
		header = header if has_checksum(data[:header.header_bytes]) else None
		if header and header.version_major != 2:
			raise SystemExit("another major version")
		self.layouts, self.schema, self.strings, self.accounts, self.clocks, self.end_ns = layouts, {}, {}, [], [], 0
		self.chunks, self.is_complete = walk(layouts, data, header)
		self.header, self.data = header, data
		self.streams = [chunk for chunk in self.chunks if chunk.kind in (START, EVENTS)]
		self.start_ns = header.start_ns if header else min(chunk.first_ns for chunk in self.streams if chunk.kind == EVENTS)
		for chunk in self.chunks:
			if chunk.raw is None:
				continue
			if chunk.kind == SCHEMA:
				read_schema(layouts, chunk.raw, self.schema)
			elif chunk.kind == STRINGS:
				read_strings(layouts, chunk.raw, self.strings)
			elif chunk.kind == STATISTICS:
				self.accounts, self.end_ns = read_statistics(layouts, chunk.raw)
			elif chunk.kind == CLOCK:
				self.clocks += read_clocks(layouts, chunk.raw)
		self.end_ns = max([self.end_ns, self.start_ns] + [chunk.last_ns for chunk in self.streams if chunk.kind == EVENTS])
		self.has_end = self.is_complete or any(chunk.kind == INDEX and chunk.raw is not None for chunk in self.chunks)

	def check(self):
		"""In a finished, unchanged file all values that are stored twice must be equal."""
		check_chunks(self.layouts, self.header, self.chunks)
		check_index(self.layouts, self.data, self.chunks)
		check_accounts(self.accounts, self.streams)

	def print_statistics(self):
		for _, type_ in sorted(self.schema.items()):
			print(type_line(type_))
		for key, name in enumerate(INFOS):
			if (6, key) in self.strings:
				print("info", name, self.strings[6, key].decode())
		print("trace", 2, self.start_ns, self.end_ns, self.header.start_realtime_ns if self.header else 0)
		for clock in self.clocks:
			print("clock", clock.monotonic_ns, clock.realtime_ns, clock.tsc)
		for of in self.accounts if self.is_complete else []:
			print("account", of.stream, of.cpu, of.stored, of.discarded, of.overwritten, of.missed, of.filtered, of.attempted)
		for of in self.chunks:
			if of.kind not in (INDEX, TABLE, ROOT):
				print("chunk", of.at, of.kind, of.encoding, of.stream, of.cpu, of.seq, of.first_ns, of.last_ns, of.events, of.lost_before, of.raw_bytes,
				      of.packed_bytes)

	def gaps(self):
		"""All gaps by their ends. Keeps the chunks that are not copies of others."""
		ledger = LossLedger(self)
		self.streams.sort(key=lambda chunk: chunk.events_before)
		self.streams = [chunk for chunk in self.streams if ledger.follow(chunk)]
		ledger.close(self.accounts, self.end_ns, self.has_end)
		return sorted(ledger.gaps)

	def events(self, kind):
		"""All events of a kind of chunk, ordered by time, CPU, stream and position: (time, CPU, stream, type, payload, string)."""
		chunks = [chunk for chunk in self.streams if chunk.kind == kind and chunk.raw is not None]
		events = [event for chunk in chunks for event in read_events(self.layouts, chunk, self.schema)]
		events.sort(key=lambda event: event[:3])
		return events


def main():
	layouts = Layouts(open(sys.argv[1], encoding="utf-8").read())
	trace = Trace(layouts, open(sys.argv[2], "rb").read())
	for end, cpu, stream, start, lost, cause in trace.gaps():
		print(f"lost {end} {cpu} {stream} {start} {lost} {cause}")
	for kind in (START, EVENTS):
		for event in trace.events(kind):
			print(line(event))
	for (space, key), text in sorted(trace.strings.items()):
		if key < 1024:
			print(f"string {space} {key} {text.decode()}")
	trace.print_statistics()
	if "--whole" in sys.argv:
		trace.check()


if __name__ == "__main__":
	main()
