// SPDX-License-Identifier: LGPL-2.1-or-later
// counters.js - numbers over time as rows: asks for the visible columns, paints them, and says what they are.
//
// A column has a count, a sum, the least and the greatest number. Where a number holds at each instant (kinds share and
// level), the sum is number times ns and the count is the ns, so that the mean is always the sum divided by the count;
// but an amount is divided by the time of the column.

import { ask, newest, question } from "./ask.js";
import { THEMES, pixelOf } from "./classes.js";
import { announce, byId, el, nameElement } from "./dom.js";
import { makeTable, count } from "./table.js";
import { bytesText, countText, durationText, percentText, pointText } from "./time.js";
import { updateRows, visibleColumns, visibleRows } from "./view.js";
import { clean } from "./words.js";

const MOST_SHOWN = 12,
	FEW_VALUES = 4;
const USUAL = ["threads that wait for a CPU", "bytes read", "bytes written", "lost events"];
const NONE = "No number over time is known yet: the trace is not read to its end.";
const known = new Map(); // by name: {key, kind, from, to, columns, at: Map from column to [column, count, sum, least, greatest]}
let asking = null;

/** The number of a column as it is drawn: the mean, or the amount in a second. @ns: its width */
export function meanOf(kind, [, nr, sum], ns) {
	return kind === "amount" ? (sum * 1e9) / ns : sum / nr;
}

function digits(n) {
	return Number.isInteger(n) ? countText(n) : Math.abs(n) >= 1000 ? countText(Math.round(n)) : String(Number(n.toPrecision(3)));
}

/** "12.5 MiB/s", "34 %", "1.25" */
export function numberOf(name, kind, n) {
	if (kind === "share") return percentText(n, 1);
	if (kind !== "amount") return digits(n);
	return name.startsWith("bytes ") ? `${bytesText(Math.round(n))}/s` : `${digits(n)}/s`;
}

/** What all columns have in common: the numbers at the bottom and the top of the row. */
function scaleOf({ kind, from, to, columns, at }) {
	const ns = (to - from) / columns,
		all = [...at.values()].flatMap(column => (kind === "amount" ? [meanOf(kind, column, ns)] : [column[3], column[4]]));

	return { low: all.reduce((a, b) => Math.min(a, b), 0), high: kind === "share" ? 1 : all.reduce((a, b) => Math.max(a, b), 0) };
}

/** The columns of a counter at the visible span; undefined: not asked yet. */
function columnsOf(name) {
	return known.get(name);
}

/**
 * The pixels of a column from its bottom: {mean: [begin, end), range: [begin, end)} of @height. A number that is not 0 has
 * one pixel at least.
 */
export function layCounter(found, column, height) {
	const { low, high } = found.scale,
		ns = (found.to - found.from) / found.columns,
		place = n => (high > low ? Math.round(((n - low) * height) / (high - low)) : 0);
	const mean = meanOf(found.kind, column, ns),
		[least, greatest] = found.kind === "amount" ? [mean, mean] : [column[3], column[4]];
	const zero = place(0),
		between = (a, b, isSome) => {
			const [begin, end] = [Math.min(place(a), place(b)), Math.max(place(a), place(b))];

			if (begin < end || !isSome) return [begin, end];
			return begin < height ? [begin, begin + 1] : [begin - 1, begin];
		};

	return { mean: between(0, mean, mean !== 0), range: between(least, greatest, greatest > least), zero };
}

/** Paints the row of a counter into the image of the timeline: the mean is dark, the range from least to greatest is pale. */
export function paintCounter({ view, picture, pixels, image, theme }, { name }, top) {
	const found = columnsOf(name),
		[dark, pale] = [pixelOf(THEMES[theme].accent), pixelOf(THEMES[theme].dim)],
		scale = (view.to - view.from) / picture.columns;

	for (let x = 0; found && x < picture.columns; x++) {
		const t = view.from + (x + 0.5) * scale,
			column = t < found.from || t >= found.to ? undefined : found.at.get(Math.floor(((t - found.from) * found.columns) / (found.to - found.from)));

		if (!column) continue;
		const { mean, range } = layCounter(found, column, picture.height);

		for (const [[begin, end], colour] of [
			[range, pale],
			[mean, dark]
		])
			for (let i = begin; i < end; i++) {
				const y = top + picture.height - 1 - i;

				if (y >= 0 && y < image.height) pixels[y * image.width + x] = colour;
			}
	}
}

/** The number at the top of a row, for its name. */
export function topText(name) {
	const found = columnsOf(name);

	return found ? numberOf(name, found.kind, found.scale.high) : "";
}

