// SPDX-License-Identifier: LGPL-2.1-or-later
// words.js - names, spans and waits as text. Names come from traced programs and may have any content.

import { ABSENT, CLASSES, CLIENT, IDLE, NO_CLIENT, REST, UNKNOWN, UNREAD, USER, WAIT_CPU } from "./classes.js";
import { durationText, numberText, partText } from "./time.js";

let labels = CLASSES.map(c => c.name);

/** Takes the labels of the classes from the answer of `about`. */
export function takeLabels(classes) {
	labels = CLASSES.map((c, i) => classes[i]?.label ?? c.name);
}

/** "woken in read_orders 75 %", "woken by a timer": @woken is the function of a waker, or its word for what is none. */
export function wokenText(woken) {
	const [, word, rest] = /^\((timer|softirq|interrupt)\)(.*)/.exec(woken) ?? [];

	return word ? `woken by ${word === "interrupt" ? "an" : "a"} ${word}${rest}` : `woken in ${woken}`;
}

let clients = [];

/** Takes the names of the clients of servers, by number. */
export function takeClients(names) {
	clients = names;
}

export function classLabel(number) {
	if (number === NO_CLIENT) return "for no known client";
	if (number >= CLIENT) {
		const name = clients[(number - CLIENT) >> 1] ?? "a client";

		return (number - CLIENT) % 2 ? `for ${name}, shared` : `for ${name}`;
	}
	return labels[number] ?? "unknown";
}

// Control characters, and those that change the direction of the text around them.
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A name that is safe to show: unprintable characters become \xNN; the middle of a long one is cut. */
export function clean(name, most = 300) {
	let text = String(name ?? "");

	if (text.length > most)
		text = text.slice(0, Math.ceil(most / 2)) + "\u2026" + text.slice(text.length - Math.floor(most / 2));
	return text.replace(UNPRINTABLE, c => "\\x" + c.charCodeAt(0).toString(16).padStart(2, "0"));
}

/** What is known of a trace, as [name, text], from the answer of `about`. */
export function traceFacts(about) {
	const joined = (...texts) => texts.filter(Boolean).join(", "),
		length = about.part ? partText(about) : about.duration_ns > 0 && durationText(about.duration_ns),
		events = numberText(about.events, "event");

	return [
		["Command", clean(about.command, 120)],
		[
			"Machine",
			joined(
				clean(about.host),
				about.kernel && `Linux ${clean(about.kernel)}`,
				about.nr_cpus > 0 && numberText(about.nr_cpus, "CPU")
			)
		],
		["Trace", joined(length, about.part ? `${events} in the whole trace` : events)]
	].filter(([, text]) => text);
}

/** "postgres 137"; the name alone if there is no pid. */
export function processText(process) {
	return clean(process.name || "(no name)") + ((process.pid ?? process.tid) ? ` ${process.pid ?? process.tid}` : "");
}

/** The object of a wait: "file /etc/passwd", "postgres 137 via unix", "timeout". */
export function objectText(wait) {
	const via = wait.via ? ` via ${clean(wait.via)}` : "";

	if (wait.kind === "process" && wait.other) return processText(wait.other) + via;
	if (wait.class === WAIT_CPU) return "a CPU";
	if (wait.kind === "timeout" || wait.kind === "process") return (clean(wait.target) || wait.kind) + via;
	return [wait.kind, clean(wait.target)].filter(Boolean).join(" ") + via;
}

/** The text in the box of a span, the shortest that tells it: "read", "read /etc/passwd", "for postgres 137". */
export function boxText(span) {
	const call = clean(span.name);

	if (span.thread) return processText(span.thread);
	if (span.class === UNKNOWN) return "unknown";
	if (span.kind && (span.class === REST || span.idle))
		return [call, "at rest:", objectText(span)].filter(Boolean).join(" ");
	if (span.kind === "file" && span.target) return [call || "file", clean(span.target)].join(" ");
	if (span.kind)
		return [call, span.kind === "timeout" && !span.target ? "timeout" : "for " + objectText(span)]
			.filter(Boolean)
			.join(" ");
	if (span.class === WAIT_CPU)
		return span.cpu === undefined || span.cpu === null ? "waits for a CPU" : `waits for CPU ${span.cpu}`;
	return call || classLabel(span.class);
}

/** The state of a span in words. */
export function stateText(span) {
	if (span.thread) return "runs";
	if (span.kind) return span.idle ? "at rest" : "waits";
	return classLabel(span.class);
}

/** Why the state of a row is not known, as far as the trace tells. */
function unknownSentence(span, rowText, length) {
	if (span.lost) return `Events were lost here: the state of ${rowText} is unknown for ${length}.`;
	if (span.hidden)
		return (
			`${rowText} switched to ${processText(span.hidden)}, which is hidden from the recorder: no event tells when it left. ` +
			`What the CPU did until its next event, ${length} later, is unknown.`
		);
	return `The trace does not tell the state of ${rowText} for ${length}.`;
}

/** A sentence about a span: that of the engine, which begins with what the row did, or one of ours. */
export function spanSentence(span, rowText) {
	const length = durationText(span.to - span.from);

	if (span.sentence) return `${rowText} ${clean(span.sentence, 800)}.`;
	if (span.class === ABSENT) return `${rowText} does not exist here.`;
	if (span.class === UNREAD) return "This part of the trace is not read yet.";
	if (span.class === UNKNOWN) return unknownSentence(span, rowText, length);
	if (span.class === IDLE) return `${rowText} is idle for ${length}.`;
	if (span.thread) return `${processText(span.thread)} runs on ${rowText} for ${length}.`;
	if (span.kind) return `${rowText} waits ${length} for ${objectText(span)}.`;
	if (span.class === USER) return `${rowText} runs its own code for ${length}.`;
	return `${rowText}: ${boxText(span)}, ${length}.`;
}
