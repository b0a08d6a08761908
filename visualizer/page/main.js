// SPDX-License-Identifier: LGPL-2.1-or-later
// main.js - starts the page: asks what the trace is, makes the parts, and lets them hear of each other.

import { ask, question } from "./ask.js";
import { followClients, toggleClients } from "./clients.js";
import { completeCounters, toggleCounters } from "./counters.js";
import { completeBoxes, makeBoxes } from "./boxes.js";
import { byId } from "./dom.js";
import { readAgain, showFile } from "./file.js";
import { makeHover } from "./hover.js";
import { completeLanes, followLanes, toggleLanes } from "./lanes.js";
import { listenToKeys } from "./keys.js";
import { growthText, moveRows, movedRows, takeDuration } from "./live.js";
import { makePanel } from "./panel.js";
import { agePicture, completePicture, isAbsent, makePicture, sharesAt } from "./picture.js";
import { readPlace, writePlace } from "./place.js";
import { listenToPointer } from "./pointer.js";
import { completeRequests } from "./requests.js";
import { makeTree } from "./rows.js";
import { completeSamples, showSamples, toggleSamples } from "./samples.js";
import { listenToSearch } from "./search.js";
import { showSelection } from "./selection.js";
import { takeTheme } from "./swatch.js";
import { setZero } from "./time.js";
import { makeTimeline, resizeTimeline } from "./timeline.js";
import { showMissing, updateVerdict } from "./verdict.js";
import { makeView, showSpan, updateRows } from "./view.js";
import { makeWalk, selectRow, selectSpan, togglePath } from "./walk.js";
import { clean, takeLabels, traceFacts } from "./words.js";

const PROGRESS_MS = 300,
	ALIVE_MS = 5000,
	GROWING_MS = 1000; // while the trace is recorded

const again = () => readAgain(fail);

function fail(sentence) {
	byId("error").textContent = sentence;
	byId("error").hidden = !sentence;
}

function showTitle(about) {
	const name = clean(about.file.split("/").at(-1));

	document.title = `${name} - tracevisualizer`;
	byId("trace").textContent = name;
	byId("facts").textContent = traceFacts(about)
		.map(([name, text]) => (name === "Command" ? `command: ${text}` : text))
		.join(", ");
}

async function readRows(view) {
	const { rows, rest } = await ask("rows");

	view.rest = rest ?? null;
	moveRows(view, movedRows([...(view.rows?.values() ?? [])], rows));
	view.rows = new Map(rows.map(row => [row.id, row]));
	view.tree = makeTree(rows, view.named);
	updateRows(view);
}

/** Light, dark, or as the system says; the choice is kept if the browser allows it. */
function makeTheme(timeline) {
	const dark = matchMedia("(prefers-color-scheme: dark)");
	let choice = null;

	try {
		choice = localStorage.getItem("theme");
	} catch {
		// a page from a file may have no storage
	}
	const apply = () => {
		timeline.theme = choice === "light" || choice === "dark" ? choice : dark.matches ? "dark" : "light";
		document.documentElement.dataset.theme = timeline.theme;
		takeTheme(timeline.theme);
		timeline.view.emit("paint");
	};

	dark.addEventListener("change", apply);
	window.addEventListener("storage", event => {
		if (event.key !== "theme") return;
		choice = event.newValue; // chosen in another page
		apply();
	});
	apply();
	return () => {
		choice = timeline.theme === "dark" ? "light" : "dark";
		try {
			localStorage.setItem("theme", choice);
		} catch {
			// as above
		}
		apply();
	};
}

