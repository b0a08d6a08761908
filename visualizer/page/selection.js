// SPDX-License-Identifier: LGPL-2.1-or-later
// selection.js - the panel of the selected row, span, chain or critical path.

import { FILE, INTERRUPTED, NETWORK, PROCESS, REST, SYSCALL, TIMEOUT, TRAP, UNKNOWN, USER, WAIT_CPU } from "./classes.js";
import { byId, el, linkButton, nameElement } from "./dom.js";
import { holderLines } from "./hover.js";
import { functionLine } from "./samples.js";
import { swatch } from "./swatch.js";
import { durationText, numberText, percentText, pointText } from "./time.js";
import { clauses } from "./verdict.js";
import {
	canFollow,
	follow,
	goBack,
	goTo,
	holderOf,
	leavePath,
	nextOf,
	rowText,
	selectSpan,
	timesOnPath,
	togglePath,
	zoomToSelection
} from "./walk.js";
import { boxText, classLabel, clean, processText, stateText, traceFacts } from "./words.js";

const MOST_FUNCTIONS = 14,
	MOST_HOLDERS = 6,
	MOST_PARTS = 12;

function button(text, key, action, enabled = true) {
	return el(
		"button",
		{ type: "button", onclick: action, disabled: !enabled },
		text,
		key ? el("kbd", { "aria-hidden": "true" }, key) : null
	);
}

function definitions(pairs) {
	return el("dl", {}, ...pairs.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, nameElement(text))]));
}

function facts(span) {
	const distance = Math.max(1, (span.to - span.from) / 1000);
	const pairs = [
		["State", stateText(span)],
		["Call", clean(span.name)],
		["Lock", clean(span.path)],
		["Length", durationText(span.to - span.from)],
		["Begins", pointText(span.from, distance)],
		["CPU", span.cpu === undefined || span.cpu === null ? "" : String(span.cpu)],
		["Ended by", span.waker ? processText(span.waker) : ""],
		["Woken in", span.woken ? clean(span.woken.in, 120) : ""]
	];

	return definitions(pairs.filter(([, text]) => text));
}

/** The functions of what ended a wait, the innermost first. */
function wokenList({ woken }) {
	const functions = woken?.stack ?? [];

	return [
		functions.length ? el("h3", {}, "What woke it") : null,
		...functions.slice(0, MOST_FUNCTIONS).map((found, i) => functionLine(found, i === 0)),
		functions.length > MOST_FUNCTIONS
			? el("p", { class: "dim" }, `and ${functions.length - MOST_FUNCTIONS} more callers`)
			: null
	];
}

function chainList(walk) {
	const { view } = walk,
		links = [...view.chain, view.span];

	if (links.length < 2) return null;
	return [
		el("h3", {}, "The chain"),
		el(
			"ol",
			{ class: "chain" },
			...links.map((span, i) =>
				el(
					"li",
					{},
					linkButton(
						clean(span.sentence || boxText(span)),
						() => selectSpan(walk, span.row, span.from, links.slice(0, i)),
						swatch(span.class),
						" "
					)
				)
			)
		)
	];
}

function spanContent(walk) {
	const { view } = walk,
		{ span } = view;

	return [
		el("h2", {}, swatch(span.class), " ", nameElement(clean(span.sentence, 800))),
		el(
			"p",
			{ class: "buttons" },
			button(followText(view), "Enter", () => follow(walk), canFollow(view)),
			view.chain.length ? button("Back", "Backspace", () => goBack(walk)) : null,
			button("Zoom to it", "z", () => zoomToSelection(walk)),
			button("Critical path", "c", () => togglePath(walk))
		),
		chainList(walk),
		facts(span),
		...wokenList(span),
		...holderLines(span, MOST_HOLDERS)
	];
}

function followText(view) {
	const next = nextOf(view.span) ?? holderOf(view.span);

	return next
		? `Follow to ${rowText(view, next.row)}${holderOf(view.span) ? ", which had the CPU" : ""}`
		: canFollow(view)
			? "Its longest wait meanwhile"
			: "The chain ends here";
}

/** The rows of a path with their time on it, the longest first. */
function pathRows(path) {
	return [...timesOnPath(path.parts)].sort((a, b) => b[1] - a[1]);
}