/** What the box at the pointer says of a counter at @t. */
export function counterLines(view, { name }, t) {
	const found = columnsOf(name),
		column = found?.at.get(Math.floor(((t - found.from) * found.columns) / (found.to - found.from))),
		ns = found && (found.to - found.from) / found.columns;
	const lines = [
		el("p", { class: "dim" }, pointText(t, (view.to - view.from) / view.width)),
		el("p", {}, el("strong", {}, nameElement(clean(name, 200))))
	];

	if (!column) return [...lines, el("p", { class: "dim" }, "No number is known here.")];
	const text = n => numberOf(name, found.kind, n),
		[, nr, , least, greatest] = column;

	lines.push(el("p", {}, `${text(meanOf(found.kind, column, ns))} in these ${durationText(ns)}`));
	if (found.kind === "value") lines.push(el("p", {}, `${countText(nr)} ${nr === 1 ? "event" : "events"}, least ${text(least)}, greatest ${text(greatest)}`));
	if (found.kind === "level") lines.push(el("p", {}, `least ${text(least)}, greatest ${text(greatest)}`));
	return lines;
}

async function askColumns(view, name, key, pixels) {
	const span = visibleColumns(view, pixels),
		answer = await ask(question("counters", { name, ...span }));
	const found = { key, kind: answer.kind, ...span, columns: answer.columns, at: new Map(answer.list.map(column => [column[0], column])) };

	known.set(name, { ...found, scale: scaleOf(found) });
	view.emit("paint");
}

/** Asks for the columns of the visible counters. */
export function completeCounters(view, picture) {
	if (view.counters.length === 0) return;
	asking ??= newest(
		async () => {
			const key = `${view.from}-${view.to}-${picture.columns}-${view.about.done_ns}`;

			for (const { node } of visibleRows(view))
				if (node.counter && columnsOf(node.counter.name)?.key !== key)
					await askColumns(view, node.counter.name, key, picture.columns).catch(() => {});
		},
		change => view.busy(change)
	);
	asking();
}

/** Those that are shown if none was chosen: the usual ones that the trace has, and a few of programs' fields. */
function usual(counters) {
	const names = counters.map(counter => counter.name),
		values = counters.filter(counter => counter.kind === "value").map(counter => counter.name);

	return [...USUAL.filter(name => names.includes(name)), ...values.slice(0, FEW_VALUES)];
}

function show(view, names) {
	view.counters = names.slice(0, MOST_SHOWN);
	byId("counters").setAttribute("aria-pressed", view.counters.length > 0);
	updateRows(view);
	view.emit("counters");
}

/** Shows the usual counters as rows below the CPUs, or hides all. */
export async function toggleCounters(view) {
	if (view.counters.length) {
		show(view, []);
		announce("Numbers over time are hidden.");
		return;
	}
	const { counters } = await ask("counters"),
		names = usual(counters);

	if (names.length === 0) {
		announce(NONE);
		return;
	}
	show(view, names);
	announce(`Shown as rows: ${names.map(name => clean(name)).join(", ")}.`);
}

/** All counters of the span in words; each can be shown as a row. */
export async function countersTable({ view }, span) {
	const { counters } = await ask(question("counters", span)),
		ns = span.to - span.from,
		column = counter => counter.list[0] ?? [0, 0, 0, 0, 0];
	const number = (title, value) => ({
		title,
		value: counter => (counter.list.length ? (value(counter) ?? 0) : 0),
		text: counter => {
			if (counter.cut) return "too many values";
			return counter.list.length && value(counter) !== null ? numberOf(counter.name, counter.kind, value(counter)) : "-";
		}
	});
	const extreme = index => counter => (counter.kind === "amount" ? null : column(counter)[index]);
	const choose = counter =>
		el(
			"input",
			{
				type: "checkbox",
				"aria-label": `Show ${clean(counter.name)} as a row`,
				checked: view.counters.includes(counter.name) ? "" : null,
				onchange: event =>
					show(
						view,
						event.target.checked
							? [...view.counters, counter.name]
							: view.counters.filter(name => name !== counter.name)
					)
			},
		);

	return makeTable(
		"Numbers over time",
		[
			{ title: "Row", cell: choose },
			{ title: "Number", text: counter => clean(counter.name, 200) },
			number("Mean", counter => meanOf(counter.kind, column(counter), ns)),
			number("Least", extreme(3)),
			number("Greatest", extreme(4)),
			count("Values", counter => (["value", "amount"].includes(counter.kind) ? column(counter)[1] : 0))
		],
		counters
	);
}
