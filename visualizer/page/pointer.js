// SPDX-License-Identifier: LGPL-2.1-or-later
// pointer.js - mouse, wheel and touch on the canvas.

import { measureScope } from "./lanes.js";
import { clickRequest } from "./requests.js";
import { AXIS_HEIGHT, pan, scrollRows, showSpan, timeAt, toggleNode, visibleRows, zoom } from "./view.js";
import { selectRow, selectSpan, zoomToSelection } from "./walk.js";

const CLICK_PIXELS = 4;

function nodeAt(view, y) {
	return y < AXIS_HEIGHT
		? null
		: (visibleRows(view)
				.filter(row => row.y <= y)
				.at(-1)?.node ?? null);
}

function place(canvas, event) {
	const box = canvas.getBoundingClientRect();

	return { x: event.clientX - box.left, y: event.clientY - box.top };
}

function onWheel(view, canvas, event) {
	const { x } = place(canvas, event),
		unit = event.deltaMode === 1 ? 20 : event.deltaMode === 2 ? 400 : 1;
	const dx = event.deltaX * unit,
		dy = event.deltaY * unit;

	event.preventDefault();
	if (event.ctrlKey) zoom(view, Math.exp(dy * 0.01), timeAt(view, x));
	else if (event.shiftKey || Math.abs(dx) > Math.abs(dy))
		pan(view, ((dx || dy) * (view.to - view.from)) / view.width);
	else if (event.altKey || x < view.labelWidth) scrollRows(view, dy);
	else zoom(view, Math.exp(dy * 0.002), timeAt(view, x));
}

function click(walk, { x, y }) {
	const { view } = walk,
		node = nodeAt(view, y);

	if (!node) return;
	if (x < view.labelWidth && node.kids.length && (x < 30 + node.depth * 14 || node.id === null))
		toggleNode(view, node);
	else if (node.lane) measureScope(view, node.lane, timeAt(view, x));
	else if (node.requests) clickRequest(walk, node.requests, timeAt(view, x));
	else if (x < view.labelWidth || node.leaf === null) {
		if (node.id !== null) selectRow(walk, node.leaf ?? node.id);
	} else selectSpan(walk, node.leaf, timeAt(view, x));
}

function drag(view, gesture, now) {
	const span = view.to - view.from;

	if (gesture.isMeasuring) {
		const [from, to] = [
			timeAt(view, Math.max(view.labelWidth, gesture.start.x)),
			timeAt(view, Math.max(view.labelWidth, now.x))
		].sort((a, b) => a - b);

		view.range = { from: Math.max(0, Math.floor(from)), to: Math.min(view.duration, Math.ceil(to)) };
		view.emit("paint");
		return;
	}
	pan(view, ((gesture.last.x - now.x) * span) / view.width);
	scrollRows(view, gesture.last.y - now.y);
}

/** Two fingers: the times below them stay below them. */
function pinch(view, before, after) {
	const [a, b] = before,
		[c, d] = after;

	if (Math.abs(a.x - b.x) < 8 || Math.abs(c.x - d.x) < 8) return;
	const left = timeAt(view, a.x),
		scale = (timeAt(view, b.x) - left) / (d.x - c.x);
	const from = left - (c.x - view.labelWidth) * scale;

	if (scale > 0) showSpan(view, from, from + scale * view.width);
}

/** Listens to the canvas. @hover: called when the pointer is at another place, or has left. */
export function listenToPointer(canvas, walk, hover) {
	const { view } = walk,
		pointers = new Map();
	let gesture = null;

	canvas.addEventListener("wheel", event => onWheel(view, canvas, event), { passive: false });
	canvas.addEventListener("pointerdown", event => {
		const start = place(canvas, event);

		if (event.button !== 0) return;
		canvas.setPointerCapture(event.pointerId);
		pointers.set(event.pointerId, start);
		gesture = {
			start,
			last: start,
			isDragging: pointers.size > 1,
			isMeasuring: start.x >= view.labelWidth && (event.shiftKey || start.y < AXIS_HEIGHT)
		};
	});
	canvas.addEventListener("pointermove", event => {
		const now = place(canvas, event),
			before = [...pointers.values()];

		if (!pointers.has(event.pointerId)) {
			view.hover = { ...now, t: now.x < view.labelWidth ? null : timeAt(view, now.x), node: nodeAt(view, now.y) };
			hover();
			return;
		}
		pointers.set(event.pointerId, now);
		if (pointers.size === 2) pinch(view, before, [...pointers.values()]);
		else if (
			gesture &&
			(gesture.isDragging ||= Math.hypot(now.x - gesture.start.x, now.y - gesture.start.y) >= CLICK_PIXELS)
		)
			drag(view, gesture, now);
		if (gesture) gesture.last = now;
	});
	const end = event => {
		if (!pointers.delete(event.pointerId) || !gesture || pointers.size) return;
		if (event.type === "pointerup" && !gesture.isDragging) click(walk, gesture.start);
		else if (gesture.isMeasuring) view.emit("range");
		gesture = null;
	};

	canvas.addEventListener("pointerup", end);
	canvas.addEventListener("pointercancel", end);
	canvas.addEventListener("pointerleave", () => {
		view.hover = null;
		hover();
	});
	canvas.addEventListener("dblclick", () => zoomToSelection(walk));
}
