// SPDX-License-Identifier: LGPL-2.1-or-later
// rows.js - the rows as a tree, and the list of those that are shown.
//
// A node is {key, id, leaf, name, label, number, row, depth, kids, text}: @id is the row whose shares are
// drawn, @leaf the row that has spans (null: several threads). A process with one thread is one
// node. The thread of several has a title, too: its name where the node of its process is not above it. Processes that only rest, those that never
// ran and only wait, and kernel threads are folded into a node each, without shares.

import { numberText } from "./time.js";
import { clean } from "./words.js";

function leafNode(row, label, number, depth) {
	return {
		key: String(row.id),
		id: row.id,
		leaf: row.id,
		label: clean(label, 120),
		number,
		row,
		depth,
		kids: [],
		text: ""
	};
}

function processNode(process, threads, depth) {
	const title = process.title || process.name || "(no name)";
	const own = `${title} ${process.name} ${process.pid}`.toLowerCase();
	const text = `${own} ${threads.map(t => `${t.name} ${t.tid}`).join(" ")}`.toLowerCase();

	if (threads.length === 1) return { ...leafNode(threads[0], title, process.pid, depth), process, text };
	const kids = threads.map(t => ({
		...leafNode(t, t.name || "(no name)", t.tid, depth + 1),
		title: clean(t.title || t.name, 120),
		process,
		text: `${t.name} ${t.tid}`.toLowerCase()
	}));

	return {
		key: String(process.id),
		id: process.id,
		leaf: null,
		label: clean(title, 120),
		number: process.pid,
		row: process,
		process,
		depth,
		kids,
		own,
		text
	};
}

function groupNode(key, label, kids) {
	return { key, id: null, leaf: null, label, number: null, row: null, depth: 0, kids, text: "" };
}

/** The processes of @named first, in that order; the others keep their order. */
function namedFirst(nodes, named) {
	const place = new Map(named.map((id, index) => [id, index]));
	const placeOf = node => place.get(node.process.id) ?? Infinity;

	return nodes
		.map((node, index) => ({ node, index }))
		.sort((a, b) => (placeOf(a.node) === placeOf(b.node) ? a.index - b.index : placeOf(a.node) - placeOf(b.node)))
		.map(({ node }) => node);
}

/** Where a process is. A parent that waits for its child, and runs no more, says little; the answer may name it. */
function folderOf(row, named, { busy, waiting, resting, kernel }) {
	if (row.kernel) return kernel;
	if (row.command) return busy;
	if (row.busy_ns === 0) return resting;
	return row.active_ns === 0 && !named.includes(row.id) ? waiting : busy;
}

/**
 * {nodes: the roots in order, byRow: Map from the id of a row to its node, parents: Map from key to node}
 * @named: the ids of the processes that the answer names, which come first.
 */
export function makeTree(rows, named = []) {
	const threads = new Map(),
		cpus = [],
		busy = [],
		waiting = [],
		resting = [],
		kernel = [];

	for (const row of rows)
		if (row.kind === "thread") threads.get(row.parent)?.push(row) ?? threads.set(row.parent, [row]);
	for (const row of rows) {
		if (row.kind === "cpu")
			cpus.push({ ...leafNode(row, row.title || row.name || `CPU ${row.cpu}`, null, 0), text: `cpu ${row.cpu}` });
		if (row.kind !== "process") continue;
		const folder = folderOf(row, named, { busy, waiting, resting, kernel });

		folder.push(processNode(row, threads.get(row.id) ?? [], folder === busy ? 0 : 1));
	}
	const nodes = [...cpus, ...namedFirst(busy, named)];
	if (waiting.length)
		nodes.push(groupNode("waiting", `${numberText(waiting.length, "process", "processes")} only waiting`, waiting));
	if (resting.length)
		nodes.push(groupNode("resting", `${numberText(resting.length, "process", "processes")} at rest`, resting));
	if (kernel.length)
		nodes.push(
			groupNode("kernel", `${kernel.length} kernel ${kernel.length === 1 ? "thread" : "threads"}`, kernel)
		);
	return { nodes, ...indexNodes(nodes) };
}

