// SPDX-License-Identifier: LGPL-2.1-or-later
// books.js - the tables that come from the report of a span: calls, files, servers, locks, scopes, costs.
//
// Such a report needs a pass over all events. The engine makes it in steps, one for each question, so that the picture
// and all other tables are answered meanwhile; a page that asks for another span ends it.

import { ask, question } from "./ask.js";
import { clientsTable } from "./clients.js";
import { el, linkButton } from "./dom.js";
import { addTimes, histogram, rangeOf } from "./histogram.js";
import { wantedRows } from "./rows.js";
import { count, makeTable, time } from "./table.js";
import { bytesText, countText, durationText } from "./time.js";
import { goTo } from "./walk.js";
import { clean, processText } from "./words.js";

const WAIT_FOR_OTHER_PAGE = 100, // ms
	page = Math.floor(Math.random() * 2 ** 32); // tells the engine which page counts

let last = { key: "", books: null };

/** The engine counts until it has the report, or until the table is about something else. False: it is. */
export async function countUntilDone(span, progress) {
	for (let before = -1; ; ) {
		const { done, events, of } = await ask(question("count", { ...span, page }));

		if (progress.isOver()) return false;
		if (done) return true;
		progress.tell(`Counting the events of this span: ${Math.floor((100 * events) / of)} %`);
		if (events === before) await new Promise(resolve => setTimeout(resolve, WAIT_FOR_OTHER_PAGE));
		before = events;
	}
}

/**
 * The report of a span; null: the table is about something else now. That of the whole trace is asked without a span,
 * because only it has servers.
 */
async function askBooks({ view }, span, progress) {
	const isWhole = span.from === 0 && span.to === view.duration,
		asked = isWhole ? {} : { from: span.from, to: span.to },
		key = question("books", asked) + view.about.done_ns;

	if (last.key !== key) {
		if (!(await countUntilDone(asked, progress))) return null;
		last = { key, books: await ask(question("books", asked)) };
	}
	return last.books;
}

/**
 * The calls, files, locks, scopes and costs of a span, which are known without a pass for it; null: not yet, or never. The first
 * question makes them in the background.
 */
async function askTables({ view }, span) {
	const isWhole = span.from === 0 && span.to === view.duration,
		key = question("tables", { from: span.from, to: span.to }) + view.about.done_ns;
	let tables;

	if (isWhole || last.key === key) return isWhole ? null : last.books;
	tables = await ask(question("tables", { from: span.from, to: span.to }));
	if (!tables.ready) return null;
	last = { key, books: tables };
	return tables;
}

/** As tableOf(), of what askTables() has. */
function quickTableOf(make) {
	return async (walk, span, row, progress) => {
		const books = (await askTables(walk, span)) ?? (await askBooks(walk, span, progress));

		return books && make(walk, books, span, row);
	};
}

/** A table of the report, which @make makes. null: it is about something else now. */
function tableOf(make) {
	return async (walk, span, row, progress) => {
		const books = await askBooks(walk, span, progress);

		return books && make(walk, books, span, row);
	};
}

/** Sums the items of all processes that have the same name. @keys are added; the longest and the most keep the greatest. */
export function sumBy(processes, list, name, keys) {
	const sums = new Map();

	for (const process of processes)
		for (const item of process[list] ?? []) {
			const sum = sums.get(item[name]) ?? { name: item[name], max_ns: 0, device: "", times: new Map() };

			for (const key of keys) sum[key] = (sum[key] ?? 0) + (item[key] ?? 0);
			sum.max_ns = Math.max(sum.max_ns, item.max_ns ?? 0);
			sum.device ||= item.device ?? "";
			addTimes(sum.times, item.times);
			sums.set(item[name], sum);
		}
	return [...sums.values()];
}

/** True for the numbers of processes that the filter of rows wants. */
function wantedPids({ view }) {
	const rows = wantedRows(view.tree, view.filter),
		pids = rows && new Set([...rows].map(id => view.rows.get(id)?.pid));

	return pid => !pids || pids.has(pid);
}

