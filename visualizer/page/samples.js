// SPDX-License-Identifier: LGPL-2.1-or-later
// samples.js - the samples of threads as lanes: asks for the visible columns, paints them, and says the stack of one.

import { ask, newest, question } from "./ask.js";
import { THEMES, pixelOf } from "./classes.js";
import { announce, byId, el, nameElement } from "./dom.js";
import { countText, durationText, pointText } from "./time.js";
import { updateRows, visibleColumns, visibleRows } from "./view.js";
import { clean } from "./words.js";

const MOST_FUNCTIONS = 14, // in the box at the pointer
	NEAR_PIXELS = 4;
const NONE = "The trace has no samples: tracedaemon --sample records some.";
const ENDS = {
	whole: "",
	cut: "more callers than are recorded",
	incomplete: "its callers are not known"
};
const known = new Map(); // by row: {key, from, to, columns, most, at: Map from column to the number of samples}
let asking = null,
	stack = null; // the last one that was asked for: {row, t, within, answer}

/** Asks which threads have samples, and shows them or not. */
export async function showSamples(view, wanted) {
	view.withSamples = wanted && view.about.samples;
	byId("samples").setAttribute("aria-pressed", view.withSamples);
	if (view.withSamples) {
		view.busy(1);
		try {
			const { rows, cut } = await ask("sampled");

			view.sampled = new Map(rows.map(({ row, samples }) => [row, samples]));
			view.cut.samples = cut;
			view.emit("cut");
		} finally {
			view.busy(-1);
		}
	}
	updateRows(view);
	view.emit("samples");
}

export async function toggleSamples(view) {
	if (!view.about.samples) {
		announce(NONE);
		return;
	}
	await showSamples(view, !view.withSamples);
	announce(view.withSamples ? "The samples of threads are shown." : "The samples of threads are hidden.");
}

/** The pixels of a column with @nr samples: all of @height if no column has more. */
export function markHeight(nr, most, height) {
	return nr ? Math.max(2, Math.round((nr * height) / most)) : 0;
}

function columnAt(found, t) {
	return t < found.from || t >= found.to
		? undefined
		: Math.floor(((t - found.from) * found.columns) / (found.to - found.from));
}

/** Paints a mark for each sample, or higher ones for more, into the image of the timeline. */
export function paintSamples({ view, picture, pixels, image, theme }, { row }, top) {
	const found = known.get(row),
		colour = pixelOf(THEMES[theme].accent),
		scale = (view.to - view.from) / picture.columns;

	for (let x = 0; found && x < picture.columns; x++) {
		const nr = found.at.get(columnAt(found, view.from + (x + 0.5) * scale)) ?? 0;

		for (let i = 0; i < markHeight(nr, found.most, picture.height); i++) {
			const y = top + picture.height - 1 - i;

			if (y >= 0 && y < image.height) pixels[y * image.width + x] = colour;
		}
	}
}

async function askColumns(view, row, key, pixels) {
	const span = visibleColumns(view, pixels),
		{ list } = await ask(question("samples", { row, ...span }));

	known.set(row, {
		key,
		...span,
		most: list.reduce((most, [, nr]) => Math.max(most, nr), 1),
		at: new Map(list)
	});
	view.emit("paint");
}

/** Asks for the samples of the visible lanes. */
export function completeSamples(view, picture) {
	if (!view.withSamples) return;
	asking ??= newest(
		async () => {
			const key = `${view.from}-${view.to}-${picture.columns}-${view.about.done_ns}`;

			for (const { node } of visibleRows(view))
				if (node.samples && known.get(node.samples.row)?.key !== key)
					await askColumns(view, node.samples.row, key, picture.columns).catch(() => {});
		},
		change => view.busy(change)
	);
	asking();
}

/** The number of samples in the visible columns of a lane; 0: none, or not asked yet. */
export function samplesShown({ row }) {
	return [...(known.get(row)?.at.values() ?? [])].reduce((sum, nr) => sum + nr, 0);
}

export function functionLine(found, isInnermost) {
	const name = found.function ? clean(found.function, 120) : `(no name: ${clean(found.why, 80)})`,
		place = found.source ? `${clean(found.source.replace(/.*\//, ""), 60)}:${found.line}` : clean(found.file, 60);

	return el(
		"p",
		{},
		isInnermost ? el("strong", {}, nameElement(name)) : nameElement(name),
		found.inlined ? " (inlined)" : "",
		" ",
		el("span", { class: "dim" }, place)
	);
}

/** What the box at the pointer says of a lane at @t: the number of samples in the column, and the stack of the nearest. */
export function sampleLines(view, lane, t) {
	const found = known.get(lane.row),
		column = found && columnAt(found, t),
		nr = (column !== undefined && found.at.get(column)) || 0,
		answer = stack && isStackOf(view, lane, t) ? stack.answer : null;

	return [
		el("p", { class: "dim" }, pointText(answer?.found ? answer.t : t, (view.to - view.from) / view.width)),
		nr > 1
			? el("p", { class: "dim" }, `${countText(nr)} samples in these ${durationText((found.to - found.from) / found.columns)}, one of them:`)
			: null,
		...(answer?.found ? stackLines(answer) : [el("p", { class: "dim" }, answer ? "No sample is here." : "\u2026")])
	].filter(Boolean);
}

function stackLines({ cpu, stack: functions, end }) {
	return [
		el("p", { class: "dim" }, `sample on CPU ${cpu}`),
		...functions.slice(0, MOST_FUNCTIONS).map((found, i) => functionLine(found, i === 0)),
		functions.length > MOST_FUNCTIONS
			? el("p", { class: "dim" }, `and ${functions.length - MOST_FUNCTIONS} more callers`)
			: null,
		ENDS[end] ? el("p", { class: "dim" }, ENDS[end]) : null
	].filter(Boolean);
}

/** The distance up to which a sample belongs to the pointer. */
function reach(view) {
	return Math.ceil((NEAR_PIXELS * (view.to - view.from)) / view.width);
}

function isStackOf(view, { row }, t) {
	return stack.row === row && stack.within === reach(view) && Math.abs(stack.t - t) < Math.max(1, reach(view) / NEAR_PIXELS);
}

/** Asks for the stack at @t; true if sampleLines() says more afterwards. */
export async function completeStack(view, { row }, t) {
	if (stack && isStackOf(view, { row }, t)) return false;
	const within = reach(view),
		answer = await ask(question("sample", { row, t: Math.max(0, Math.floor(t)), within })).catch(() => null);

	if (!answer) return false;
	stack = { row, t, within, answer };
	return true;
}