function indexNodes(nodes) {
	const byRow = new Map(),
		parents = new Map(),
		byKey = new Map();
	const visit = (node, parent) => {
		byKey.set(node.key, node);
		if (parent) parents.set(node.key, parent);
		if (node.id !== null) byRow.set(node.id, node);
		if (node.process && node.kids.length === 0 && !parent?.process) byRow.set(node.process.id, node);
		node.kids.forEach(kid => visit(kid, node));
	};

	nodes.forEach(node => visit(node, null));
	return { byRow, parents, byKey };
}

function matches(node, filter) {
	return node.text.includes(filter) || node.kids.some(kid => matches(kid, filter));
}

/** The rows that an answer leaves out, because a page would take long for them. */
export function restText({ processes, threads }) {
	const all = [
		processes.rows ? numberText(processes.rows, "process", "processes") : "",
		threads.rows ? numberText(threads.rows, "thread", "threads") : ""
	];

	return all.filter(Boolean).join(" and ") + " more";
}

/** The ids of the rows that a filter wants, with their processes; null: all. */
export function wantedRows(tree, filter) {
	const wanted = filter.trim().toLowerCase(),
		ids = new Set();
	const add = (node, isOwned) => {
		if (!isOwned && !matches(node, wanted)) return;
		for (const id of [node.id, node.leaf, node.process?.id]) if (Number.isInteger(id)) ids.add(id);
		node.kids.forEach(kid => add(kid, isOwned || node.own?.includes(wanted)));
	};

	if (!wanted) return null;
	tree.nodes.forEach(node => add(node, false));
	return ids;
}

/** False if the row, and all that is folded below it, does not exist in the visible span. */
function lives(node, span) {
	return node.row ? node.row.from < span.to && node.row.to > span.from : node.kids.some(kid => lives(kid, span));
}

/** A node that is shown without those above it. */
function alone(node) {
	return { ...node, label: node.title ?? node.label, depth: 0 };
}

/**
 * The nodes to show, in order: those of @only, or the pinned ones and then the tree.
 * @choice: {open: Set of keys, pinned: [keys], filter: text, only: [ids] or null, from, to: the visible span; all: also rows
 * that do not exist in it}
 */
export function shownNodes(tree, { open, pinned, filter, only, from, to, all }) {
	const wanted = filter.trim().toLowerCase(),
		shown = [];
	const visit = (node, owner) => {
		const isOwned = owner?.own?.includes(wanted); // all threads of a process that matches by its name

		if (wanted && !isOwned && !matches(node, wanted)) return;
		if (!all && !wanted && !lives(node, { from, to })) return;
		shown.push(node);
		if (open.has(node.key) || (wanted && node.id === null)) node.kids.forEach(kid => visit(kid, node));
	};

	if (only) return [...new Set(only.map(id => tree.byRow.get(id)).filter(Boolean))].map(alone);
	for (const key of pinned) if (tree.byKey.has(key)) shown.push({ ...alone(tree.byKey.get(key)), pinned: true });
	tree.nodes.forEach(node => visit(node, null));
	return shown;
}

/** The number of rows of the tree's first level that shownNodes() leaves out because they do not exist in the span. */
export function nrAbsent(tree, { filter, only, from, to, all }) {
	return all || only || filter.trim() ? 0 : tree.nodes.filter(node => !lives(node, { from, to })).length;
}

/** Opens whatever folds the node of @id away. Returns the node, or undefined. */
export function openTo(tree, open, id) {
	const node = tree.byRow.get(id);

	for (let parent = node && tree.parents.get(node.key); parent; parent = tree.parents.get(parent.key))
		open.add(parent.key);
	return node;
}

/**
 * The place of the row @id, or of the closest row that it is folded into; undefined: neither is shown.
 * @places: the places of the shown nodes: Map from key to index
 */
export function shownIndex(tree, places, id) {
	for (let node = tree.byRow.get(id); node; node = tree.parents.get(node.key))
		if (places.has(node.key)) return places.get(node.key);
	return undefined;
}
