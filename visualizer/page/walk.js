// SPDX-License-Identifier: LGPL-2.1-or-later
// walk.js - selects rows and spans, follows a wait to the thread that ended it, and shows critical paths.

import { ask, newest, question } from "./ask.js";
import { WAIT_CPU } from "./classes.js";
import { announce } from "./dom.js";
import { chosenSpan, revealRow, revealTime, showAround, showSpan, toggleNode, updateRows } from "./view.js";
import { spanSentence } from "./words.js";

const SPANS_AT_ONCE = 5000,
	MOST_PAGES = 40;

/**
 * The walker of a view. @fail: shows a sentence about what does not work. @isAbsent: true if the picture shows that a row
 * has nothing at a time.
 */
export function makeWalk(view, fail, isAbsent) {
	const changed = change => view.busy(change);

	return {
		view,
		fail,
		isAbsent,
		at: newest((row, t) => ask(question("at", { row, t })), changed),
		path: newest((row, from, to) => ask(question("path", { row, from, to })), changed),
		spans: newest((row, from, to, max) => ask(question("spans", { row, from, to, max })), changed)
	};
}

function nodeOf(view, row) {
	return view.tree.byRow.get(row);
}

export function rowText(view, row) {
	const node = nodeOf(view, row);

	return node ? (node.title ?? node.label) + (node.number === null ? "" : ` ${node.number}`) : `row ${row}`;
}

export function selectRow(walk, row) {
	const { view } = walk;

	if (row !== null && !nodeOf(view, row)) return;
	view.row = row;
	view.span = null;
	view.chain = [];
	view.emit("selection", "paint");
	announce(rowText(view, row));
}

/** Selects the span of @row at time @t. @chain: the spans that led there. @stays: shows no other place. */
export async function selectSpan(walk, row, t, chain = [], stays = false) {
	const { view } = walk,
		leaf = nodeOf(view, row)?.leaf;

	if (leaf === null || leaf === undefined || walk.isAbsent(leaf, t)) {
		selectRow(walk, row);
		return;
	}
	try {
		const span = await walk.at(leaf, Math.max(0, Math.min(view.duration - 1, Math.floor(t))));

		if (!span) return; // a newer question
		view.row = leaf;
		view.span = { ...span, row: leaf, sentence: spanSentence(span, rowText(view, leaf)) };
		view.chain = chain;
		if (!stays) revealTime(view, Math.max(0, t));
		if (!stays) revealRow(view, leaf);
		view.emit("selection", "paint");
		announce(view.span.sentence);
	} catch (error) {
		walk.fail(error.message);
	}
}

/** Where a span leads: to the thread that ended the wait; from a CPU to the thread that had it. */
export function nextOf(span) {
	return (
		span.next ?? (span.thread && Number.isInteger(span.thread.row) ? { row: span.thread.row, t: span.from } : null)
	);
}

/** The thread that had the CPU the longest while a thread waited for it, with its row; undefined: none is known. */
export function holderOf(span) {
	return span.class === WAIT_CPU && Number.isInteger(span.cpu)
		? span.holders?.find(({ thread }) => Number.isInteger(thread?.row))?.thread
		: undefined;
}

/**
 * True if the selected span leads on: to the thread that ended it, to the one that had the CPU, or to what its thread
 * waited for meanwhile.
 */
export function canFollow({ span, chain }) {
	return Boolean(span && (nextOf(span) || holderOf(span) || (chain.length && !span.kind && span.class !== WAIT_CPU)));
}

/**
 * The longest span of @row in from..to that @isWanted accepts; null: none, or a newer question came. Only the time
 * inside from..to counts.
 * Rows with very many spans are read page by page; a search that gives up says so.
 */
export async function longestSpan(walk, row, from, to, isWanted) {
	const inside = span => Math.min(span.to, to) - Math.max(span.from, from);
	let best = null,
		begin = from;

	for (let page = 0; begin < to; page++) {
		const answer = await walk.spans(row, begin, to, SPANS_AT_ONCE);

		if (!answer) return null;
		best = answer.spans.filter(isWanted).reduce((b, span) => (!b || inside(span) > inside(b) ? span : b), best);
		if (!answer.cut || answer.spans.length === 0) break;
		begin = answer.spans.at(-1).to;
		if (page === MOST_PAGES) {
			walk.fail(
				`Only the first ${page * SPANS_AT_ONCE} spans of ${rowText(walk.view, row)} were searched: zoom in for the others.`
			);
			break;
		}
	}
	return best;
}

