// SPDX-License-Identifier: LGPL-2.1-or-later
// functions.js - the table of functions: where in the code the time of the span went.

import { ask, question } from "./ask.js";
import { el } from "./dom.js";
import { count, makeTable, time } from "./table.js";
import { countText, durationText, percentText } from "./time.js";
import { clean } from "./words.js";

const NONE = "The trace has no samples, so no function is known: tracedaemon --sample records some.";

/** The text of a row, as --profile writes it. */
export function functionText({ kind, name, why, late }) {
	if (kind !== "function") return `(${kind})${name ? ` ${clean(name, 200)}` : ""}`;
	if (!name) return `(no name: ${clean(why, 200)})`;
	return `${clean(name, 200)}${late ? " (+ interrupts off)" : ""}`;
}

/** "90 %", if it is not all of it */
function whereText({ where, where_ns, elapsed_ns }) {
	if (!where) return "";
	return `${clean(where, 120)}${where_ns < 0.995 * elapsed_ns ? ` ${percentText(where_ns, elapsed_ns)}` : ""}`;
}

/** The function in which most of a wait was ended */
function wokenText({ woken = [], elapsed_ns }) {
	const most = woken.reduce((best, one) => (one.ns > best.ns || (one.ns === best.ns && one.in < best.in) ? one : best), { ns: 0 });

	return most.ns ? `woken in ${whereText({ where: most.in, where_ns: most.ns, elapsed_ns })}` : "";
}

/** The file that has the function, or the functions that waited and ended the wait; and the program, if the file does not say it */
export function placeText(found) {
	const file = clean(found.file, 80) || [whereText(found), wokenText(found)].filter(Boolean).join(", "),
		program = clean(found.program, 80);

	return !file || file === program ? program : program ? `${file}, ${program}` : file;
}

function samplesText({ samples, deviation_ns }) {
	if (!samples) return "-";
	return `${countText(samples)}${deviation_ns ? ` +- ${durationText(deviation_ns)}` : ""}`;
}

function summary(profile) {
	const { threads, elapsed_ns, on_cpu_ns, wait_cpu_ns, blocked_ns, rest_ns, samples, stacks, unplaced } = profile,
		unknown = profile.not_traced_ns;

	return el(
		"p",
		{ class: "dim" },
		[
			`${countText(threads)} ${threads === 1 ? "thread" : "threads"}, elapsed ${durationText(elapsed_ns)}: `,
			`${durationText(on_cpu_ns)} on a CPU, ${durationText(wait_cpu_ns)} waiting for one, ${durationText(blocked_ns)} blocked`,
			rest_ns ? ` (of it ${durationText(rest_ns)} at rest)` : "",
			unknown ? `; in ${durationText(unknown)} of that it is not known what they did: events were lost, left out or hidden` : "",
			`. These times are exact; ${countText(samples)} ${samples === 1 ? "sample divides" : "samples divide"} those on a CPU among functions.`,
			stacks.waits ? ` ${countText(stacks.waits)} stacks of waits tell where threads were blocked.` : "",
			unplaced ? ` ${countText(unplaced)} samples are not used: events before them are missing.` : "",
			samples ? ` Stacks: ${percentText(stacks.whole, samples)} are whole.` : ""
		].join("")
	);
}

/** The functions of the span; of a process or thread, if its row is chosen. */
export async function functionsTable({ view }, span, row) {
	if (row !== undefined && view.rows.get(row)?.kind === "cpu")
		return [el("p", { class: "dim" }, "A CPU has no functions of its own: choose a process or a thread, or all.")];
	if (!view.about.samples) return [el("p", { class: "dim" }, NONE)];
	const isWhole = span.from === 0 && span.to === view.duration,
		profile = await ask(question("functions", { ...(isWhole ? {} : span), row })),
		{ rows } = profile;

	return [
		summary(profile),
		...makeTable(
			"Functions, and what threads waited for: the times add up to the elapsed time",
			[
				{ title: "Function or wait", text: functionText },
				{ title: "Where", text: placeText },
				time("Elapsed", found => found.elapsed_ns),
				time("Elapsed + calls", found => found.total.elapsed_ns),
				{ ...time("On a CPU", found => found.on_cpu_ns), first: true },
				time("CPU + calls", found => found.total.on_cpu_ns),
				time("CPU wait", found => found.wait_cpu_ns),
				time("Blocked", found => found.blocked_ns),
				time("Blocked + calls", found => found.total.blocked_ns),
				{ ...count("Samples", found => found.samples), text: samplesText }
			],
			rows,
			found => found.kind === "at rest"
		)
	];
}
