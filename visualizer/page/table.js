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
						"aria-sort": column === sorted ? "descending" : null
					},
					column.value
						? el("button", { type: "button", class: "sort", onclick: () => sort(column) }, column.title)
						: column.title
				)
			)
		)
	);
}

/**
 * A table of @rows. @columns: {title, text(row) or cell(row), value(row): a number, which makes it a column to sort by}.
 * The rows are in the order of the first column with `first`, or as they are. The first hundred are shown.
 */
export function makeTable(caption, columns, rows) {
	const table = el("table", {}),
		more = el("p", {});
	let shown = ROWS_AT_ONCE;
	const show = sorted => {
		const order = sorted ? rows.slice().sort((a, b) => (sorted.value(b) ?? 0) - (sorted.value(a) ?? 0)) : rows;

		table.replaceChildren(
			el("caption", {}, caption),
			head(columns, sorted, show),
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
									{ class: column.value ? "number" : null },
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

	show(columns.find(column => column.first));
	return rows.length ? [table, more] : [el("p", { class: "dim" }, `${caption}: none in this span.`)];
}