/** What held up the thread that ended the wait from which the chain came: its own longest wait meanwhile. */
function longestWait(walk) {
	const { span, chain } = walk.view;

	return longestSpan(
		walk,
		span.row,
		chain.at(-1).from,
		span.from,
		wait => (wait.kind && !wait.idle) || wait.class === WAIT_CPU
	);
}

/** The longest turn of the thread that had the CPU while another one waited for it. */
function longestTurn(walk, span) {
	const holder = holderOf(span),
		cpu = [...walk.view.rows.values()].find(row => row.kind === "cpu" && row.cpu === span.cpu);

	return cpu && longestSpan(walk, cpu.id, span.from, span.to, turn => turn.thread?.row === holder.row);
}

/** Where the selected span leads, as nextOf() has it, or by a search. */
async function findNext(walk) {
	const { view } = walk,
		{ span } = view;

	if (!span || !canFollow(view) || nextOf(span)) return span && nextOf(span);
	if (holderOf(span)) {
		const turn = await longestTurn(walk, span);

		return turn ? { row: holderOf(span).row, t: Math.max(turn.from, span.from) } : null;
	}
	const wait = await longestWait(walk);

	return wait ? { row: span.row, t: wait.from } : null;
}

/**
 * Follows the selected wait to the thread that ended it, or that had the CPU, and from there to that thread's longest
 * wait meanwhile.
 */
export async function follow(walk) {
	const { view } = walk,
		{ span } = view;

	try {
		const next = await findNext(walk);

		if (!next) {
			announce(span ? "The chain ends here." : "Select a span first.");
			if (span)
				walk.fail(
					canFollow(view) ? `${rowText(view, span.row)} did not wait meanwhile: the chain ends here.` : ""
				);
			return;
		}
		await selectSpan(walk, next.row, next.t, [...view.chain, span]);
		revealTime(view, next.t);
	} catch (error) {
		walk.fail(error.message);
	}
}

export function goBack(walk) {
	const { view } = walk,
		span = view.chain.at(-1);

	if (!span) return;
	view.chain = view.chain.slice(0, -1);
	view.span = span;
	view.row = span.row;
	revealTime(view, span.to - 1);
	revealRow(view, span.row);
	view.emit("selection", "paint");
	announce(span.sentence);
}

/** Selects the span after the selected one, or the one before. */
export function step(walk, isForward) {
	const { view } = walk,
		{ span } = view;

	if (span && (isForward ? span.to < view.duration : span.from > 0))
		selectSpan(walk, view.row, isForward ? span.to : span.from - 1).then(
			() => view.span && revealTime(view, isForward ? view.span.from : view.span.to)
		);
	else if (!span && view.row !== null) selectSpan(walk, view.row, (view.from + view.to) / 2);
}

/** Moves the selection to the next shown row, or the one before; a selected span moves along. */
export function moveRow(walk, change) {
	const { view } = walk,
		current = view.row === null ? null : nodeOf(view, view.row)?.key;
	const index = view.shown.findIndex(node => node.key === current);
	let next = index < 0 ? 0 : index + change;

	while (view.shown[next] && view.shown[next].id === null) next += change;
	const node = view.shown[next];

	if (!node) return;
	selectRow(walk, node.leaf ?? node.id);
	revealRow(view, node.id);
}

/** Opens or closes the threads below the selected row. */
export function toggleSelected(walk) {
	const { view } = walk,
		node = view.row === null ? null : nodeOf(view, view.row);
	const owner = node?.kids.length ? node : node && view.tree.parents.get(node.key);

	if (owner) toggleNode(view, owner);
}

export function pinSelected(walk) {
	const { view } = walk,
		node = view.row === null ? null : nodeOf(view, view.row);

	if (!node) return;
	view.pinned = view.pinned.includes(node.key)
		? view.pinned.filter(key => key !== node.key)
		: [...view.pinned, node.key];
	announce(`${node.label} is ${view.pinned.includes(node.key) ? "pinned at the top" : "not pinned any more"}.`);
	updateRows(view);
}

