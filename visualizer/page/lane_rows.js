// SPDX-License-Identifier: LGPL-2.1-or-later
// lane_rows.js - the rows of lanes, below the row of their thread.

const MOST_DEPTHS = 8,
	FEW_LANES = 6;

/** True if the lanes are shown: as the switch says, or if they are few. */
export function lanesAreShown(view) {
	return view.withLanes ?? [...view.lanes.values()].reduce((sum, lane) => sum + lane.depths, 0) <= FEW_LANES;
}

/** @nodes, with a node for each depth of scopes of a thread behind that of the thread. */
export function withLanes(nodes, view) {
	if (view.lanes.size === 0 || !lanesAreShown(view)) return nodes;
	return nodes.flatMap(node => {
		const lane = node.leaf === null ? undefined : view.lanes.get(node.leaf);

		return [
			node,
			...Array.from({ length: Math.min(lane?.depths ?? 0, MOST_DEPTHS) }, (_, depth) => ({
				key: `lane-${node.key}-${depth}`,
				id: null,
				leaf: null,
				label: depth ? "" : "scopes, requests",
				number: null,
				row: null,
				depth: node.depth + 1,
				kids: [],
				text: "",
				lane: { row: node.leaf, depth }
			}))
		];
	});
}
