// SPDX-License-Identifier: LGPL-2.1-or-later
// view.js - what the page shows: the visible span, the rows, the selection; and news of their changes.

import { withLanes } from "./lane_rows.js";
import { makeTree, nrAbsent, openTo, shownNodes } from "./rows.js";

export const ROW_HEIGHT = 20,
	BAR_HEIGHT = 16,
	AXIS_HEIGHT = 38;
const LEAST_NS = 200, // the closest zoom
	MOST_SUBJECT_THREADS = 12;

/**
 * The state of the page. Its parts tell each other by emit(): "span" (from, to), "rows" (shown), "selection" (row, span,
 * chain, path), "range", "paint" (what is drawn only), "read" (more of the trace is read).
 */
export function makeView(about) {
	const listeners = new Map();
	let nr_busy = 0;

	return {
		about,
		duration: Math.max(1, about.duration_ns),
		from: 0,
		to: Math.max(1, about.duration_ns),
		least: 0,
		most: Math.max(1, about.duration_ns), // what may be visible; beside another trace it is more than this one
		width: 800,
		height: 400,
		labelWidth: 240, // of the plot and of the names, in CSS pixels
		scroll: 0, // CSS pixels of rows above the first visible one
		tree: { nodes: [], byRow: new Map(), parents: new Map(), byKey: new Map() },
		shown: [],
		open: new Set(),
		isFresh: false, // the address named no place
		opened: undefined, // the key that openSubject() opened; null: it opened none
		subject: null, // the id of the row that the answer is about
		named: [], // the ids of the processes that the answer names, in its order
		pinned: [],
		filter: "",
		only: null,
		all: false, // also rows that do not exist in the visible span
		nrAbsent: 0,
		byClient: false, // servers are in the colours of their clients
		withLanes: null, // the lanes of scopes and requests are shown; null: if they are few
		lanes: new Map(), // by row: an item of the answer of `lanes`
		servers: new Map(), // by row of the process: an item of the answer of `servers`
		cut: {}, // {scopes, requests, clients, samples}: there are more than the engine keeps
		sampled: new Map(), // by row: the samples of the thread
		withSamples: false, // they are shown as lanes
		counters: [], // the names of those that are shown as rows
		clients: null, // what clients.js knows of servers and clients, once the trace is read
		row: null, // the id of the selected row
		span: null, // the selected span: an answer of `at`, with `row`
		chain: [], // the spans from which the chain was followed to @span
		path: null, // the critical path: an answer of `path`
		range: null, // the measured span {from, to}
		hover: null, // {x, y, t, node}
		on(name, listener) {
			listeners.set(name, [...(listeners.get(name) ?? []), listener]);
		},
		emit(...names) {
			for (const name of names) for (const listener of listeners.get(name) ?? []) listener();
		},
		/** Counts what is under way. The attribute data-state says "ready" when nothing is. */
		busy(change) {
			nr_busy += change;
			document.documentElement.dataset.state = nr_busy ? "busy" : "ready";
		}
	};
}

/** Shows from..to, inside the trace and no closer than the closest zoom. */
export function showSpan(view, from, to) {
	const length = Math.min(view.most - view.least, Math.max(LEAST_NS, to - from));
	const begin = Math.max(view.least, Math.min(view.most - length, from - (length - (to - from)) / 2));

	if (begin === view.from && begin + length === view.to) return;
	view.from = begin;
	view.to = begin + length;
	followSpan(view);
	view.emit("span", "paint");
}

/** Shows a span with some margin on both sides. */
export function showAround(view, from, to, margin = 0.08) {
	const more = Math.max((to - from) * margin, 1);

	showSpan(view, from - more, to + more);
}

/** Zooms by @factor (less than 1: closer) so that the time @t keeps its place. */
export function zoom(view, factor, t = (view.from + view.to) / 2) {
	const length = Math.min(view.most - view.least, Math.max(LEAST_NS, (view.to - view.from) * factor));
	const from = t - ((t - view.from) * length) / (view.to - view.from);

	showSpan(view, from, from + length);
}

export function pan(view, ns) {
	const from = Math.max(view.least, Math.min(view.most - (view.to - view.from), view.from + ns));

	showSpan(view, from, from + (view.to - view.from));
}

export function timeAt(view, x) {
	return view.from + ((x - view.labelWidth) * (view.to - view.from)) / view.width;
}

export function xAt(view, t) {
	return view.labelWidth + ((t - view.from) * view.width) / (view.to - view.from);
}

/** The part of a span inside the trace, in whole ns, at least one. Beside another trace, a view may begin before its own and end behind it. */
function insideTrace(view, { from, to }) {
	const end = Math.max(1, Math.min(view.duration, Math.ceil(to)));

	return { from: Math.min(end - 1, Math.max(0, Math.floor(from))), to: end };
}

/** The span that tables and paths are about: the measured one, or the visible one. In whole ns, inside the trace. */
export function chosenSpan(view) {
	return insideTrace(view, view.range ?? view);
}

/** The visible span, in whole ns, inside the trace. */
export function visibleSpan(view) {
	return insideTrace(view, view);
}

