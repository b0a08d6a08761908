// SPDX-License-Identifier: LGPL-2.1-or-later
// panel.js - the tabs below the timeline, and when their contents are asked for again.

import { newest } from "./ask.js";
import { byId, el } from "./dom.js";
import { TABLES, spanTitle } from "./tables.js";
import { loadSpans } from "./twin.js";
import { rowText } from "./walk.js";
import { chosenSpan } from "./view.js";

const TABS = [...TABLES, { id: "spans", title: "Spans of the row", load: loadSpans, followsRow: true }];

function selectTab(panel, id) {
	panel.tab = TABS.find(tab => tab.id === id);
	for (const tab of TABS) {
		const button = byId(`tab-${tab.id}`),
			isSelected = tab === panel.tab;

		button.setAttribute("aria-selected", isSelected);
		button.tabIndex = isSelected ? 0 : -1;
	}
	byId("tables").setAttribute("aria-labelledby", `tab-${id}`);
	updatePanel(panel);
}

function onTabKey(panel, event) {
	const change = { ArrowLeft: -1, ArrowRight: 1 }[event.key],
		index = TABS.indexOf(panel.tab);

	if (!change) return;
	const next = TABS[(index + change + TABS.length) % TABS.length];

	event.preventDefault();
	selectTab(panel, next.id);
	byId(`tab-${next.id}`).focus();
}

/** What a load that takes long needs: whether a newer one waits for it to end, and where it says how far it is. */
function progressOf(panel) {
	const { nr } = panel;

	return {
		isOver: () => panel.nr !== nr || byId("panel").hidden,
		tell: text => byId("tables").replaceChildren(el("p", { class: "dim", role: "status" }, text))
	};
}

async function load(panel) {
	const { walk, tab } = panel,
		{ view } = walk,
		span = chosenSpan(view),
		box = byId("tables");
	const row = tab.hasRow && byId("only-row").checked && view.row !== null ? view.row : undefined;
	const key = JSON.stringify([tab.id, span, row, tab.followsRow ? view.row : 0, view.about.done_ns, view.about.billing, view.filter, view.named]);

	byId("span-title").textContent = spanTitle(view);
	byId("only-row-box").hidden = !tab.hasRow || view.row === null;
	byId("only-row-name").textContent = view.row === null ? "" : rowText(view, view.row);
	if (panel.key === key || byId("panel").hidden) return;
	try {
		const content = await tab.load(walk, span, row, progressOf(panel));

		if (!content) return; // a newer load follows
		box.replaceChildren(...content.filter(Boolean));
		box.scrollTop = 0;
		panel.key = key;
	} catch (error) {
		box.replaceChildren(el("p", { class: "error" }, error.message));
	}
}

/** Asks for the contents of the selected tab if they are about something else now. */
export function updatePanel(panel) {
	clearTimeout(panel.timer);
	if (!panel.timer) panel.walk.view.busy(1);
	panel.timer = setTimeout(() => {
		// after the moves of a gesture
		panel.timer = 0;
		panel.nr++;
		panel.load();
		panel.walk.view.busy(-1);
	}, 60);
}

export function makePanel(walk) {
	const { view } = walk,
		panel = { walk, tab: TABS[0], timer: 0, key: "", nr: 0 };

	panel.load = newest(
		() => load(panel),
		change => view.busy(change)
	);
	byId("tabs").replaceChildren(
		...TABS.map(tab =>
			el(
				"button",
				{
					type: "button",
					role: "tab",
					id: `tab-${tab.id}`,
					"aria-controls": "tables",
					onclick: () => selectTab(panel, tab.id)
				},
				tab.title
			)
		)
	);
	byId("tabs").addEventListener("keydown", event => onTabKey(panel, event));
	byId("only-row").addEventListener("change", () => updatePanel(panel));
	view.on("span", () => updatePanel(panel));
	view.on("range", () => updatePanel(panel));
	view.on("selection", () => updatePanel(panel));
	view.on("read", () => updatePanel(panel));
	view.on("rows", () => updatePanel(panel)); // the filter is about tables, too
	selectTab(panel, TABS[0].id);
	return panel;
}

export { selectTab };
