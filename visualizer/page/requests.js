// SPDX-License-Identifier: LGPL-2.1-or-later
// requests.js - the requests of servers: asks for those that are visible, says what they are, and walks into them.

import { ask, newest, question } from "./ask.js";
import { CLIENT, WAIT_CPU, clientLetter } from "./classes.js";
import { announce, el, linkButton, nameElement } from "./dom.js";
import { swatch } from "./swatch.js";
import { makeTable, time } from "./table.js";
import { durationText, pointText } from "./time.js";
import { visibleRows, visibleSpan } from "./view.js";
import { longestSpan, selectSpan } from "./walk.js";
import { clean, processText } from "./words.js";

const MOST_REQUESTS = 3000,
	MOST_LISTED = 200;
const ENDS = {
	open: "open when the trace ends",
	answered: "answered",
	closed: "the connection was closed",
	replaced: "the program was replaced",
	unknown: "its end is not known"
};
const known = new Map(); // by row: {key, requests, least}
let asking = null;

export function clientOf({ process, address }) {
	return process ? processText(process) : clean(address) || "another host";
}

/** The known requests of a lane. */
export function requestsOf({ row, lane }) {
	return (known.get(row)?.requests ?? []).filter(request => request.lane === lane);
}

function costText({ cpu_ns, least_ns, most_ns }) {
	return least_ns === most_ns
		? `${durationText(cpu_ns)} of CPU, exact`
		: `${durationText(cpu_ns)} of CPU, at least ${durationText(least_ns)}, at most ${durationText(most_ns)}`;
}

/** The text in the box of a request. */
export function requestText(request) {
	return `${clientLetter(request.client)} ${clientOf(request)}, ${durationText(request.to - request.from)}`;
}

/** What the box at the pointer says of a lane at @t. */
export function requestLines(view, lane, t) {
	const request = requestsOf(lane).find(found => found.from <= t && found.to > t),
		least = known.get(lane.row)?.least ?? 0;

	if (!request)
		return least ? [el("p", { class: "dim" }, `Requests of at least ${durationText(least)} are shown.`)] : [];
	const { thread, answerer } = request;

	return [
		el("p", { class: "dim" }, pointText(t, (view.to - view.from) / view.width)),
		el(
			"p",
			{},
			swatch(CLIENT + 2 * request.client),
			" ",
			el("strong", {}, nameElement(`${clientLetter(request.client)} ${clientOf(request)}`))
		),
		el("p", {}, `request, ${durationText(request.to - request.from)}, ${ENDS[request.end]}`),
		el("p", {}, costText(request)),
		thread && el("p", {}, "Read by ", nameElement(processText({ name: thread.name, pid: thread.tid }))),
		answerer && answerer.tid !== thread?.tid
			? el("p", {}, "Answered by ", nameElement(processText({ name: answerer.name, pid: answerer.tid })))
			: null
	].filter(Boolean);
}

/**
 * Measures a request, and selects the longest wait of its threads meanwhile: Enter follows it to its cause. Without a wait
 * it selects what the first of them did.
 */
export function walkRequest(walk, request) {
	return walkIn(walk, request).catch(error => walk.fail(error.message));
}

async function walkIn(walk, request) {
	const { view } = walk,
		rows = new Set([request.thread?.row, request.answerer?.row].filter(Number.isInteger)),
		inside = wait => Math.min(wait.to, request.to) - Math.max(wait.from, request.from);
	let best = null;

	view.range = { from: request.from, to: Math.max(request.to, request.from + 1) };
	view.emit("range", "paint");
	for (const row of rows) {
		const wait = await longestSpan(
			walk,
			row,
			request.from,
			view.range.to,
			span => (span.kind && !span.idle) || span.class === WAIT_CPU
		);

		if (wait && (!best || inside(wait) > inside(best.wait))) best = { row, wait };
	}
	if (best) {
		await selectSpan(walk, best.row, Math.max(best.wait.from, request.from));
		return;
	}
	if (rows.size) await selectSpan(walk, [...rows][0], request.from);
	announce(`${requestText(request)}: its threads did not wait meanwhile.`);
}

export function clickRequest(walk, lane, t) {
	const request = requestsOf(lane).find(found => found.from <= t && found.to > t);

	if (request) walkRequest(walk, request);
}

async function askRequests(view, row, key) {
	const span = { row, ...visibleSpan(view), max: MOST_REQUESTS },
		least = Math.ceil((2 * (view.to - view.from)) / view.width);
	const all = await ask(question("requests", span));

	if (!all.cut) known.set(row, { key, requests: all.requests, least: 0 });
	else known.set(row, { key, requests: (await ask(question("requests", { ...span, least }))).requests, least });
	view.emit("paint");
}

/** Asks for the requests of the visible lanes. */
export function completeRequests(view) {
	if (view.servers.size === 0) return;
	asking ??= newest(
		async () => {
			const key = `${Math.floor(view.from)}-${Math.ceil(view.to)}-${view.about.done_ns}`;

			for (const row of new Set(visibleRows(view).flatMap(({ node }) => (node.requests ? [node.requests.row] : []))))
				if (known.get(row)?.key !== key) await askRequests(view, row, key).catch(() => {});
		},
		change => view.busy(change)
	);
	asking();
}

/** The requests of the span in words, the longest first: those of the selected server, or of all. */
export async function requestsTable(walk, { from, to }) {
	const { view } = walk,
		node = view.row === null ? null : view.tree.byRow.get(view.row),
		owner = node?.process?.id ?? node?.row?.parent ?? node?.id,
		row = view.servers.has(owner) ? owner : undefined;

	if (view.servers.size === 0)
		return [
			el(
				"p",
				{ class: "dim" },
				view.cut.requests
					? "The trace has more requests than the view keeps: --from and --to choose a part of it."
					: "No server of this trace has read a request."
			)
		];
	const { requests, cut } = await ask(question("requests", { row, from, to, max: MOST_LISTED, longest: 1 })),
		isNamed = ({ server }) => view.named.includes(server.row);
	const thread = (title, key) => ({
		title,
		text: request => (request[key] ? processText({ name: request[key].name, pid: request[key].tid }) : "-")
	});

	return [
		...makeTable(
			row === undefined
				? "Requests of servers, the longest first, those of the answer before others"
				: `The longest requests of ${processText(view.servers.get(row).process)}`,
			[
				{
					title: "Begins",
					isShort: true,
					name: request => String(request.from).padStart(20, "0"),
					cell: request => linkButton(pointText(request.from, 1), () => walkRequest(walk, request))
				},
				time("Open", request => request.to - request.from),
				{
					title: "Client",
					name: clientOf,
					cell: request => [
						swatch(CLIENT + 2 * request.client),
						" ",
						nameElement(`${clientLetter(request.client)} ${clientOf(request)}`)
					]
				},
				time("CPU", request => request.cpu_ns),
				time("Least", request => request.least_ns),
				time("Most", request => request.most_ns),
				...(row === undefined ? [{ title: "Server", text: request => processText(request.server) }] : []),
				thread("Read by", "thread"),
				thread("Answered by", "answerer"),
				{ title: "End", isShort: true, text: request => ENDS[request.end] }
			],
			requests.sort((a, b) => isNamed(b) - isNamed(a))
		),
		cut ? el("p", { class: "dim" }, `The longest ${MOST_LISTED}; zoom in for the others.`) : null
	];
}
