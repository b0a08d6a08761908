// SPDX-License-Identifier: LGPL-2.1-or-later
// lane_rows.js - rows that are no rows of the engine: lanes of scopes below their thread, of requests of servers below
// their process, samples below their thread, and numbers over time.

import { clean } from "./words.js";

const MOST_LANES = 8,
	FEW_LANES = 6;

function laneNode(node, kind, number, label, content) {
	return {
		key: `${kind}-${node.key}-${number}`,
		id: null,
		leaf: null,
		label,
		number: null,
		row: null,
		depth: node.depth + 1,
		kids: [],
		text: "",
		...content
	};
}

/** True if the lanes are shown: as the switch says, or if they are few. */
export function lanesAreShown(view) {
	const nr =
		[...view.lanes.values()].reduce((sum, lane) => sum + lane.depths, 0) +
		[...view.servers.values()].reduce((sum, server) => sum + server.lanes, 0);

	return view.withLanes ?? nr <= FEW_LANES;
}

/** The answer of `servers` about the process of which @node is the row; undefined: it is no server. */
function serverOf(node, view) {
	const id = node.process?.id;

	return id !== undefined && view.tree.byRow.get(id)?.key === node.key ? view.servers.get(id) : undefined;
}

function requestNodes(node, view) {
	const server = serverOf(node, view),
		nr = Math.min(server?.lanes ?? 0, MOST_LANES);

	return Array.from({ length: nr }, (_, lane) =>
		laneNode(
			node,
			"requests",
			lane,
			lane + 1 === nr && server.lanes > nr
				? `and ${server.lanes - nr} lanes more`
				: lane
					? ""
					: `${server.requests} ${server.requests === 1 ? "request" : "requests"} of clients`,
			{ requests: { row: node.process.id, lane } }
		)
	);
}

function scopeNodes(node, view) {
	const lane = node.leaf === null ? undefined : view.lanes.get(node.leaf);

	return Array.from({ length: Math.min(lane?.depths ?? 0, MOST_LANES) }, (_, depth) =>
		laneNode(node, "lane", depth, depth ? "" : "scopes, requests", { lane: { row: node.leaf, depth } })
	);
}

/** The rows of numbers over time are below the CPUs. */
function withCounters(nodes, view) {
	const first = nodes.findLastIndex(node => node.row?.kind === "cpu") + 1;

	if (view.only || view.counters.length === 0) return nodes;
	return [
		...nodes.slice(0, first),
		...view.counters.map(name => laneNode({ key: "all", depth: -1 }, "counter", name, clean(name, 120), { counter: { name } })),
		...nodes.slice(first)
	];
}

function sampleNodes(node, view) {
	const nr = node.leaf === null || !view.withSamples ? undefined : view.sampled.get(node.leaf);

	return nr ? [laneNode(node, "samples", 0, `${nr} ${nr === 1 ? "sample" : "samples"}`, { samples: { row: node.leaf } })] : [];
}

/** @nodes, each with the nodes of its lanes behind it. */
export function withLanes(nodes, view) {
	return withCounters(withSamples(withLanesOnly(nodes, view), view), view);
}

function withSamples(nodes, view) {
	return view.withSamples ? nodes.flatMap(node => [node, ...sampleNodes(node, view)]) : nodes;
}

function withLanesOnly(nodes, view) {
	if ((view.lanes.size === 0 && view.servers.size === 0) || !lanesAreShown(view)) return nodes;
	return nodes.flatMap(node => [node, ...requestNodes(node, view), ...scopeNodes(node, view)]);
}
