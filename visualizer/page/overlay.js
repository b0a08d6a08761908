// SPDX-License-Identifier: LGPL-2.1-or-later
// overlay.js - draws over the bars: the measured span, losses, the chain of waits, the critical path, the selection.

import { AXIS_HEIGHT, BAR_HEIGHT, ROW_HEIGHT, xAt } from "./view.js";
import { shownIndex } from "./rows.js";

/** A function from the id of a row to the top of its bar, or of the row that it is folded into; null: not shown. */
function makeTops(view) {
	const tops = new Map();
	let places = null; // of the shown nodes, by key

	return id => {
		places ??= new Map(view.shown.map((node, index) => [node.key, index]).reverse()); // a pinned row comes first
		if (!tops.has(id)) {
			const index = shownIndex(view.tree, places, id);

			tops.set(
				id,
				index === undefined
					? null
					: AXIS_HEIGHT + index * ROW_HEIGHT - view.scroll + (ROW_HEIGHT - BAR_HEIGHT) / 2
			);
		}
		return tops.get(id);
	};
}

/** A vertical arrow at @x, from the bar at @from to the bar at @to, with a light border. */
function drawArrow(context, colours, x, from, to) {
	const down = to > from,
		begin = down ? from + BAR_HEIGHT : from,
		end = down ? to : to + BAR_HEIGHT,
		tip = down ? -6 : 6;

	for (const [colour, width] of [
		[colours.background, 5],
		[colours.strong, 2]
	]) {
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
	if (!view.range) return;
	const x = xAt(view, view.range.from),
		end = xAt(view, view.range.to);

	context.fillStyle = colours.background; // what is outside becomes pale, so that the colours of the span stay
	context.globalAlpha = 0.5;
	context.fillRect(view.labelWidth, AXIS_HEIGHT, Math.max(0, x - view.labelWidth), view.height);
	context.fillRect(end, AXIS_HEIGHT, Math.max(0, view.labelWidth + view.width - end), view.height);
	context.globalAlpha = 1;
	context.fillStyle = colours.accent;
	context.fillRect(x - 1, AXIS_HEIGHT, 2, view.height);
	context.fillRect(end - 1, AXIS_HEIGHT, 2, view.height);
}

const GAP_HEIGHT = 5;

/** Where events of a CPU were lost, the lower edge of its row is hatched. The texts of boxes are drawn over it. */
export function drawGaps(context, view, colours) {
	const topOf = makeTops(view);

	for (const node of view.about.gaps?.length ? view.shown : []) {
		if (node.row?.kind !== "cpu") continue;
		const y = topOf(node.id);

		for (const gap of view.about.gaps ?? []) {
			if (gap.cpu !== node.row.cpu) continue;
			const x = Math.max(view.labelWidth, xAt(view, gap.from)),
				end = Math.min(view.labelWidth + view.width, Math.max(x + 2, xAt(view, gap.to)));

			context.fillStyle = colours.strong;
			for (let at = x; at < end; at += 4) context.fillRect(at, y + BAR_HEIGHT - GAP_HEIGHT, 1, GAP_HEIGHT);
		}
	}
}

function drawChain(context, view, colours, topOf) {
	const links = [...view.chain, view.span].filter(Boolean);

	for (let i = 0; i + 1 < links.length; i++) {
		const waker = topOf(links[i + 1].row),
			woken = topOf(links[i].row);

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

/** The parts of the path in pixels: Map from the top of a bar to [[x, end]]; those closer than 1 are one. */
function pathPixels(view, topOf) {
	const byTop = new Map();

	for (const part of view.path.parts) {
		const y = topOf(part.row),
			x = xAt(view, part.from),
			end = xAt(view, part.to),
			last = byTop.get(y)?.at(-1);

		if (y === null) continue;
		if (last && x - last[1] < 1) last[1] = end;
		else if (last) byTop.get(y).push([x, end]);
		else byTop.set(y, [[x, end]]);
	}
	return byTop;
}

/** What is not on the path becomes pale; lines lead from row to row where the path does. */
function drawPath(context, view, colours, topOf) {
	const right = view.labelWidth + view.width;
	let last = null,
		lastX = -9;

	if (!view.path) return;
	const byTop = pathPixels(view, topOf);

	for (let i = 0; i < view.shown.length; i++) {
		const y = AXIS_HEIGHT + i * ROW_HEIGHT - view.scroll + (ROW_HEIGHT - BAR_HEIGHT) / 2,
			parts = byTop.get(y) ?? [];
		let begin = view.labelWidth;

		if (y > view.height || y + ROW_HEIGHT < AXIS_HEIGHT) continue;
		for (const [x, end] of [...parts, [right, right]]) {
			context.fillStyle = colours.background;
			context.globalAlpha = 0.72;
			context.fillRect(begin, y, Math.max(0, x - begin), BAR_HEIGHT);
			context.globalAlpha = 1;
			context.fillStyle = colours.strong;
			context.fillRect(x, y - 2, Math.max(1, end - x), 2);
			context.fillRect(x, y + BAR_HEIGHT, Math.max(1, end - x), 2);
			begin = Math.max(begin, end);
		}
	}
	context.fillStyle = colours.strong;
	for (const part of view.path.parts) {
		const y = topOf(part.row),
			x = xAt(view, part.from);

		if (y === null || x < view.labelWidth - 1 || x > right) continue;
		if (last !== null && last !== y && x - lastX >= 3) {
			context.fillRect(Math.round(x), Math.min(last, y) + BAR_HEIGHT, 1, Math.abs(y - last) - BAR_HEIGHT);
			lastX = x;
		}
		last = y;
	}
}

function drawSelection(context, view, colours, topOf) {
	for (const span of [...view.chain, view.span].filter(Boolean)) {
		const y = topOf(span.row);

		if (y !== null) outline(context, colours, xAt(view, span.from), y, xAt(view, span.to));
	}
}

function drawPointer(context, view, colours) {
	if (!view.hover || view.hover.t === null) return;
	context.fillStyle = colours.dim;
	context.fillRect(Math.round(view.hover.x), AXIS_HEIGHT, 1, view.height);
}

export function drawOverlay(context, view, colours) {
	const topOf = makeTops(view);

	drawRange(context, view, colours);
	drawPath(context, view, colours, topOf);
	drawSelection(context, view, colours, topOf);
	drawChain(context, view, colours, topOf);
	drawPointer(context, view, colours);
}
