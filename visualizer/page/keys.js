// SPDX-License-Identifier: LGPL-2.1-or-later
// keys.js - the keys, and the help that lists them.

import { CLASSES, CLIENT, NO_CLIENT } from "./classes.js";
import { byId, el } from "./dom.js";
import { swatch } from "./swatch.js";
import { AXIS_HEIGHT, pan, scrollRows, showSpan, zoom, toggleAbsent } from "./view.js";
import {
	escape,
	follow,
	goBack,
	measure,
	moveRow,
	pinSelected,
	step,
	togglePath,
	toggleSelected,
	zoomToSelection
} from "./walk.js";
import { classLabel } from "./words.js";

/** [keys, the text of help, action] */
function makeTable(walk, actions) {
	const { view } = walk,
		part = share => (view.to - view.from) * share,
		page = () => view.height - AXIS_HEIGHT - 40;

	return [
		[["w", "+", "="], "Zoom in", () => zoom(view, 0.5)],
		[["s", "-"], "Zoom out", () => zoom(view, 2)],
		[["a", "ArrowLeft"], "Move to earlier times", () => pan(view, -part(0.25))],
		[["d", "ArrowRight"], "Move to later times", () => pan(view, part(0.25))],
		[["f", "0"], "Show the whole trace", () => showSpan(view, view.least, view.most)],
		[["ArrowUp"], "Select the row above", () => moveRow(walk, -1)],
		[["ArrowDown"], "Select the row below", () => moveRow(walk, 1)],
		[["PageUp"], "Scroll the rows up", () => scrollRows(view, -page())],
		[["PageDown"], "Scroll the rows down", () => scrollRows(view, page())],
		[[" ", "o"], "Show or hide the threads of the selected process", () => toggleSelected(walk)],
		[["n"], "Select the next span of the row", () => step(walk, true)],
		[["N"], "Select the span before", () => step(walk, false)],
		[["Enter"], "Follow the selected wait to the thread that ended it", () => follow(walk)],
		[["Backspace"], "Go back along the chain", () => goBack(walk)],
		[["c"], "Show or leave the critical path of the selected row", () => togglePath(walk)],
		[["z"], "Zoom to the selected or measured span", () => zoomToSelection(walk)],
		[["m"], "Measure the selected or visible span, or stop to measure", () => measure(walk)],
		[["p"], "Pin the selected row at the top, or take it down", () => pinSelected(walk)],
		[["/"], "Search for processes, threads and files", () => byId("search").focus()],
		[["r"], "Show only rows with a text in their name", () => byId("filter").focus()],
		[["e"], "Show or hide the rows that do not exist in the visible span", () => toggleAbsent(view)],
		[["g"], "Show or hide scopes below their threads, and requests of servers below their processes", actions.toggleLanes],
		[["v"], "Show or hide numbers over time: threads that wait for a CPU, bytes, fields of programs", actions.toggleCounters],
		[["x"], "Show or hide the samples of threads, with their stacks", actions.toggleSamples],
		[["b"], "Show servers in the colours of their clients, or as before", actions.toggleClients],
		[["t"], "Show or hide the tables", actions.togglePanel],
		[["u"], "Read the trace again, when its file has changed", actions.readAgain],
		[["l"], "Light or dark", actions.toggleTheme],
		[["Escape"], "Leave the path, the selection, the measured span or the filter", () => escape(walk)],
		[["?"], "Show this help", actions.help]
	];
}

const NAMES = {
	" ": "Space",
	ArrowLeft: "Left",
	ArrowRight: "Right",
	ArrowUp: "Up",
	ArrowDown: "Down",
	Escape: "Esc",
	PageUp: "Page up",
	PageDown: "Page down"
};
/** Keys that elements of the page need themselves: they do nothing else while such an element has the focus. */
const NEEDED = [
	[
		"[role=grid], [role=listbox]",
		["Enter", " ", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown"]
	],
	["button:not([role=tab]), a, summary", ["Enter", " "]],
	["[type=checkbox]", [" "]],
	["[role=tab]", ["ArrowLeft", "ArrowRight"]],
	[".scroll", [" ", "ArrowUp", "ArrowDown", "PageUp", "PageDown"]]
];
const POINTER = [
	["Wheel, pinch", "Zoom at the pointer; over the names: scroll the rows"],
	["Shift + wheel, two fingers sideways, drag", "Move in time; drag up and down: scroll the rows"],
	["Click", "Select the span below the pointer; on a name: the row"],
	["Double click", "Zoom to the span below the pointer"],
	["Shift + drag, drag on the axis", "Measure a span: the tables are about it"]
];

function helpTable(table) {
	const row = (keys, text) =>
		el("tr", {}, el("td", {}, ...keys.flatMap((key, i) => [i ? " " : "", el("kbd", {}, key)])), el("td", {}, text));

	return el(
		"table",
		{},
		el("caption", {}, "Keys and pointer"),
		el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Key"), el("th", { scope: "col" }, "What it does"))),
		el(
			"tbody",
			{},
			...table.map(([keys, text]) =>
				row(
					keys.map(key => NAMES[key] ?? key),
					text
				)
			),
			...POINTER.map(([name, text]) => row([name], text))
		)
	);
}

/** Listens to keys. @actions: {toggleLanes, toggleCounters, toggleSamples, toggleClients, togglePanel, readAgain, toggleTheme, help} */
export function listenToKeys(walk, actions) {
	const table = makeTable(walk, actions),
		byKey = new Map(table.flatMap(([keys, , action]) => keys.map(key => [key, action])));

	// A button or link that was clicked with a pointer does not keep the focus: Enter follows what it has selected.
	window.addEventListener(
		"click",
		({ detail, target }) => detail > 0 && target.closest?.("a[role=button], header button, #selection button")?.blur(),
		true
	);
	byId("help-table").replaceChildren(helpTable(table));
	byId("legend").replaceChildren(
		...CLASSES.map((c, number) =>
			el("li", {}, swatch(number), c.letter ? ` ${c.letter}: ` : " ", classLabel(number))
		),
		el("li", {}, swatch(CLIENT), swatch(CLIENT + 1), " A, B, C ...: servers by client, exact and shared"),
		el("li", {}, swatch(NO_CLIENT), " servers, for no known client")
	);
	window.addEventListener("keydown", event => {
		const { target, key } = event;

		if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
		if (target.closest?.("input:not([type=checkbox]), select, textarea")) return;
		if (NEEDED.some(([selector, keys]) => keys.includes(key) && target.closest?.(selector))) return;
		const action = byKey.get(key) ?? (event.shiftKey ? undefined : byKey.get(key.toLowerCase()));

		if (!action) return;
		event.preventDefault();
		byId("hover").hidden = true; // what is below the pointer may change
		action();
	});
}
