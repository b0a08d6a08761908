// SPDX-License-Identifier: LGPL-2.1-or-later
// worker.js - the worker of the self-contained page: unpacks the engine and the trace, makes the pass in steps, and
// answers the page's questions meanwhile.
//
// The first message is {engine, trace, name, window}: two files as base64 of gzip, and {from_ns, to_ns} as texts, in the
// clock of the trace; "0" is not given. The others are {id, question}; each is answered with {id, bytes}. An error is an answer, too: {"error": "one sentence"}.

"use strict";

const STEPS = 500, // of the pass; a question waits for one at most
	FIRST_MS = 300, // a short trace is complete before the first answer
	STEP_MS = 20; // several short steps are made at once

let engine = null, // its exports
	failure = "", // why there are no answers
	messages = ""; // that the engine has written
const questions = []; // that wait

function bytesOfBase64(text) {
	if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
	const raw = atob(text),
		bytes = new Uint8Array(raw.length);

	for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
	return bytes;
}

// The parts of a gzip file, as they are unpacked. A Blob would be copied to the browser's process and back.
function partsOf(packed) {
	const stream = new ReadableStream({
		start(control) {
			control.enqueue(packed);
			control.close();
		}
	});

	return stream.pipeThrough(new DecompressionStream("gzip")).getReader();
}

// Unpacks into @bytes(), which is asked for each part, since memory of the engine moves when it grows.
async function unpackInto(packed, bytes) {
	const reader = partsOf(packed);

	for (let at = 0, part; !(part = await reader.read()).done; at += part.value.length) bytes().set(part.value, at);
}

// The size of an unpacked gzip file is in its last four bytes.
function unpackedSize(packed) {
	return new DataView(packed.buffer, packed.byteOffset + packed.length - 4).getUint32(0, true);
}

async function unpack(text) {
	const packed = bytesOfBase64(text),
		bytes = new Uint8Array(unpackedSize(packed));

	await unpackInto(packed, () => bytes);
	return bytes;
}

// The functions of the system that the C library asks for. Each returns an error number of WASI.
const BAD_DESCRIPTOR = 8,
	NOT_SUPPORTED = 52;
const system = {
	fd_write(fd, parts, nr, ret_written) {
		const view = new DataView(engine.memory.buffer);
		let written = 0;

		for (let i = 0; i < nr; i++) {
			const at = view.getUint32(parts + 8 * i, true),
				length = view.getUint32(parts + 8 * i + 4, true);

			messages += new TextDecoder().decode(new Uint8Array(engine.memory.buffer, at, length));
			written += length;
		}
		view.setUint32(ret_written, written, true);
		return 0;
	},
	environ_sizes_get(ret_nr, ret_bytes) {
		const view = new DataView(engine.memory.buffer);

		view.setUint32(ret_nr, 0, true);
		view.setUint32(ret_bytes, 0, true);
		return 0;
	},
	environ_get: () => 0,
	fd_close: () => BAD_DESCRIPTOR,
	fd_seek: () => BAD_DESCRIPTOR,
	proc_exit(status) {
		throw new Error(messages.trim() || `the engine ended with status ${status}`);
	},
};

function importsOf(module) {
	const imports = {};

	for (const { module: from, name } of WebAssembly.Module.imports(module))
		(imports[from] ??= {})[name] = system[name] ?? (() => NOT_SUPPORTED);
	return imports;
}

// Memory of the engine; the caller gives it back.
function take(size) {
	const at = engine.engine_take(size || 1);

	if (!at) throw new Error("there is not enough memory for this trace");
	return at;
}

function putText(text) {
	const bytes = new TextEncoder().encode(text + "\0"),
		at = take(bytes.length);

	new Uint8Array(engine.memory.buffer).set(bytes, at);
	return at;
}

async function open({ engine: packedEngine, trace, name, window }) {
	const module = await WebAssembly.compile(await unpack(packedEngine)),
		packed = bytesOfBase64(trace),
		size = unpackedSize(packed);

	engine = (await WebAssembly.instantiate(module, importsOf(module))).exports;
	engine._initialize?.();

	const at = take(size);

	await unpackInto(packed, () => new Uint8Array(engine.memory.buffer, at, size));
	if (engine.engine_open(at, size, putText(name), BigInt(window.from_ns), BigInt(window.to_ns)))
		throw new Error(messages.trim().replace(/^tracevisualizer: /, ""));
}

function fail(error) {
	failure = `The page cannot show this trace: ${error.message}.`;
	engine = null;
}

function answer({ id, question }) {
	let bytes = null;

	if (!failure) {
		try {
			const at = putText(question),
				size = engine.engine_ask(at);

			engine.engine_give(at);
			bytes = new Uint8Array(engine.memory.buffer).slice(engine.engine_answer(), engine.engine_answer() + size).buffer;
		} catch (error) {
			fail(error);
		}
	}
	bytes ??= new TextEncoder().encode(JSON.stringify({ error: failure })).buffer;
	postMessage({ id, bytes }, [bytes]);
}

// Lets messages come in; a timer would be delayed.
function pause() {
	return new Promise(resolve => {
		const { port1, port2 } = new MessageChannel();

		port1.onmessage = () => {
			port1.close();
			resolve();
		};
		port2.postMessage(null);
	});
}

let nr_steps = 0,
	isComplete = false;

// Makes steps of the pass for @ms.
function read(ms) {
	const begin = performance.now();

	while (!isComplete && performance.now() - begin < ms) {
		const result = engine.engine_step(++nr_steps, STEPS);

		if (result < 0) throw new Error(messages.trim().replace(/^tracevisualizer: /, ""));
		isComplete = result > 0;
	}
}

async function begin(message) {
	try {
		await open(message);
		read(FIRST_MS);
	} catch (error) {
		fail(error);
	}
	onmessage = ({ data }) => answer(data);
	questions.splice(0).forEach(answer);
	try {
		for (; !isComplete && !failure; await pause()) read(STEP_MS);
	} catch (error) {
		fail(error);
	}
}

onmessage = ({ data }) => {
	onmessage = ({ data: question }) => questions.push(question);
	begin(data);
};
