// SPDX-License-Identifier: LGPL-2.1-or-later
// lanes.js - the scopes and requests of programs: asks for those that are visible, and says what they are.

import { ask, newest, question } from "./ask.js";
import { announce, byId, el, linkButton, nameElement } from "./dom.js";
import { lanesAreShown } from "./lane_rows.js";
import { makeTable, time, count } from "./table.js";
import { durationText, pointText } from "./time.js";
import { updateRows, visibleRows, visibleSpan } from "./view.js";
import { clean } from "./words.js";

const MOST_SCOPES = 3000,
	MOST_LISTED = 200;
const NONE = "No program of this trace has scopes or requests.",
	LATER = "Scopes and requests are not known yet: they come after the picture.";
const known = new Map(); // by row: {key, scopes, least}
let asking = null;

/** The known scopes of a lane: those of one depth of a thread. */
export function scopesOf(view, { row, depth }) {
	return (known.get(row)?.scopes ?? []).filter(scope => scope.depth === depth);
}

function isUnderWay(scope) {
	return [!scope.begun && "its begin is not in the trace", !scope.ended && "its end is not in the trace"]
		.filter(Boolean)
		.join(", ");
}

/** What the box at the pointer says of a lane at @t. */
export function laneLines(view, lane, t) {
	const scope = scopesOf(view, lane).find(found => found.from <= t && found.to > t),
		least = known.get(lane.row)?.least ?? 0;

	if (!scope)
		return least ? [el("p", { class: "dim" }, `Scopes of at least ${durationText(least)} are shown.`)] : [];
	const whole = scope.end - scope.begin,
		missing = isUnderWay(scope);

	return [
		el("p", { class: "dim" }, pointText(t, (view.to - view.from) / view.width)),
		el("p", {}, el("strong", {}, nameElement(clean(scope.name)))),
		el("p", {}, `${scope.kind}, ${durationText(scope.to - scope.from)} on this thread`),
		whole > scope.to - scope.from ? el("p", {}, `${durationText(whole)} from its begin to its end`) : null,
		missing ? el("p", { class: "dim" }, missing) : null
	].filter(Boolean);
}

/** A click on a scope measures it: the tables are about it then. */
export function measureScope(view, lane, t) {
	const scope = scopesOf(view, lane).find(found => found.from <= t && found.to > t);

	if (!scope) return;
	view.range = { from: scope.from, to: Math.max(scope.to, scope.from + 1) };
	view.emit("range", "paint");
	announce(`${clean(scope.name)}, ${durationText(scope.to - scope.from)}, is measured.`);
}

async function askScopes(view, row, key) {
	const span = { row, ...visibleSpan(view), max: MOST_SCOPES },
		least = Math.ceil((2 * (view.to - view.from)) / view.width);
	const all = await ask(question("scopes", span));

	if (!all.cut) known.set(row, { key, scopes: all.scopes, least: 0 });
	else known.set(row, { key, scopes: (await ask(question("scopes", { ...span, least }))).scopes, least });
	view.emit("paint");
}

/** Asks for the scopes of the visible lanes. */
export function completeLanes(view) {
	if (view.lanes.size === 0) return;
	asking ??= newest(
		async () => {
			const key = `${Math.floor(view.from)}-${Math.ceil(view.to)}-${view.about.done_ns}`;

			for (const row of new Set(visibleRows(view).flatMap(({ node }) => (node.lane ? [node.lane.row] : []))))
				if (known.get(row)?.key !== key) await askScopes(view, row, key).catch(() => {});
		},
		change => view.busy(change)
	);
	asking();
}

function hasLanes(view) {
	return view.lanes.size > 0 || view.servers.size > 0;
}

function showSwitch(view) {
	byId("lanes").hidden = !hasLanes(view);
	byId("lanes").setAttribute("aria-pressed", lanesAreShown(view));
}

/** Asks which threads have lanes when the trace is read, and which servers when the bills are known. */
export function followLanes(view) {
	let loaded = "";
	const load = async () => {
		const state = !view.about.complete ? "" : `${view.about.billing ? "states" : "bills"} ${view.about.version}`;

		if (state === loaded) return;
		loaded = state;
		view.busy(1);
		try {
			const { lanes, cut: scopes } = await ask("lanes"),
				{ servers, cut: requests } = await ask("servers");

			view.lanes = new Map(lanes.map(lane => [lane.row, lane]));
			view.servers = new Map(servers.map(server => [server.process.row, server]));
			showSwitch(view);
			if (hasLanes(view)) updateRows(view);
			Object.assign(view.cut, { scopes, requests });
			view.emit("cut");
		} catch {
			// the picture is complete without them
		} finally {
			view.busy(-1);
		}
	};

	view.on("read", load);
	load();
}

export function toggleLanes(view) {
	if (!hasLanes(view)) {
		announce(view.about.billing ? LATER : NONE);
		return;
	}
	view.withLanes = !lanesAreShown(view);
	showSwitch(view);
	updateRows(view);
	announce(view.withLanes ? "Scopes and requests are shown." : "Scopes and requests are hidden.");
}

/** The lanes of the selected row in words. */
export async function lanesTable({ view }, { from, to }) {
	const row = view.row === null ? null : (view.tree.byRow.get(view.row)?.leaf ?? null);

	if (row === null || !view.lanes.has(row))
		return [
			el(
				"p",
				{ class: "dim" },
				view.lanes.size
					? "Select a thread that has scopes or requests."
					: NONE
			)
		];
	const { scopes, cut } = await ask(question("scopes", { row, from, to, max: MOST_LISTED }));

	return [
		...makeTable(
			"Scopes and requests of the row",
			[
				{
					title: "Begins",
					cell: scope =>
						linkButton(pointText(scope.from, 1), () => {
							view.range = { from: scope.from, to: Math.max(scope.to, scope.from + 1) };
							view.emit("range", "paint");
						})
				},
				time("Length", scope => scope.to - scope.from),
				{ title: "Name", text: scope => clean(scope.name) },
				{ title: "Kind", text: scope => scope.kind },
				count("Depth", scope => scope.depth),
				{ title: "Missing", text: isUnderWay }
			],
			scopes
		),
		cut ? el("p", { class: "dim" }, `The first ${MOST_LISTED}; zoom in for the others.`) : null
	];
}
