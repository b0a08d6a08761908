// SPDX-License-Identifier: LGPL-2.1-or-later
// overlay.js - draws over the bars: the measured span, losses, the chain of waits, the critical path, the selection.

import { AXIS_HEIGHT, BAR_HEIGHT, ROW_HEIGHT, xAt } from "./view.js";
import { shownIndex } from "./rows.js";

/** The top of the bar of row @id, or of the row that it is folded into; null: not shown. */
function barTop(view, id) {
	const index = shownIndex(view.tree, view.shown, id);

	return index < 0 ? null : AXIS_HEIGHT + index * ROW_HEIGHT - view.scroll + (ROW_HEIGHT - BAR_HEIGHT) / 2;
}

/** A vertical arrow at @x, from the bar at @from to the bar at @to, with a light border. */
function drawArrow(context, colours, x, from, to) {
	const down = to > from, begin = down ? from + BAR_HEIGHT : from, end = down ? to : to + BAR_HEIGHT, tip = down ? -6 : 6;

	for (const [colour, width] of [[colours.background, 5], [colours.strong, 2]]) {
		context.strokeStyle = colour;
		context.lineWidth = width;
		context.beginPath();
		context.moveTo(x, begin);
		context.lineTo(x, end);
		context.moveTo(x - 5, end + tip);
		context.lineTo(x, end);
		context.lineTo(x + 5, end + tip);
		context.stroke();
	}
}

function drawRange(context, view, colours) {
	if (!view.range)
		return;
	const x = xAt(view, view.range.from), end = xAt(view, view.range.to);

	context.fillStyle = colours.accent;
	context.globalAlpha = 0.12;
	context.fillRect(x, AXIS_HEIGHT, end - x, view.height);
	context.globalAlpha = 1;
	context.fillRect(x - 1, AXIS_HEIGHT, 2, view.height);
	context.fillRect(end - 1, AXIS_HEIGHT, 2, view.height);
}

/** Where events of a CPU were lost, its row is hatched. */
function drawGaps(context, view, colours) {
	for (const node of view.shown) {
		if (node.row?.kind !== "cpu")
			continue;
		const y = barTop(view, node.id);

		for (const gap of view.about.gaps ?? []) {
			if (gap.cpu !== node.row.cpu)
				continue;
			const x = Math.max(view.labelWidth, xAt(view, gap.from)), end = Math.min(view.labelWidth + view.width, Math.max(x + 2, xAt(view, gap.to)));

			context.fillStyle = colours.strong;
			for (let at = x; at < end; at += 4)
				context.fillRect(at, y, 1, BAR_HEIGHT);
		}
	}
}

function drawChain(context, view, colours) {
	const links = [...view.chain, view.span].filter(Boolean);

	for (let i = 0; i + 1 < links.length; i++) {
		const waker = barTop(view, links[i + 1].row), woken = barTop(view, links[i].row);

		if (waker !== null && woken !== null && waker !== woken)
			drawArrow(context, colours, xAt(view, links[i].to), waker, woken);
	}
}

function outline(context, colours, x, y, end) {
	context.lineWidth = 4;
	context.strokeStyle = colours.background;
	context.strokeRect(x, y, Math.max(1, end - x), BAR_HEIGHT);
	context.lineWidth = 2;
	context.strokeStyle = colours.strong;
	context.strokeRect(x, y, Math.max(1, end - x), BAR_HEIGHT);
}

function drawPath(context, view, colours) {
	const tops = new Map();
	let last = null;

	for (const part of view.path?.parts ?? []) {
		if (part.to < view.from || part.from > view.to)
			continue;
		if (!tops.has(part.row))
			tops.set(part.row, barTop(view, part.row));
		const y = tops.get(part.row), x = xAt(view, part.from), end = xAt(view, part.to);

		if (y === null)
			continue;
		outline(context, colours, x, y, end);
		if (last !== null && last !== y) {
			context.lineWidth = 2;
			context.strokeStyle = colours.strong;
			context.beginPath();
			context.moveTo(x, last < y ? last + BAR_HEIGHT : last);
			context.lineTo(x, last < y ? y : y + BAR_HEIGHT);
			context.stroke();
		}
		last = y;
	}
}

function drawSelection(context, view, colours) {
	for (const span of [...view.chain, view.span].filter(Boolean)) {
		const y = barTop(view, span.row);

		if (y !== null)
			outline(context, colours, xAt(view, span.from), y, xAt(view, span.to));
	}
}

function drawPointer(context, view, colours) {
	if (!view.hover)
		return;
	context.fillStyle = colours.dim;
	context.fillRect(Math.round(view.hover.x), AXIS_HEIGHT, 1, view.height);
}

export function drawOverlay(context, view, colours) {
	drawRange(context, view, colours);
	drawGaps(context, view, colours);
	drawPath(context, view, colours);
	drawSelection(context, view, colours);
	drawChain(context, view, colours);
	drawPointer(context, view, colours);
}
