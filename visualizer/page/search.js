// SPDX-License-Identifier: LGPL-2.1-or-later
// search.js - the search for processes, threads and files, and the filter of rows.

import { ask, newest, question } from "./ask.js";
import { announce, byId, el, nameElement } from "./dom.js";
import { revealTime, updateRows } from "./view.js";
import { goTo, rowText, selectSpan } from "./walk.js";
import { clean } from "./words.js";

const MOST_RESULTS = 12,
	NOTHING = "No process, no thread, and nothing that was waited for has this text.";

function resultsOf(walk, answer) {
	const rows = answer.rows
		.filter(row => walk.view.tree.byRow.has(row))
		.map(row => ({ text: rowText(walk.view, row), go: () => goTo(walk, row) }));
	const paths = (answer.paths ?? []).map(({ path, row, t }) => ({
		text: `${clean(path, 160)} (${rowText(walk.view, row)})`,
		go: async () => {
			await selectSpan(walk, row, t);
			revealTime(walk.view, t);
		}
	}));
	const seen = new Set();

	return [...rows, ...paths].filter(({ text }) => !seen.has(text) && seen.add(text));
}

/** "and 7 more"; @cut: the answer does not have all of them */
export function moreText(nr, cut) {
	return cut ? `and more than ${nr} more` : `and ${nr} more`;
}

function showResults(input, list, results, cut) {
	list.replaceChildren(
		...results.slice(0, MOST_RESULTS).map(({ text, go }, i) =>
			el(
				"li",
				{
					role: "option",
					id: `result-${i}`,
					"aria-selected": "false",
					onpointerdown: event => event.preventDefault(),
					onclick: () => {
						close(input, list);
						input.blur();
						go();
					}
				},
				nameElement(text)
			)
		),
		...(results.length > MOST_RESULTS
			? [
					el(
						"li",
						{ role: "option", "aria-disabled": "true", "aria-selected": "false" },
						moreText(results.length - MOST_RESULTS, cut)
					)
				]
			: []),
		...(results.length ? [] : [el("li", { role: "option", "aria-disabled": "true", "aria-selected": "false" }, NOTHING)])
	);
	list.hidden = false;
	input.setAttribute("aria-expanded", !list.hidden);
	choose(input, list, 0);
	announce(results.length ? `${cut ? "More than " : ""}${results.length} found` : "Nothing found");
}

function close(input, list) {
	list.hidden = true;
	input.setAttribute("aria-expanded", "false");
	input.removeAttribute("aria-activedescendant");
}

function choose(input, list, index) {
	const options = [...list.querySelectorAll("[id]")],
		chosen = options[(index + options.length) % options.length];

	options.forEach(option => option.setAttribute("aria-selected", option === chosen));
	if (chosen) input.setAttribute("aria-activedescendant", chosen.id);
	chosen?.scrollIntoView({ block: "nearest" });
}

function onSearchKey(input, list, event) {
	const options = [...list.querySelectorAll("[id]")],
		index = options.findIndex(option => option.getAttribute("aria-selected") === "true");

	if (event.key === "ArrowDown" || event.key === "ArrowUp") {
		event.preventDefault();
		choose(input, list, index + (event.key === "ArrowDown" ? 1 : -1));
	} else if (event.key === "Enter") {
		options[index]?.click();
	} else if (event.key === "Escape") {
		close(input, list);
		input.blur();
	}
}

export function listenToSearch(walk) {
	const { view } = walk,
		input = byId("search"),
		list = byId("results"),
		filter = byId("filter");
	const search = newest(
		text => ask(question("search", { text })),
		change => view.busy(change)
	);

	input.addEventListener("input", async () => {
		const text = input.value.trim();

		if (!text) {
			close(input, list);
			return;
		}
		const answer = await search(text).catch(error => walk.fail(error.message));

		if (answer && input.value.trim() === text) showResults(input, list, resultsOf(walk, answer), answer.cut);
	});
	input.addEventListener("keydown", event => onSearchKey(input, list, event));
	input.addEventListener("blur", () => close(input, list));
	filter.addEventListener("input", () => {
		view.filter = filter.value;
		updateRows(view);
	});
	filter.addEventListener("keydown", event => {
		if (event.key === "Escape") {
			view.filter = filter.value = "";
			updateRows(view);
		}
		if (event.key === "Escape" || event.key === "Enter") filter.blur();
	});
	view.on("rows", () => {
		if (filter.value !== view.filter) filter.value = view.filter;
	});
}
