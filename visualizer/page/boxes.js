// SPDX-License-Identifier: LGPL-2.1-or-later
// boxes.js - asks for the spans of visible rows that are wide enough for a text, row by row.

import { ask, newest, question } from "./ask.js";
import { wideParts } from "./picture.js";
import { visibleRows } from "./view.js";

const LEAST_PIXELS = 26, MOST_SPANS = 40, MOST_PARTS = 24;

/** The known spans of rows: spans.get(id) is a list in order of time. */
export function makeBoxes(view, picture) {
	return { view, picture, spans: new Map(), done: new Map(), ask: null };
}

async function askRow(boxes, node, isCurrent) {
	const { view, picture, spans, done } = boxes, key = `${Math.floor(view.from)}-${Math.ceil(view.to)}-${view.about.done_ns}`;
	const found = [];

	if (done.get(node.leaf) === key)
		return;
	for (const { from, to } of wideParts(picture, node.leaf, LEAST_PIXELS * devicePixelRatio, MOST_PARTS)) {
		const answer = await ask(question("spans", { row: node.leaf, from: Math.floor(from), to: Math.ceil(to), max: MOST_SPANS }));

		if (!isCurrent())
			return;
		found.push(...answer.spans.filter(span => span.from !== found.at(-1)?.from));
	}
	done.set(node.leaf, key);
	spans.set(node.leaf, found);
	view.emit("paint");
}

/** Completes the boxes of the visible rows; what was asked for another span is given up. */
export function completeBoxes(boxes) {
	const { view } = boxes;

	boxes.ask ??= newest(async () => {
		const { from, to, scroll } = view, isCurrent = () => view.from === from && view.to === to && view.scroll === scroll;

		for (const { node } of visibleRows(view)) {
			if (!isCurrent())
				return;
			if (node.leaf !== null)
				await askRow(boxes, node, isCurrent).catch(() => {});
		}
	}, change => view.busy(change));
	boxes.ask();
}