/** The place in the address follows the view, and the view follows an address that is typed. */
function keepPlace(walk) {
	const { view } = walk;
	let written = "",
		timer = 0;
	const read = () => {
		const place = readPlace(location.hash);

		view.open = new Set(place.open);
		view.pinned = place.pinned;
		view.filter = place.filter;
		view.all = place.all;
		view.byClient = place.byClient;
		view.counters = place.counters;
		byId("counters").setAttribute("aria-pressed", view.counters.length > 0);
		if (place.samples !== view.withSamples) showSamples(view, place.samples).catch(error => fail(error.message));
		view.range = place.range && place.range.from < view.duration ? place.range : null;
		showSpan(view, place.visible?.from ?? 0, place.visible?.to ?? view.duration);
		updateRows(view);
		if (place.row !== null && place.t !== null) selectSpan(walk, place.row, place.t, [], true);
		else if (place.row !== null) selectRow(walk, place.row);
		view.emit("range");
	};
	const write = () => {
		if (location.protocol === "about:") return; // in a page with two traces
		const isWhole = view.from === 0 && view.to === view.duration;

		written = writePlace({
			visible: isWhole ? null : view,
			range: view.range,
			row: view.row,
			t: view.span?.from ?? null,
			open: [...view.open],
			pinned: view.pinned,
			filter: view.filter,
			all: view.all,
			byClient: view.byClient,
			counters: view.counters,
			samples: view.withSamples
		});
		if (written === "#") written = location.pathname + location.search;
		history.replaceState(null, "", written);
	};
	const soon = () => {
		clearTimeout(timer);
		timer = setTimeout(write, 200); // browsers allow few changes a second
	};

	window.addEventListener("hashchange", () => location.hash !== written && read());
	view.isFresh = location.hash.length <= 1;
	if (!view.isFresh) read();
	for (const name of ["span", "rows", "selection", "range", "clients", "counters", "samples"]) view.on(name, soon);
}

/** Shows what is read by now. The answer needs all of the trace: a wait that is not over has no known cause. */
async function refresh(walk, picture) {
	const { view } = walk;

	view.busy(1);
	try {
		if (view.about.complete) Object.assign(view.about, await ask("about"));
		await readRows(view);
		agePicture(picture);
		showMissing(view);
		view.emit("read", "span", "paint");
		if (view.about.complete) await updateVerdict(walk);
	} finally {
		view.busy(-1);
	}
}

/**
 * Asks what has become of the file. The server ends when no page has asked for some minutes. When it has read a trace
 * that has grown, the page shows that at the same place.
 */
async function stayAlive(walk, picture) {
	const { view } = walk,
		first = { ns: view.duration, time: new Date().toLocaleTimeString() };
	let growth = "";

	for (let version = view.about.version; ;) {
		await new Promise(resolve => setTimeout(resolve, (growth || view.about.growing) && !view.about.clean_end ? GROWING_MS : ALIVE_MS));
		const progress = await ask("progress").catch(() => ({})),
			isKnown = view.about.billing && progress.billing === false; // what the index did not have

		if (isKnown || (progress.version !== undefined && progress.version !== version)) {
			version = progress.version;
			await takeGrowth(walk, picture).catch(error => fail(error.message));
			if (view.duration !== first.ns) growth = growthText(view.about, first);
		} else {
			delete progress.duration_ns; // of what this page does not show
			Object.assign(view.about, progress);
			if (growth) growth = growthText({ ...view.about, duration_ns: view.duration }, first);
		}
		showFile(view.about, again, growth);
	}
}

/** Shows the trace as the engine has read it again. */
async function takeGrowth(walk, picture) {
	const { view } = walk,
		about = await ask("about"),
		{ row, span } = view;

	if (about.start_ns !== view.about.start_ns || !about.complete) {
		globalThis.parent.location.reload(); // another trace, or other times; two traces have one page
		return;
	}
	Object.assign(view.about, about);
	showTitle(about);
	takeDuration(view, about.duration_ns);
	view.emit("duration");
	await refresh(walk, picture);
	if (span && view.row !== null) await selectSpan(walk, view.row, span.from, view.chain, true);
	else if (row !== view.row) view.emit("selection");
}

/**
 * Asks how far the trace is read, and shows the new part whenever it is much. The bills of servers come after the
 * states: then there are clients, also in the answer.
 */
