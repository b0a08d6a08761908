// SPDX-License-Identifier: LGPL-2.1-or-later
// twin.js - the spans of the selected row as a grid: what the timeline shows, for keys and screen readers.

import { ask, question } from "./ask.js";
import { el, nameElement } from "./dom.js";
import { swatch } from "./swatch.js";
import { durationText, pointText } from "./time.js";
import { rowText, selectSpan } from "./walk.js";
import { ABSENT } from "./classes.js";
import { clean, objectText, processText, stateText } from "./words.js";

const MOST_SPANS = 200;

function cells(span) {
	return [
		pointText(span.from, 1),
		durationText(span.to - span.from),
		[swatch(span.class), " ", stateText(span)],
		span.thread ? processText(span.thread) : span.kind ? objectText(span) : clean(span.name),
		span.kind ? clean(span.name) : "",
		span.cpu === undefined || span.cpu === null ? "" : String(span.cpu),
		span.waker ? processText(span.waker) : ""
	];
}

/** One cell takes part in the order of Tab; arrows, Home and End move it. */
function moveFocus(grid, event) {
	const rows = [...grid.querySelectorAll("[role=row]")].map(row => [...row.children]);
	const y = rows.findIndex(row => row.includes(document.activeElement)),
		x = rows[y]?.indexOf(document.activeElement);
	const change = {
		ArrowUp: [0, -1],
		ArrowDown: [0, 1],
		ArrowLeft: [-1, 0],
		ArrowRight: [1, 0],
		PageUp: [0, -20],
		PageDown: [0, 20],
		Home: [-99, 0],
		End: [99, 0]
	}[event.key];

	if (y < 0 || !change) return;
	const row = rows[Math.max(0, Math.min(rows.length - 1, y + change[1]))],
		cell = row[Math.max(0, Math.min(row.length - 1, x + change[0]))];

	event.preventDefault();
	event.stopPropagation();
	grid.querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1");
	cell.setAttribute("tabindex", "0");
	cell.focus();
}

/** The elements of the grid; Enter and a click select a span. */
export async function loadSpans(walk, { from, to }) {
	const { view } = walk,
		node = view.row === null ? null : view.tree.byRow.get(view.row);

	if (!node || node.leaf === null)
		return [
			el(
				"p",
				{ class: "dim" },
				node
					? "This process has several threads: select one of them."
					: "Select a row first: by a click on its name, or by the keys Up and Down."
			)
		];
	const { spans, cut } = await ask(question("spans", { row: node.leaf, from, to, max: MOST_SPANS }));
	const head = ["Begins", "Length", "State", "Object", "In the call", "CPU", "Ended by"];
	const rows = spans
		.filter(span => span.class !== ABSENT)
		.map((span, i) =>
			el(
				"tr",
				{ role: "row", onclick: () => selectSpan(walk, node.leaf, span.from) },
				...cells(span).map((cell, j) =>
					el(
						"td",
						{ role: "gridcell", tabindex: i || j ? -1 : 0 },
						typeof cell === "string" ? nameElement(cell) : cell
					)
				)
			)
		);
	const name = `Spans of ${rowText(view, node.leaf)}`;
	const grid = el(
		"table",
		{
			role: "grid",
			"aria-label": name,
			onkeydown: event => {
				if (event.key === "Enter") event.target.closest("[role=row]")?.click();
				moveFocus(grid, event);
			}
		},
		el(
			"thead",
			{ role: "rowgroup" },
			el(
				"tr",
				{ role: "row" },
				...head.map((title, i) =>
					el("th", { role: "columnheader", scope: "col", tabindex: rows.length || i ? -1 : 0 }, title)
				)
			)
		),
		el("tbody", { role: "rowgroup" }, ...rows)
	);

	return [
		el("p", { class: "dim" }, nameElement(name), cut ? `: the first ${MOST_SPANS}; zoom in for the others` : ""),
		grid
	];
}