/** The processes in the table; of a trace with too many of them, the sums of all. */
function chosenProcesses(walk, { processes, all }, row) {
	const pid = row === undefined ? null : walk.view.rows.get(row)?.pid,
		isWanted = wantedPids(walk);

	if (all && !pid && !walk.view.filter.trim()) return [all];
	return processes.filter(process => (pid ? process.pid === pid : isWanted(process.pid)));
}

/** What a table of some processes leaves out, if the report has too many to list. */
function restText(walk, { processes, rest }, row) {
	return rest?.processes && (row !== undefined || walk.view.filter.trim())
		? ` of the ${countText(processes.length)} processes with the most CPU time; ${countText(rest.processes)} more had ${durationText(rest.cpu_ns)}`
		: "";
}

function callsTable(walk, books, span, row) {
	const calls = sumBy(chosenProcesses(walk, books, row), "syscalls", "name", [
		"calls",
		"errors",
		"elapsed_ns",
		"cpu_ns",
		"wait_cpu_ns",
		"wait_ns"
	]);
	const range = rangeOf(calls.map(call => call.times));

	return makeTable(
		`System calls${restText(walk, books, row)}`,
		[
			{ title: "Call", text: call => clean(call.name) },
			count("Calls", call => call.calls),
			count("Errors", call => call.errors),
			{ ...time("Time in it", call => call.elapsed_ns), first: true },
			time("CPU", call => call.cpu_ns),
			time("Waits for a CPU", call => call.wait_cpu_ns),
			time("Waits", call => call.wait_ns),
			time("Longest", call => call.max_ns),
			{
				title: range
					? `How long, ${durationText(range.first ? 2 ** range.first : 0)} to ${durationText(2 ** (range.last + 1))}`
					: "How long",
				cell: call => (range ? histogram(call.times, range) : "")
			}
		],
		calls
	);
}

function filesTable(walk, books, span, row) {
	const files = sumBy(chosenProcesses(walk, books, row), "files", "path", [
		"read_bytes",
		"written_bytes",
		"reads",
		"writes",
		"wait_ns"
	]);
	const bytes = (title, value) => ({ title, value, text: file => (value(file) ? bytesText(value(file)) : "-") });

	return makeTable(
		`Files${restText(walk, books, row)}`,
		[
			{ title: "Path", text: file => clean(file.name, 200) || "(path unknown)" },
			{ title: "Disk", text: file => clean(file.device) },
			count("Reads", file => file.reads),
			bytes("Read", file => file.read_bytes),
			count("Writes", file => file.writes),
			bytes("Written", file => file.written_bytes),
			{ ...time("Waits for it", file => file.wait_ns), first: true }
		],
		files
	);
}

function processCell(walk, pid, name) {
	const row = [...walk.view.rows.values()].find(found => found.kind === "process" && found.pid === pid),
		text = processText({ name: row?.title || name, pid });

	return row ? linkButton(text, () => goTo(walk, row.id)) : text;
}

/** The bills are about the whole trace; those of a span come from the intervals for which clients are charged. */
async function serversTable(walk, span, row, progress) {
	const isWhole = span.from === 0 && span.to === walk.view.duration;

	if (walk.view.about.part)
		return [el("p", { class: "dim" }, "Servers are charged to their clients for the whole trace only, and this is a part of one.")];
	return isWhole ? clientsOfServers(walk, span, row, progress) : clientsTable(walk, span);
}

const clientsOfServers = tableOf((walk, { servers }) => {
	const isWanted = wantedPids(walk);
	const pairs = servers
		.flatMap(server => server.clients.map(client => ({ server, client })))
		.filter(({ server, client }) => isWanted(server.pid) || isWanted(client.pid));

	return makeTable(
		"CPU time of servers, by client",
		[
			{
				title: "Server",
				name: ({ server }) => server.comm,
				cell: ({ server }) => processCell(walk, server.pid, server.comm)
			},
			{
				title: "For the client",
				name: ({ client }) => client.comm || client.address,
				cell: ({ client }) =>
					client.pid ? processCell(walk, client.pid, client.comm) : clean(client.address || client.comm)
			},
			count("Requests", ({ client }) => client.requests),
			{ ...time("CPU for it", ({ client }) => client.cpu_ns), first: true },
			time("Exact", ({ client }) => client.exact_ns),
			time("Shared", ({ client }) => client.shared_ns),
			time("At least", ({ client }) => client.least_ns),
			time("At most", ({ client }) => client.most_ns)
		],
		pairs
	);
});