async function followReading(walk, picture) {
	const { view } = walk,
		isRead = () => view.about.complete && !view.about.billing;

	if (view.about.complete) await updateVerdict(walk);
	for (let shown = view.about.done_ns, pause = 0; !isRead();) {
		const wasComplete = view.about.complete;

		await new Promise(resolve => setTimeout(resolve, PROGRESS_MS + pause));
		const begin = performance.now();

		try {
			Object.assign(view.about, await ask("progress"));
			showMissing(view);
			showFile(view.about, again);
			const isNews = wasComplete
				? isRead()
				: view.about.complete || view.about.done_ns >= Math.min(1.5 * shown, shown + view.duration / 10);

			if (!isNews) continue;
			shown = view.about.done_ns;
			await refresh(walk, picture);
		} catch (error) {
			fail(error.message);
			return;
		}
		pause = 2 * (performance.now() - begin); // the engine has other things to do
	}
}

/** The recording of an empty trace may have begun just now. */
async function waitForEvents(about) {
	for (let now = about; now.version === about.version; now = await ask("progress").catch(() => about))
		await new Promise(resolve => setTimeout(resolve, ALIVE_MS));
	globalThis.parent.location.reload(); // two traces have one page
}

function makeParts(view) {
	const canvas = byId("canvas"),
		picture = makePicture(view),
		boxes = makeBoxes(view, picture);
	const timeline = makeTimeline(canvas, view, picture, boxes),
		walk = makeWalk(view, fail, (row, t) => isAbsent(sharesAt(picture, row, t)));
	const complete = () => {
		completePicture(picture, () => completeBoxes(boxes));
		completeLanes(view);
		completeRequests(view);
		completeCounters(view, picture);
		completeSamples(view, picture);
	};
	const resize = () => {
		resizeTimeline(timeline);
		view.emit("span", "paint");
	};

	for (const name of ["span", "rows", "paint"]) view.on(name, complete);
	view.on("selection", () => fail(""));
	new ResizeObserver(resize).observe(canvas.parentElement);
	resize();
	listenToPointer(canvas, walk, makeHover(view, picture));
	return { picture, timeline, walk };
}

function listenToButtons(walk, toggleTheme) {
	const { view } = walk,
		help = byId("help");
	const actions = {
		toggleTheme,
		toggleLanes: () => toggleLanes(view),
		toggleClients: () => toggleClients(view),
		toggleCounters: () => toggleCounters(view).catch(error => fail(error.message)),
		toggleSamples: () => toggleSamples(view).catch(error => fail(error.message)),
		readAgain: again,
		help: () => help.showModal(),
		togglePanel: () => {
			byId("panel").hidden = !byId("panel").hidden;
			view.emit("range");
		}
	};

	listenToKeys(walk, actions);
	byId("fit").addEventListener("click", () => showSpan(view, view.least, view.most));
	byId("path").addEventListener("click", () => togglePath(walk));
	byId("lanes").addEventListener("click", actions.toggleLanes);
	byId("counters").addEventListener("click", actions.toggleCounters);
	byId("samples").addEventListener("click", actions.toggleSamples);
	byId("by-client").addEventListener("click", actions.toggleClients);
	byId("theme").addEventListener("click", toggleTheme);
	byId("open-help").addEventListener("click", actions.help);
	byId("close-help").addEventListener("click", () => help.close());
}

async function start() {
	const about = await ask("about"),
		view = makeView(about);

	view.busy(1);
	takeLabels(about.classes);
	showTitle(about);
	showMissing(view);
	view.on("cut", () => showMissing(view));
	showFile(about, again);
	if (about.duration_ns === 0) {
		byId("sentence").textContent = "The trace is empty: nothing happened between its begin and its end.";
		document.documentElement.classList.add("empty"); // there is nothing to search, and no row
		makeTheme({ view });
		view.busy(-1);
		waitForEvents(about);
		return;
	}
	const { picture, timeline, walk } = makeParts(view),
		toggleTheme = makeTheme(timeline);

	await readRows(view);
	byId("samples").hidden = !about.samples;
	listenToButtons(walk, toggleTheme);
	listenToSearch(walk);
	keepPlace(walk);
	showSelection(walk);
	makePanel(walk);
	followClients(walk);
	followLanes(view);
	followReading(walk, picture).then(() => stayAlive(walk, picture));
	globalThis.traceView = { view, timeline, ask, question, showSpan, setZero }; // for pair.js, tests and consoles
	view.busy(-1);
}

start().catch(error => {
	fail(error.message);
	document.documentElement.dataset.state = "failed";
});