/** Shows a place: the span with a margin, and the row selected. */
export function goTo(walk, row, from, to) {
	const { view } = walk;

	if (view.path) leavePath(walk);
	if (from !== undefined && to > from) showAround(view, from, to);
	if (row !== undefined && row !== null) {
		const life = nodeOf(view, row)?.row;

		if (life && (life.from >= view.to || life.to <= view.from)) showAround(view, life.from, life.to);
		revealRow(view, row);
		selectRow(walk, nodeOf(view, row)?.leaf ?? row);
	}
}

/** Selects the longest span of @row in from..to that @isWanted accepts. */
export async function goToLongest(walk, row, from, to, isWanted) {
	const longest = await longestSpan(walk, row, from, to, isWanted).catch(error => walk.fail(error.message));

	if (!longest) {
		goTo(walk, row);
		return;
	}
	showAround(walk.view, longest.from, longest.to, 0.5);
	await selectSpan(walk, row, longest.from);
}

/** Consecutive segments of one row become one part. A path of many segments has parts instead of the short ones. */
function partsOf({ segments, parts: told }) {
	const parts = [];

	if (told) return told;
	for (const { row, from, to } of segments) {
		const last = parts.at(-1);

		if (last?.row === row && last.to === from) {
			last.to = to;
			last.ns += to - from;
		} else parts.push({ row, from, to, ns: to - from });
	}
	return parts;
}

/** The time of each row on a path, in the order in which the path came to them: Map from the row to ns. */
export function timesOnPath(parts) {
	const sums = new Map();

	for (const { row, ns } of parts) sums.set(row, (sums.get(row) ?? 0) + ns);
	return sums;
}

const LEAST_ON_PATH = 0.01;

/**
 * The rows of a path: that of @leaf, those with at least a hundredth of it, and the others; each in the order in which the
 * path came to them. A build has hundreds of short ones, which would hide the rest.
 */
export function rowsOfPath(parts, leaf) {
	const sums = timesOnPath(parts),
		least = LEAST_ON_PATH * [...sums.values()].reduce((sum, ns) => sum + ns, 0),
		rows = [...sums.keys()];

	return [...new Set([leaf, ...rows.filter(row => sums.get(row) >= least), ...rows])];
}

/** The row of a thread: of the node's own, or of the main thread of its process; undefined: it has none. */
function threadOf(view, row) {
	const node = nodeOf(view, row);

	return node?.leaf ?? node?.kids.find(kid => node.process && kid.number === node.process.pid)?.leaf;
}

/**
 * Shows the critical path of the selected row in the chosen span, or of the row that the answer is about; shows the rows
 * again if it is shown.
 */
export async function togglePath(walk) {
	const { view } = walk,
		leaf = threadOf(view, view.row ?? view.subject);

	if (view.path) {
		leavePath(walk);
		return;
	}
	if (leaf === undefined) {
		walk.fail("A critical path belongs to a thread: select a row with one thread first.");
		return;
	}
	const { from, to } = chosenSpan(view);

	try {
		const path = await walk.path(leaf, from, to);

		if (!path) return;
		view.path = { ...path, parts: partsOf(path), before: view.span };
		view.only = rowsOfPath(view.path.parts, leaf);
		view.scroll = 0;
		updateRows(view);
		view.emit("selection");
		announce(`The critical path of ${rowText(view, leaf)}.`);
	} catch (error) {
		walk.fail(error.message);
	}
}

export function leavePath(walk) {
	const { view } = walk;

	view.path = view.only = null;
	updateRows(view);
	if (view.row !== null) revealRow(view, view.row);
	view.emit("selection", "paint");
}

/** Gives up the newest of: critical path, selected span, measured span, filter. */
export function escape(walk) {
	const { view } = walk;

	if (view.path) leavePath(walk);
	else if (view.span) selectRow(walk, view.row);
	else if (view.range) {
		view.range = null;
		view.emit("range", "paint");
	} else if (view.filter) {
		view.filter = "";
		updateRows(view);
	}
}

/** Measures the visible span, or gives the measured span up. */
export function measure(walk) {
	const { view } = walk;

	view.range = view.range
		? null
		: view.span && view.span.to > view.span.from
			? { from: view.span.from, to: view.span.to }
			: { from: view.from, to: view.to };
	view.emit("range", "paint");
}

/** Zooms to the selected span, the measured one, or the whole trace. */
export function zoomToSelection(walk) {
	const { view } = walk,
		span = view.span ?? view.range;

	if (span) showAround(view, span.from, span.to, 0.5);
	else showSpan(view, view.least, view.most);
}
