// SPDX-License-Identifier: LGPL-2.1-or-later
// hover.js - the box beside the pointer: time, shares of the column, state, object, holders of the CPU.

import { ask, newest, question } from "./ask.js";
import { billedText } from "./clients.js";
import { counterLines } from "./counters.js";
import { byId, el, nameElement } from "./dom.js";
import { laneLines } from "./lanes.js";
import { isAbsent, sharesAt } from "./picture.js";
import { requestLines } from "./requests.js";
import { completeStack, sampleLines } from "./samples.js";
import { swatch } from "./swatch.js";
import { durationText, percentText, pointText, wallText } from "./time.js";
import { rowText } from "./walk.js";
import { classLabel, clean, processText, spanSentence, wokenText } from "./words.js";

const MOST_CLASSES = 5,
	MOST_HOLDERS = 3;

function sharesLines(found) {
	const parts = [...found.ns]
		.map((ns, number) => ({ ns, number }))
		.filter(p => p.ns > 0)
		.sort((a, b) => b.ns - a.ns);
	const sum = parts.reduce((s, p) => s + p.ns, 0);

	if (parts.length < 2) return [];
	return [
		el("p", { class: "dim" }, `In these ${durationText(found.to - found.from)}:`),
		...parts
			.slice(0, MOST_CLASSES)
			.map(({ ns, number }) =>
				el("p", {}, swatch(number), ` ${classLabel(number)} ${durationText(ns)} (${percentText(ns, sum)})`)
			),
		parts.length > MOST_CLASSES ? el("p", { class: "dim" }, `and ${parts.length - MOST_CLASSES} more`) : null
	];
}

export function holderLines(span, most) {
	const holders = span.holders ?? [];

	return [
		holders.length ? el("p", { class: "dim" }, "The CPU was used by") : null,
		...holders
			.slice(0, most)
			.map(({ thread, state, ns }) =>
				el("p", {}, nameElement(thread ? processText(thread) : clean(state)), ` ${durationText(ns)}`)
			),
		holders.length > most ? el("p", { class: "dim" }, `and ${holders.length - most} more threads`) : null
	];
}

function fill(box, view, node, t, shares, span) {
	const start = BigInt(view.about.start_realtime_ns || 0),
		distance = (view.to - view.from) / view.width;

	box.replaceChildren(
		...[
			el("p", { class: "dim" }, `${pointText(t, distance)}${start ? `, ${wallText(t, start, 6)} UTC` : ""}`),
			el("p", {}, el("strong", {}, nameElement(rowText(view, node.id)))),
			span ? el("p", {}, swatch(span.class), " ", nameElement(spanSentence(span, rowText(view, node.id)))) : null,
			span?.waker ? el("p", {}, "Ended by ", nameElement(processText(span.waker))) : null,
			span?.woken ? el("p", {}, nameElement(wokenText(clean(span.woken.in, 120)).replace(/^w/, "W"))) : null,
			span?.billed ? el("p", {}, nameElement(billedText(span.billed))) : null,
			...(span ? holderLines(span, MOST_HOLDERS) : []),
			...(shares ? sharesLines(shares) : [])
		].filter(Boolean)
	);
}

/** On a name: all of it, and what the row is. */
function fillName(box, view, node) {
	const { row } = node,
		numbers =
			row.kind === "cpu"
				? ""
				: row.kind === "thread" && row.tid !== row.pid
					? `thread ${row.tid} of process ${row.pid}`
					: `process ${row.pid}`;

	box.replaceChildren(
		el("p", {}, el("strong", {}, nameElement(clean(row.title || row.name || node.label, 600)))),
		el("p", {}, numbers),
		el("p", { class: "dim" }, `${durationText(row.busy_ns)} not at rest`)
	);
}

/** Moves the box to the pointer, inside the canvas. */
function put(box, view, { x, y }) {
	const left = x + 16 + box.offsetWidth > view.labelWidth + view.width ? x - 16 - box.offsetWidth : x + 16;
	const top = Math.max(0, Math.min(view.height - box.offsetHeight - 4, y + 18));

	box.style.transform = `translate(${Math.round(Math.max(0, left))}px, ${Math.round(top)}px)`;
}

/** Returns the function to call when the pointer has moved. */
export function makeHover(view, picture) {
	const box = byId("hover"),
		at = newest(
			(row, t) => ask(question("at", { row, t })),
			change => view.busy(change)
		);

	const stackAt = newest(
		(lane, t) => completeStack(view, lane, t),
		change => view.busy(change)
	);
	const showStack = async (lane, hover) => {
		if (!(await stackAt(lane, hover.t)) || view.hover !== hover) return;
		box.replaceChildren(...sampleLines(view, lane, hover.t));
		put(box, view, hover);
	};

	return async () => {
		const { hover } = view,
			node = hover?.node;

		view.emit("paint");
		if (node?.row && hover.t === null) {
			fillName(box, view, node);
			box.hidden = false;
			put(box, view, hover);
			return;
		}
		const lines =
			hover === null || hover.t === null
				? []
				: node?.lane
					? laneLines(view, node.lane, hover.t)
					: node?.requests
						? requestLines(view, node.requests, hover.t)
						: node?.samples
							? sampleLines(view, node.samples, hover.t)
							: node?.counter
								? counterLines(view, node.counter, hover.t)
								: [];

		if (lines.length) {
			box.replaceChildren(...lines);
			box.hidden = false;
			put(box, view, hover);
			if (node.samples) await showStack(node.samples, hover);
			return;
		}
		if (!node || node.id === null) {
			box.hidden = true;
			return;
		}
		const shares = sharesAt(picture, node.id, hover.t);

		fill(
			box,
			view,
			node,
			hover.t,
			shares,
			box.dataset.row === String(node.id) && box.span?.from <= hover.t && box.span?.to > hover.t ? box.span : null
		);
		box.hidden = false;
		put(box, view, hover);
		if (node.leaf === null || isAbsent(shares)) return;
		const span = await at(node.leaf, Math.max(0, Math.floor(hover.t))).catch(() => null);

		if (!span || view.hover !== hover) return;
		box.span = span;
		box.dataset.row = node.id;
		fill(box, view, node, hover.t, shares, span);
		put(box, view, hover);
	};
}
