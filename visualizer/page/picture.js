// SPDX-License-Identifier: LGPL-2.1-or-later
// picture.js - asks for the shares of the visible rows, keeps them, and paints them into pixels.
//
// A window is a span in columns of equal width, with the pictures of some rows. The visible span is asked first. When
// nothing else is to be done, its neighbourhood follows, 3 screens wide, so that the next move finds it. While an answer
// is on its way, the best windows that exist are painted, scaled: the picture is never empty. One question is in flight
// at a time.

import { askBytes, newest, question } from "./ask.js";
import { columnShares, decodeShares, layRow, wideRuns } from "./shares.js";
import { divisionOf, visibleRows } from "./view.js";
import { ABSENT, CLIENT } from "./classes.js";

const MOST_WINDOWS = 8,
	ROWS_AT_ONCE = 12,
	MOST_COLUMNS = 12000,
	NEIGHBOUR_ROWS_AT_ONCE = 4;

/** The picture of a view. @height: pixels of a bar; @columns: pixels of the plot, both of the device; set by the painter. */
export function makePicture(view) {
	return { view, windows: [], height: 16, columns: 800, error: "", ask: null };
}

function scaleOf(window) {
	return (window.to - window.from) / window.columns;
}

/** The number of columns for the visible span: its pixels, but none narrower than 1 ns. */
function visibleColumns({ view, columns }) {
	return Math.max(1, Math.min(columns, Math.floor(view.to - view.from)));
}

/** The part of the visible span that is in the trace; beside another trace there is more. Empty: from >= to. */
function insideOf(view) {
	return { from: Math.max(0, view.from), to: Math.min(view.duration, view.to) };
}

function isExact(picture, window) {
	const { view } = picture,
		inside = insideOf(view),
		scale = (view.to - view.from) / visibleColumns(picture),
		rounding = window.columns > 1 ? 0.75 / window.columns : 1; // a short trace has few columns beside a long one

	return (
		!window.stale &&
		window.height === picture.height &&
		Math.abs(scaleOf(window) / scale - 1) <= Math.max(0.002, rounding) &&
		window.from <= inside.from + scale &&
		window.to >= inside.to - scale
	);
}

/** The window with the exact columns of the visible span for row @id, or undefined. */
export function exactWindow(picture, id) {
	const by = divisionOf(picture.view, id);

	return picture.windows.find(window => window.by === by && window.rows.has(id) && isExact(picture, window));
}

function keepWindow(picture, window) {
	const { windows, view } = picture;

	windows.unshift(window);
	while (windows.length > MOST_WINDOWS)
		// the whole trace stays: it is below everything
		windows.splice(
			windows.findLastIndex(w => w !== window && !(w.from === 0 && w.to === view.duration && !w.stale)),
			1
		);
}

/** What to ask next: {from, to, columns, ids}, or null when the picture is complete. */
function nextQuestion(picture) {
	const { view } = picture,
		inside = insideOf(view),
		scale = (view.to - view.from) / visibleColumns(picture),
		columns = Math.max(1, Math.round((inside.to - inside.from) / scale));

	if (inside.from >= inside.to) return null;
	const ids = [
		...new Set(
			visibleRows(view)
				.map(({ node }) => node.id)
				.filter(id => id !== null)
		)
	];
	const alike = found => found.filter(id => divisionOf(view, id) === divisionOf(view, found[0])); // one question, one division
	const missing = alike(ids.filter(id => !exactWindow(picture, id)));
	const from = Math.floor(inside.from),
		to = Math.max(from + columns, Math.min(view.duration, Math.ceil(inside.to)));

	if (missing.length) return { from, to, columns, ids: missing.slice(0, ROWS_AT_ONCE) };
	const left = Math.min(Math.floor(inside.from / scale), columns),
		right = Math.min(Math.floor((view.duration - inside.to) / scale), columns);
	const near = window =>
		isExact(picture, window) &&
		window.from <= inside.from - (left * scale) / 2 &&
		window.to >= inside.to + (right * scale) / 2;
	const isThere = id => window => window.by === divisionOf(view, id) && window.rows.has(id) && near(window);
	const narrow = alike(ids.filter(id => !picture.windows.some(isThere(id))));

	if (narrow.length === 0 || left + right === 0 || columns + left + right > MOST_COLUMNS) return null;
	return {
		from: Math.max(0, Math.floor(inside.from - left * scale)),
		to: Math.min(view.duration, Math.ceil(inside.to + right * scale)),
		columns: columns + left + right,
		ids: narrow.slice(0, NEIGHBOUR_ROWS_AT_ONCE),
		isNeighbour: true
	};
}

async function askShares(picture, { from, to, columns, ids }) {
	const { height, view } = picture,
		by = divisionOf(view, ids[0]);
	const answer = decodeShares(
		await askBytes(question("shares", { rows: ids.join(","), from, to, columns, by: by || undefined }))
	);
	let window = picture.windows.find(
		w =>
			!w.stale &&
			w.by === by &&
			w.from === answer.from &&
			w.to === answer.to &&
			w.columns === answer.columns &&
			w.height === height
	);

	if (!window) {
		window = {
			from: answer.from,
			to: answer.to,
			columns: answer.columns,
			by,
			height,
			stale: false,
			rows: new Map()
		};
		keepWindow(picture, window);
	}
	for (const [id, bytes] of answer.rows)
		window.rows.set(id, { bytes: bytes.slice(), picture: layRow(bytes, answer.columns, height) });
}

