// SPDX-License-Identifier: LGPL-2.1-or-later
// tables.js - the tables of the chosen span: processes, threads, waits, events; those of books.js are between them.

import { ask, question } from "./ask.js";
import { ABSENT, IDLE, ON_CPU, REST, SYSCALL, TRAP, UNKNOWN, USER, WAIT_CPU } from "./classes.js";
import { el, linkButton, nameElement } from "./dom.js";
import { BOOKS } from "./books.js";
import { clientsTable } from "./clients.js";
import { countersTable } from "./counters.js";
import { functionsTable } from "./functions.js";
import { lanesTable } from "./lanes.js";
import { requestsTable } from "./requests.js";
import { interest, stackedBar } from "./swatch.js";
import { wantedRows } from "./rows.js";
import { makeTable, time, count } from "./table.js";
import { countText, durationText, pointText } from "./time.js";
import { goTo, goToLongest, rowText, selectSpan } from "./walk.js";
import { chosenSpan, revealTime } from "./view.js";
import { clean, objectText, processText } from "./words.js";

const EVENTS_AT_ONCE = 200;

export function add(ns, classes) {
	return classes.reduce((sum, number) => sum + (ns[number] ?? 0), 0);
}

/** The rows that the answer names first, in its order; then those that were on a CPU the longest. */
function byAnswer(view, rows) {
	const place = new Map(view.named.map((id, index) => [id, index]));
	const placeOf = row => place.get(row.id) ?? Infinity;

	return rows.sort((a, b) =>
		placeOf(a) === placeOf(b) ? add(b.ns, ON_CPU) - add(a.ns, ON_CPU) : placeOf(a) - placeOf(b)
	);
}

async function sumsTable(walk, kind, span) {
	const { view } = walk,
		{ rows, rest } = await ask(question("sums", span)),
		left = rest?.[kind === "process" ? "processes" : "threads"];
	const filter = wantedRows(view.tree, view.filter);
	const wanted = rows.filter(
		({ id, ns }) => view.rows.get(id)?.kind === kind && interest(ns) > 0 && (filter?.has(id) ?? true)
	);
	const waits = ns => interest(ns) - add(ns, ON_CPU) - add(ns, [WAIT_CPU, UNKNOWN]);
	const owner = row => view.rows.get(view.rows.get(row.id).parent),
		isOfAnswer = wanted.some(({ id }) => view.named.includes(id));

	const table = makeTable(
		kind === "process" ? "Processes that were not at rest" : "Threads that were not at rest",
		[
			{
				title: kind === "process" ? "Process" : "Thread",
				name: row => rowText(view, row.id),
				cell: row => linkButton(rowText(view, row.id), () => goTo(walk, row.id))
			},
			...(kind === "thread"
				? [
						{
							title: "Process",
							text: row =>
								owner(row)
									? processText({ name: owner(row).title || owner(row).name, pid: owner(row).pid })
									: ""
						}
					]
				: []),
			{
				title: "Shares of its time",
				cell: row => stackedBar(row.ns.map((n, number) => (number === ABSENT ? 0 : n)))
			},
			{ ...time("On a CPU", row => add(row.ns, ON_CPU)), first: !isOfAnswer },
			time("Own code", row => add(row.ns, [USER])),
			time("Kernel", row => add(row.ns, [SYSCALL, TRAP])),
			time("Waits for a CPU", row => add(row.ns, [WAIT_CPU])),
			time("Waits", row => waits(row.ns)),
			time("At rest", row => add(row.ns, [REST, IDLE])),
			time("Unknown", row => add(row.ns, [UNKNOWN]))
		],
		isOfAnswer ? byAnswer(view, wanted) : wanted
	);

	return left?.rows
		? [
				...table,
				el(
					"p",
					{ class: "dim" },
					`${countText(left.rows)} more in this span, of a trace with too many for a page: ${durationText(add(left.ns, ON_CPU))} on a CPU together, ${durationText(add(left.ns, [WAIT_CPU]))} waiting for one.`
				)
			]
		: table;
}