function addressText(address) {
	return Number.isInteger(address) ? `0x${address.toString(16)}` : clean(address);
}

function locksTable(walk, { locks }) {
	const isWanted = wantedPids(walk);

	return makeTable(
		"Waits for locks",
		[
			{ title: "Waited", name: lock => lock.comm, cell: lock => processCell(walk, lock.pid, lock.comm) },
			{ title: "Thread", text: lock => processText({ name: lock.thread, pid: lock.tid }) },
			{
				title: "Lock",
				text: lock => [lock.via, clean(lock.path) || addressText(lock.address)].filter(Boolean).join(" ")
			},
			{
				title: "Held by",
				text: lock =>
					lock.holder_tid ? processText({ name: lock.holder_thread, pid: lock.holder_tid }) : "unknown"
			},
			count("Count", lock => lock.count),
			{ ...time("Time", lock => lock.ns), first: true }
		],
		locks.filter(lock => isWanted(lock.pid) || isWanted(lock.holder_pid))
	);
}

function scopesTable(walk, { spans, spans_left_out }) {
	const isWanted = wantedPids(walk);
	const table = makeTable(
		"Scopes and requests of programs",
		[
			{ title: "Name", text: scope => clean(scope.name) },
			{ title: "Kind", text: scope => clean(scope.kind) },
			{ title: "Process", name: scope => scope.comm, cell: scope => processCell(walk, scope.pid, scope.comm) },
			count("Count", scope => scope.count),
			{ ...time("Time", scope => scope.sum_ns), first: true },
			time("Median", scope => scope.p50_ns),
			time("p99", scope => scope.p99_ns),
			time("Longest", scope => scope.max_ns),
			time("CPU", scope => scope.cpu_ns),
			time("Waits for a CPU", scope => scope.wait_cpu_ns),
			time("Waits", scope => scope.blocked_ns)
		],
		spans.filter(scope => isWanted(scope.pid))
	);

	if (spans_left_out)
		table.push(el("p", { class: "dim" }, "Programs have more than 65,536 kinds of them: those of further kinds are in no row."));
	return table;
}

/** What recording cost the programs, by probe and by event that a program records itself: rows of a table. */
export function costsOf({ probes, event_costs }) {
	return [
		...probes.map(({ hits, hit_ns, ...probe }) => ({ ...probe, kind: "probe", count: hits, ns: hits * hit_ns })),
		...event_costs.uses.map(({ events, cost_ns, ...use }) => ({ ...use, kind: "tracepoint", count: events, ns: cost_ns }))
	];
}

function costsTable(walk, books) {
	const isWanted = wantedPids(walk);

	return makeTable(
		"What recording cost programs, estimated by the cost of one event when the recording began",
		[
			{ title: "Name", text: cost => clean(cost.name) },
			{ title: "Kind", text: cost => cost.kind },
			{ title: "Process", name: cost => cost.comm, cell: cost => processCell(walk, cost.pid, cost.comm) },
			count("Count", cost => cost.count),
			time("Of one", cost => cost.ns / cost.count),
			{ ...time("Cost", cost => cost.ns), first: true }
		],
		costsOf(books).filter(cost => isWanted(cost.pid))
	);
}

/** As the tables of tables.js. */
export const BOOKS = [
	{ id: "calls", title: "Calls", hasRow: true, load: quickTableOf(callsTable) },
	{ id: "files", title: "Files", hasRow: true, load: quickTableOf(filesTable) },
	{ id: "locks", title: "Locks", load: quickTableOf(locksTable) },
	{ id: "servers", title: "Servers", load: serversTable },
	{ id: "scopes", title: "Scopes", load: quickTableOf(scopesTable) },
	{ id: "costs", title: "Costs", load: quickTableOf(costsTable) }
];
