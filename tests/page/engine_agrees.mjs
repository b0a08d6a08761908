// SPDX-License-Identifier: LGPL-2.1-or-later
// engine_agrees.mjs PAGE ANSWERS... - the worker of a self-contained page gives the answers that the program gives.
//
// PAGE is a file of --html. The questions are on stdin, one in each line; ANSWERS is the file that engine_asks has
// written for them. The worker runs here as in a browser, but its messages are function calls.

import { readFileSync } from "node:fs";
import { runInThisContext } from "node:vm";

const page = readFileSync(process.argv[2], "utf8"),
	wanted = readFileSync(process.argv[3]),
	questions = readFileSync(0, "utf8").split("\n").filter(Boolean);

function textOf(id) {
	const name = page.indexOf(`id="${id}"`),
		begin = page.indexOf(">", name) + 1,
		isOfPieces = page.slice(name, begin).endsWith(" hidden>");

	return isOfPieces
		? page.slice(begin, page.indexOf("</div>", begin)).replaceAll(/<[^>]*>/g, "")
		: page.slice(begin, page.indexOf("</script>", begin));
}

const answers = new Map();
let told = () => {};

globalThis.postMessage = ({ id, bytes }) => {
	answers.set(id, Buffer.from(bytes));
	told();
};
globalThis.onmessage = null;
runInThisContext(textOf("worker.js"), { filename: "worker.js" });
globalThis.onmessage({
	data: { engine: textOf("engine"), trace: textOf("trace-data"), name: JSON.parse(textOf("trace-name")), window: JSON.parse(textOf("trace-window")) }
});

function ask(id, question) {
	return new Promise(resolve => {
		told = () => answers.has(id) && resolve(answers.get(id));
		globalThis.onmessage({ data: { id, question } });
		told();
	});
}

// The worker answers while it reads; the program has read all.
let id = 0;
for (;;) {
	const progress = JSON.parse((await ask(--id, "progress")).toString());

	if (progress.error) throw new Error(progress.error);
	if (!progress.billing) break;
	await new Promise(resolve => setImmediate(resolve));
}

let at = 0,
	nr_differ = 0;
for (const [i, question] of questions.entries()) {
	const line = wanted.indexOf(10, at),
		size = Number(wanted.toString("latin1", at, line)),
		answer = wanted.subarray(line + 1, line + 1 + size),
		got = await ask(i + 1, question);

	at = line + 1 + size;
	if (Buffer.compare(answer, got) === 0) continue;
	nr_differ++;
	let first = 0;
	while (first < size && answer[first] === got[first]) first++;
	console.log(`${question}: differs at byte ${first} of ${size} and ${got.length}`);
	console.log("  program: " + answer.toString("utf8", Math.max(0, first - 60), first + 60));
	console.log("  page:    " + got.toString("utf8", Math.max(0, first - 60), first + 60));
}
if (at !== wanted.length || !questions.length) throw new Error("there are not as many answers as questions");
console.log(`${questions.length} questions, ${nr_differ} answers differ`);
process.exit(nr_differ ? 1 : 0);