async function waitsTable(walk, span, row) {
	const { waits, rest_ns } = await ask(question("waits", { ...span, row }));
	const isSame = wait => other =>
		other.kind === wait.kind &&
		(other.target ?? "") === (wait.target ?? "") &&
		(other.via ?? "") === (wait.via ?? "");
	const isNamed = wait => walk.view.named.includes(walk.view.rows.get(wait.thread?.row)?.parent),
		place = wait => wait.thread ?? null,
		filter = wantedRows(walk.view.tree, walk.view.filter);

	return [
		...makeTable(
			"Waits, the longest first, those of the answer before others, those at rest last",
			[
				time("Time", wait => wait.ns),
				count("Count", wait => wait.count),
				{
					title: "Waits for",
					name: objectText,
					cell: wait =>
						wait.thread?.row !== undefined && wait.thread.row !== null && wait.class !== WAIT_CPU
							? linkButton(objectText(wait), () =>
									goToLongest(walk, wait.thread.row, span.from, span.to, isSame(wait))
								)
							: nameElement(objectText(wait))
				},
				{ title: "In the call", text: wait => clean(wait.call) },
				{
					title: "Thread",
					name: wait => (place(wait) ? processText(place(wait)) : ""),
					cell: wait =>
						place(wait) ? linkButton(processText(place(wait)), () => goTo(walk, place(wait).row)) : ""
				},
				{ title: "At rest", text: wait => (wait.idle ? "yes" : "") }
			],
			waits
				.filter(wait => filter?.has(wait.thread?.row) ?? true)
				.sort((a, b) => Boolean(a.idle) - Boolean(b.idle) || isNamed(b) - isNamed(a))
		),
		rest_ns
			? el(
					"p",
					{ class: "dim" },
					`All other waits${filter ? ", of all rows," : ""} together: ${durationText(rest_ns)}.`
				)
			: null
	];
}

function fieldsText(fields) {
	return Object.entries(fields ?? {})
		.map(([key, value]) => `${key}=${clean(typeof value === "object" ? JSON.stringify(value) : value, 120)}`)
		.join(" ");
}

async function eventsTable(walk, span) {
	const { view } = walk,
		start = Number(view.about.start_ns),
		box = el("div", {}),
		again = el("p", {}),
		filter = wantedRows(view.tree, view.filter),
		tids = filter && new Set([...filter].map(id => view.rows.get(id)?.tid)),
		all = [];
	const threadRow = ({ tid, t }) =>
		[...view.rows.values()].find(row => row.kind === "thread" && row.tid === tid && row.from <= t && row.to >= t);
	const more = async from => {
		const { events, next } = await ask(question("events", { from, max: EVENTS_AT_ONCE }));

		all.push(
			...events
				.map(event => ({ ...event, t: event.ts_ns - start }))
				.filter(event => event.t < span.to && (tids?.has(event.tid) ?? true))
		);
		box.replaceChildren(
			...makeTable(
				"Events in time order",
				[
					{
						title: "Time",
						name: event => String(event.t).padStart(20, "0"),
						cell: event =>
							linkButton(pointText(event.t, 1), async () => {
								await selectSpan(walk, threadRow(event)?.id, event.t);
								revealTime(view, event.t);
							})
					},
					{ title: "CPU", value: event => event.cpu, text: event => String(event.cpu) },
					{ title: "Thread", text: event => processText({ name: event.comm, pid: event.tid }) },
					{ title: "Event", text: event => clean(event.event) },
					{ title: "Fields", text: event => fieldsText(event.fields) }
				],
				all
			)
		);
		again.replaceChildren(
			...(next !== undefined && next !== null && next < span.to
				? [el("button", { type: "button", onclick: () => more(next) }, "Show the next events")]
				: [])
		);
	};

	await more(span.from);
	return [box, again];
}

/**
 * {id, title, hasRow: the table can be about the selected row only,
 * load(walk, span, row, progress): its elements; null: progress.isOver()}
 */
export const TABLES = [
	{ id: "processes", title: "Processes", load: (walk, span) => sumsTable(walk, "process", span) },
	{ id: "threads", title: "Threads", load: (walk, span) => sumsTable(walk, "thread", span) },
	{ id: "waits", title: "Waits", hasRow: true, load: waitsTable },
	{ id: "functions", title: "Functions", hasRow: true, load: functionsTable },
	...BOOKS,
	{ id: "lanes", title: "Scopes of the row", followsRow: true, load: lanesTable },
	{ id: "requests", title: "Requests", followsRow: true, load: requestsTable },
	{ id: "clients", title: "For clients", hasRow: true, load: clientsTable },
	{ id: "counters", title: "Numbers", load: countersTable },
	{ id: "events", title: "Events", load: eventsTable }
];

export function spanTitle(view) {
	const { from, to } = chosenSpan(view),
		distance = Math.max(1, (to - from) / 100);

	const only = view.filter.trim() ? `Only rows with \u201c${clean(view.filter.trim(), 40)}\u201d. ` : "";

	return from === 0 && to === view.duration
		? `${only}The whole ${view.about.part ? "part" : "trace"}, ${durationText(to)}`
		: `${only}${pointText(from, distance)} to ${pointText(to, distance)} (${durationText(to - from)}), ${view.range ? "measured" : "the visible span"}`;
}