/** The visible span in columns of one pixel, @pixels for the whole width of the view; none is shorter than a ns. */
export function visibleColumns(view, pixels) {
	const { from, to } = visibleSpan(view);

	return { from, to, columns: Math.max(1, Math.min(to - from, Math.round(((to - from) * pixels) / (view.to - view.from)))) };
}

export function scrollRows(view, pixels) {
	const most = Math.max(0, view.shown.length * ROW_HEIGHT - (view.height - AXIS_HEIGHT));
	const scroll = Math.max(0, Math.min(most, view.scroll + pixels));

	if (scroll === view.scroll) return;
	view.scroll = scroll;
	view.emit("paint");
}

/** Makes the list of shown rows again after a change of the tree, the filter, the span or what is open. */
export function updateRows(view) {
	view.shown = withLanes(shownNodes(view.tree, view), view);
	view.nrAbsent = nrAbsent(view.tree, view);
	scrollRows(view, 0);
	view.emit("rows", "paint");
}

/** Leaves out the rows that do not exist in the visible span; the row at the pointer, or the selected one, keeps its place. */
export function followSpan(view) {
	const before = view.shown,
		kept =
			view.hover?.node?.key ??
			view.tree.byRow.get(view.row)?.key ??
			before[Math.ceil(view.scroll / ROW_HEIGHT)]?.key;
	const place = before.findIndex(node => node.key === kept);
	const shown = withLanes(shownNodes(view.tree, view), view);

	if (shown.length === before.length && shown.every((node, i) => node.key === before[i].key)) return;
	view.shown = shown;
	view.nrAbsent = nrAbsent(view.tree, view);
	const now = shown.findIndex(node => node.key === kept);

	scrollRows(view, place >= 0 && now >= 0 ? (now - place) * ROW_HEIGHT : 0);
	view.emit("rows");
}

export function toggleNode(view, node) {
	if (node.kids.length === 0) return;
	if (!view.open.delete(node.key)) view.open.add(node.key);
	updateRows(view);
}

/** The processes that the answer names become the first rows. @ids: rows of processes or of their threads, in its order. */
export function nameRows(view, ids) {
	const processes = ids.map(id => view.rows.get(id)).map(row => (row?.kind === "thread" ? row.parent : row?.id));

	view.subject = ids[0] ?? null;
	view.named = [...new Set(processes.filter(Number.isInteger))];
	view.tree = makeTree([...view.rows.values()], view.named);
	followSpan(view);
	view.emit("paint");
}

/** True while the open rows are those that openSubject() has opened, and nothing is selected. */
function isAsOpened({ opened, open, row }) {
	return row === null && opened !== undefined && [...open].join() === (opened ?? "");
}

/**
 * Shows the threads of the process of the row @id if they are few, and if the address named no place of the page. When the
 * trace grows and the answer is about another process, that one is opened instead, unless the person has opened rows.
 */
export function openSubject(view, id) {
	const at = view.tree.byRow.get(id),
		node = at && (at.kids.length ? at : view.tree.parents.get(at.key));

	if (!node || !(view.isFresh || isAsOpened(view)) || view.opened === node.key) return;
	if (!view.isFresh && view.open.delete(view.opened)) updateRows(view);
	view.isFresh = false;
	view.opened = null;
	if (!node.process || node.kids.length > MOST_SUBJECT_THREADS || view.open.has(node.key)) return;
	toggleNode(view, node);
	view.opened = node.key;
}

/** Brings the row @id into view: opens what folds it away, and scrolls. */
export function revealRow(view, id) {
	const node = openTo(view.tree, view.open, id);

	if (!node) return;
	if (view.filter && !shownNodes(view.tree, view).some(s => s.key === node.key)) view.filter = "";
	if (!view.only && !shownNodes(view.tree, view).some(s => s.key === node.key)) view.all = true;
	updateRows(view);
	const y = view.shown.findIndex(s => s.key === node.key) * ROW_HEIGHT;
	const room = view.height - AXIS_HEIGHT;

	if (y >= 0 && (y < view.scroll || y + ROW_HEIGHT > view.scroll + room))
		scrollRows(view, y - Math.floor(room / 3) - view.scroll);
}

/** Brings the time @t into view, at the zoom that is there. */
export function revealTime(view, t) {
	if (t < view.from || t > view.to) pan(view, t - (view.from + view.to) / 2);
}

/** The shown nodes that are visible: [{node, y}], y in CSS pixels from the top of the canvas. */
export function visibleRows(view) {
	const first = Math.floor(view.scroll / ROW_HEIGHT),
		rows = [];

	for (let i = first; i < view.shown.length; i++) {
		const y = AXIS_HEIGHT + i * ROW_HEIGHT - view.scroll;

		if (y >= view.height) break;
		rows.push({ node: view.shown[i], y });
	}
	return rows;
}

/** How the columns of a row are divided: "client", or "" by class of time. */
export function divisionOf(view, id) {
	return view.byClient && view.clients?.rows.has(id) ? "client" : "";
}

export function toggleAbsent(view) {
	view.all = !view.all;
	updateRows(view);
}
