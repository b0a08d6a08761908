// SPDX-License-Identifier: LGPL-2.1-or-later
// ask.js - asks the engine a question: the server that sent the page, or the worker inside the page.
//
// The self-contained page has set globalThis.traceWorker, a Worker that answers the message
// {id, question} with {id, bytes}, before main.js is loaded. An error is {"error": "a sentence"}.

const waiting = new Map();
let nr_questions = 0;

function askServer(question) {
	return fetch(new URL("ask/" + question, document.baseURI)).then(response => response.arrayBuffer());
}

function askWorker(question) {
	const worker = globalThis.traceWorker;

	worker.onmessage ??= ({ data }) => {
		waiting.get(data.id)?.(data.bytes.buffer ? data.bytes.slice().buffer : data.bytes);
		waiting.delete(data.id);
	};
	return new Promise(resolve => {
		waiting.set(++nr_questions, resolve);
		worker.postMessage({ id: nr_questions, question });
	});
}

/** The bytes of the answer, as an ArrayBuffer. */
export async function askBytes(question) {
	try {
		return await (globalThis.traceWorker ? askWorker : askServer)(question);
	} catch {
		throw new Error(
			"The server does not answer: start tracevisualizer again, and open the address that it prints."
		);
	}
}

/** The answer as an object. Throws an error with the engine's sentence. */
export async function ask(question) {
	const text = new TextDecoder().decode(await askBytes(question));
	let answer;

	try {
		answer = JSON.parse(text);
	} catch {
		throw new Error(`The answer to "${question.split("?")[0]}" cannot be read.`);
	}
	if (answer?.error) throw new Error(answer.error);
	return answer;
}

/** "name?key=value&key=value" with encoded values; keys without a value are left out. */
export function question(name, values = {}) {
	const pairs = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);

	return (
		name + (pairs.length ? "?" + pairs.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&") : "")
	);
}

/**
 * A function that does @work with the newest arguments: one call is in flight, one waits, and a
 * call that a newer one replaced is answered with null.
 * @changed: called when the number of calls changes, with +1 or -1
 */
export function newest(work, changed = () => {}) {
	let busy = false,
		next = null;

	async function pump() {
		if (busy || !next) return;
		const { values, resolve, reject } = next;

		next = null;
		busy = true;
		try {
			resolve(await work(...values));
		} catch (error) {
			reject(error);
		}
		busy = false;
		changed(-1);
		pump();
	}
	return (...values) =>
		new Promise((resolve, reject) => {
			if (next) {
				next.resolve(null);
				changed(-1);
			}
			next = { values, resolve, reject };
			changed(1);
			pump();
		});
}