/** Selects what the thread of a row did at the begin of its longest part of the path. */
function goToPart(walk, { parts }, row) {
	const longest = parts.filter(part => part.row === row).reduce((best, part) => (part.ns > best.ns ? part : best));

	selectSpan(walk, row, longest.from);
}

function pathContent(walk) {
	const { view } = walk,
		{ path } = view,
		rows = pathRows(path),
		longest = path.segments
			.slice()
			.sort((a, b) => b.to - b.from - (a.to - a.from))
			.slice(0, MOST_PARTS);
	const whole = path.to - path.from;

	return [
		el("h2", {}, "Critical path of ", nameElement(rowText(view, path.row))),
		el("p", {}, ...clauses(path.sentence ?? [], walk)),
		el(
			"p",
			{ class: "buttons" },
			button("Leave the path", "c", () => leavePath(walk))
		),
		el("h3", {}, "Threads on it"),
		el(
			"ol",
			{},
			...rows
				.slice(0, MOST_PARTS)
				.map(([row, ns]) =>
					el(
						"li",
						{},
						linkButton(rowText(view, row), () => goToPart(walk, path, row)),
						` ${durationText(ns)} (${percentText(ns, whole)})`
					)
				)
		),
		rows.length > MOST_PARTS ? el("p", { class: "dim" }, `and ${rows.length - MOST_PARTS} more threads`) : null,
		path.precision_ns
			? el(
					"p",
					{ class: "dim" },
					`${numberText(path.nr_segments, "segment")}: pieces of a thread that are closer than ${durationText(path.precision_ns)} are drawn as one. A shorter span shows more.`
				)
			: null,
		el("h3", {}, "Longest parts"),
		el(
			"ol",
			{},
			...longest.map(part =>
				el(
					"li",
					{},
					linkButton(
						`${rowText(view, part.row)}: ${boxText(part)}`,
						() => selectSpan(walk, part.row, part.from),
						swatch(part.class),
						" "
					),
					` ${durationText(part.to - part.from)}`
				)
			)
		)
	];
}

function rowContent(walk) {
	const { view } = walk,
		node = view.tree.byRow.get(view.row),
		row = node?.row;

	if (!row) return [el("p", { class: "dim" }, "Nothing is selected.")];
	const life =
		row.from > 0 || row.to < view.duration
			? `It lives from ${pointText(row.from, 1000)} to ${pointText(row.to, 1000)}.`
			: "";

	return [
		el("h2", {}, nameElement(rowText(view, view.row))),
		el(
			"p",
			{},
			row.kind === "cpu"
				? "The threads that ran on this CPU."
				: `${durationText(row.busy_ns)} of its time it was not at rest. ${life}`
		),
		el(
			"p",
			{ class: "buttons" },
			button("Zoom to its life", "", () => goTo(walk, view.row, row.from, row.to)),
			row.kind === "cpu" ? null : button("Critical path", "c", () => togglePath(walk), node.leaf !== null)
		),
		node.kids.length
			? el("p", { class: "dim" }, `It has ${node.kids.length} threads: Space shows or hides them.`)
			: null
	];
}

/** The colours that most traces have; the help has all. */
function usualColours() {
	return el(
		"ul",
		{ class: "colours", "aria-label": "Colours of the rows" },
		...[USER, SYSCALL, TRAP, INTERRUPTED, WAIT_CPU, FILE, PROCESS, NETWORK, TIMEOUT, REST, UNKNOWN].map(number =>
			el("li", {}, swatch(number), ` ${classLabel(number)}`)
		)
	);
}

function nothingContent({ about }) {
	return [
		el("h2", {}, "Nothing is selected"),
		el(
			"p",
			{ class: "dim" },
			"Click a span to see what it is, and follow a wait to the thread that ended it. Drag on the time axis to measure a span. ? shows all keys."
		),
		usualColours(),
		definitions(about ? traceFacts(about) : [])
	];
}

/** Shows the selection, now and after each change. */
export function showSelection(walk) {
	const { view } = walk;
	const update = () => {
		const content =
			view.path && (!view.span || view.span === view.path.before)
				? pathContent(walk)
				: view.span
					? spanContent(walk)
					: view.row !== null
						? rowContent(walk)
						: nothingContent(view);

		byId("selection").replaceChildren(...content.flat().filter(Boolean));
	};

	view.on("selection", update);
	update();
}
