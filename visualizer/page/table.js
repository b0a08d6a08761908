// SPDX-License-Identifier: LGPL-2.1-or-later
// table.js - a table that can be sorted, and that shows its first rows.

import { el, nameElement } from "./dom.js";
import { countText, durationText } from "./time.js";

const ROWS_AT_ONCE = 100;

/** A column of times, by which the table can be sorted. */
export function time(title, value) {
	return { title, value, text: row => (value(row) ? durationText(value(row)) : "-") };
}

/** The same, of numbers. */
export function count(title, value) {
	return { title, value, text: row => (value(row) ? countText(value(row)) : "-") };
}

/** What a column is sorted by: a number, or else a text; undefined: it cannot be sorted. */
function keyOf(column) {
	return column.value ?? column.name ?? column.text;
}

function compare(column, a, b) {
	const [left, right] = [a, b].map(row => keyOf(column)(row) ?? (column.value ? 0 : ""));

	return column.value ? left - right : String(left).localeCompare(String(right));
}

/** @sorted: {column, up: the least first} or null */
function head(columns, sorted, sort) {
	return el(
		"thead",
		{},
		el(
			"tr",
			{},
			...columns.map(column =>
				el(
					"th",
					{
						scope: "col",
						class: column.value ? "number" : null,
						"aria-sort": column === sorted?.column ? (sorted.up ? "ascending" : "descending") : null
					},
					keyOf(column)
						? el("button", { type: "button", class: "sort", onclick: () => sort(column) }, column.title)
						: column.title
				)
			)
		)
	);
}

/**
 * A table of @rows. @columns: {title, text(row) or cell(row), value(row): a number, name(row): a text to sort cells by,
 * isShort: it has one line}.
 * The rows are in the order of the first column with `first`, or as they are. The first hundred are shown. A click on a
 * title sorts by it, numbers the greatest first; another one turns the order around. @isLast(row): it is below all others
 * in any order.
 */
export function makeTable(caption, columns, rows, isLast = () => false) {
	const table = el("table", { class: columns.length > 9 ? "wide" : null }),
		more = el("p", {});
	let shown = ROWS_AT_ONCE;
	const show = sorted => {
		const order = sorted
			? rows
					.slice()
					.sort((a, b) => isLast(a) - isLast(b) || (sorted.up ? 1 : -1) * compare(sorted.column, a, b))
			: rows;
		const sort = column => {
			show({ column, up: column === sorted?.column ? !sorted.up : !column.value });
			[...table.querySelectorAll("th")][columns.indexOf(column)].querySelector("button").focus();
		};

		table.replaceChildren(
			el("caption", {}, caption),
			head(columns, sorted, sort),
			el(
				"tbody",
				{},
				...order
					.slice(0, shown)
					.map(row =>
						el(
							"tr",
							{},
							...columns.map(column =>
								el(
									"td",
									{ class: column.value ? "number" : column.isShort ? "short" : null },
									column.cell ? column.cell(row) : nameElement(column.text(row))
								)
							)
						)
					)
			)
		);
		more.replaceChildren(
			...(shown < rows.length
				? [
						el(
							"button",
							{
								type: "button",
								onclick: () => {
									shown += 5 * ROWS_AT_ONCE;
									show(sorted);
								}
							},
							`Show ${Math.min(rows.length - shown, 5 * ROWS_AT_ONCE)} of ${rows.length - shown} more`
						)
					]
				: [])
		);
	};

	const first = columns.find(column => column.first);

	show(first ? { column: first, up: false } : null);
	return rows.length ? [table, more] : [el("p", { class: "dim" }, `${caption}: none in this span.`)];
}