/** Asks for what is missing, until nothing is. Calls @settled whenever the visible part is complete. */
export function completePicture(picture, settled) {
	const { view } = picture;

	picture.ask ??= newest(
		async () => {
			for (let next; (next = nextQuestion(picture));) {
				if (next.isNeighbour) settled();
				const before = next.ids.join();

				try {
					await askShares(picture, next);
					picture.error = "";
				} catch (error) {
					picture.error = error.message;
					break;
				}
				if (!next.isNeighbour) view.emit("paint");
				if (nextQuestion(picture)?.ids.join() === before && !next.isNeighbour) break; // the engine gave other columns than those asked for
				await new Promise(resolve => setTimeout(resolve)); // input first
			}
			settled();
		},
		change => view.busy(change)
	);
	picture.ask();
}

/** All windows are out of date: more of the trace is read. They are shown until the new ones come. */
export function agePicture(picture) {
	for (const window of picture.windows) window.stale = true;
}

/** For each pixel of the plot, the column of @window that is there; -1: none. */
function columnMap(picture, window) {
	const { view, columns } = picture,
		map = new Int32Array(columns),
		scale = scaleOf(window);
	const step = (view.to - view.from) / columns / scale,
		begin = (view.from - window.from) / scale;
	const isEqual = Math.abs(step - 1) < 0.002,
		first = Math.round(begin);

	for (let x = 0; x < columns; x++) {
		const column = isEqual ? first + x : Math.floor(begin + (x + 0.5) * step);

		map[x] = column >= 0 && column < window.columns ? column : -1;
	}
	return { map, isFull: map[0] >= 0 && map[columns - 1] >= 0, closeness: Math.abs(Math.log(step)) };
}

/** Paints the bar of row @id with its top at @top into @pixels, which are picture.columns wide. */
function paintRow(picture, { id, top }, sources, pixels, rows, palettes) {
	const { columns, height } = picture,
		by = divisionOf(picture.view, id),
		palette = by ? palettes.byClient : palettes.plain;
	const having = sources.filter(
		({ window }) => window.by === by && window.rows.has(id) && window.height === height
	);
	const full = having.findIndex(source => source.isFull);

	for (let i = full < 0 ? having.length - 1 : full; i >= 0; i--) {
		const { window, map } = having[i],
			{ picture: bar } = window.rows.get(id);

		for (let y = Math.max(0, -top); y < height && top + y < rows; y++) {
			const from = y * window.columns,
				pattern = ((top + y) & 7) << 3;

			for (let x = 0, to = (top + y) * columns; x < columns; x++, to++)
				if (map[x] >= 0) pixels[to] = palette[(bar[from + map[x]] << 6) | pattern | (x & 7)];
		}
	}
}

/**
 * Paints bars into @pixels of picture.columns x @rows. @bars: [{id, top}] in pixels of the device. @palettes: {plain, byClient}
 */
export function paintPicture(picture, bars, pixels, rows, palettes) {
	const sources = picture.windows
		.map(window => ({ window, ...columnMap(picture, window) }))
		.sort((a, b) => a.window.stale - b.window.stale || a.closeness - b.closeness);

	for (const bar of bars) if (bar.id !== null) paintRow(picture, bar, sources, pixels, rows, palettes);
}

/** The shares of the column at time @t of row @id: {from, to, ns: per class}, or null if it is not known. */
export function sharesAt(picture, id, t) {
	const window = exactWindow(picture, id);

	if (!window) return null;
	const edge = column => window.from + Math.floor(((window.to - window.from) * column) / window.columns);
	const column = Math.max(0, Math.min(window.columns - 1, Math.floor((t - window.from) / scaleOf(window))));

	return {
		from: edge(column),
		to: edge(column + 1),
		ns: columnShares(window.rows.get(id).bytes, window.columns, column, edge(column + 1) - edge(column))
	};
}

/** True if the row has no time at all in a column: @shares of sharesAt(). */
export function isAbsent(shares) {
	return shares !== null && shares.ns.every((ns, number) => ns === 0 || number === ABSENT);
}

/** The widest parts of row @id, visible, of one class and at least @least pixels wide: [{from, to}]; null: not known yet. */
export function wideParts(picture, id, least, most) {
	const { view } = picture,
		window = exactWindow(picture, id);

	if (!window) return null;
	const scale = scaleOf(window),
		runs = wideRuns(window.rows.get(id).bytes, window.columns, (least * visibleColumns(picture)) / picture.columns);

	return runs
		.map(({ column, count }) => ({
			from: Math.max(view.from, window.from + column * scale),
			to: Math.min(view.to, window.from + (column + count) * scale)
		}))
		.filter(({ from, to }) => to > from)
		.sort((a, b) => b.to - b.from - (a.to - a.from))
		.slice(0, most)
		.sort((a, b) => a.from - b.from);
}

/** The widest parts of row @id by client that are of one client: [{from, to, number}]. */
export function clientParts(picture, id, least) {
	const window = exactWindow(picture, id);

	if (!window) return [];
	const scale = scaleOf(window),
		runs = wideRuns(window.rows.get(id).bytes, window.columns, (least * visibleColumns(picture)) / picture.columns);

	return runs
		.filter(({ number }) => number >= CLIENT)
		.map(({ column, count, number }) => ({
			from: window.from + column * scale,
			to: window.from + (column + count) * scale,
			number
		}));
}
