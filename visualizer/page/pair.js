// SPDX-License-Identifier: LGPL-2.1-or-later
// pair.js - two traces under each other, each in a page of its own: both show the same span. They are aligned at the
// begins of their commands, or of the traces if one has none, or by the wall clock.
//
// The frames are of the same server or the same file, so this script reaches their views.

import { byId } from "./dom.js";
import { durationText } from "./time.js";
import { clean } from "./words.js";

const MOST_EVENTS = 5e6; // of both, to compare their commands: that needs a pass over each

/** How much later than the first trace the second one began; null: not known, or they have no time in common. */
export function clockDistance(a, b) {
	const [first, second] = [a, b].map(about => BigInt(about.start_realtime_ns || 0)),
		distance = Number(second - first);

	return first && second && distance < a.duration_ns && -distance < b.duration_ns ? distance : null;
}

/** How much later the command of the second trace begins in it than that of the first one, as a distance; null: not known. */
export function commandDistance(a, b) {
	return a.command_from >= 0 && b.command_from >= 0 ? a.command_from - b.command_from : null;
}

/** The times that both views may show, in the clock of each: [{least, most}, {least, most}]. */
export function limitsOf(a, b, distance) {
	const least = Math.min(0, distance),
		most = Math.max(a.duration, b.duration + distance);

	return [
		{ least, most },
		{ least: least - distance, most: most - distance }
	];
}

/** "The command sort ran for 1.20 s in A, sort for 0.60 s in B: 0.50 times as long."; "" if one has no command. */
export function comparison(reports) {
	const [a, b] = reports.map(({ trace, processes }) => ({
		ns: trace.command_ran_ns,
		title: clean(processes.find(process => process.pid === trace.command_pid)?.title, 60)
	}));

	return a.title && b.title && a.ns && b.ns
		? `The command ${a.title} ran for ${durationText(a.ns)} in A, ${b.title} for ${durationText(b.ns)} in B: ${(b.ns / a.ns).toFixed(2)} times as long.`
		: "";
}

/** Both frames when their pages are ready; a page of an empty trace has no view. */
async function pagesOf(frames) {
	// the document of a frame may have no element yet
	const isReady = frame =>
		/ready|failed/.test(frame.contentDocument?.documentElement?.dataset.state) &&
		(frame.contentWindow.traceView || frame.contentWindow.document.getElementById("sentence").textContent);

	while (!frames.every(isReady)) await new Promise(resolve => setTimeout(resolve, 50));
	return frames.map(frame => ({
		frame,
		document: frame.contentDocument,
		window: frame.contentWindow,
		view: frame.contentWindow.traceView?.view
	}));
}

/** The page that was used last has its tables below it. */
function activate(pages, active) {
	for (const page of pages) {
		page.frame.classList.toggle("active", page === active);
		page.document.getElementById("panel").hidden = page !== active;
		page.view?.emit("range");
	}
}

/** The theme is chosen in a frame; the other one hears of it as if it was chosen in another page. */
function takeTheme(pages) {
	const themeOf = page => page.document.documentElement.dataset.theme ?? "light";
	const take = (page, other) => {
		document.documentElement.dataset.theme = themeOf(page);
		if (themeOf(other) !== themeOf(page))
			other.window.dispatchEvent(
				new other.window.StorageEvent("storage", { key: "theme", newValue: themeOf(page) })
			);
	};

	pages.forEach((page, i) =>
		new MutationObserver(() => take(page, pages[1 - i])).observe(page.document.documentElement, {
			attributeFilter: ["data-theme"]
		})
	);
	take(pages[0], pages[1]);
}

function listenToPages(pages, toggleClock) {
	const onKey = event => {
		if (event.key !== "k" || event.target.closest?.("input") || event.ctrlKey || event.altKey || event.metaKey) return;
		event.preventDefault();
		toggleClock();
	};

	window.addEventListener("keydown", onKey);
	for (const page of pages) {
		page.document.documentElement.classList.add("framed");
		page.window.addEventListener("keydown", onKey);
		for (const name of ["pointerdown", "focusin"])
			page.window.addEventListener(name, () => !page.frame.classList.contains("active") && activate(pages, page));
	}
}

/** What one view shows, the other one shows, too. */
function link(pages) {
	const [a, b] = pages.map(page => page.view),
		pair = { distance: 0 };
	let isFollowing = false;
	const follow = (from, to, sign) => () => {
		if (isFollowing) return;
		isFollowing = true;
		to.window.traceView.showSpan(
			to.view,
			from.view.from + sign * pair.distance,
			from.view.to + sign * pair.distance
		);
		isFollowing = false;
	};
	const align = (distance, zero) => {
		pair.distance = distance;
		limitsOf(a, b, distance).forEach((limits, i) => Object.assign(pages[i].view, limits));
		pages[0].window.traceView.setZero(zero);
		pages[1].window.traceView.setZero(zero - distance);
		for (const { view } of pages) view.emit("paint", "range", "selection");
		pages[0].window.traceView.showSpan(a, a.least, a.most);
		follow(pages[0], pages[1], -1)();
	};

	/* A trace that has grown: its view has limits of its own, and the other one still those of both. */
	const grow = other => () => {
		const isWhole = other.from === other.least && other.to === other.most;

		limitsOf(a, b, pair.distance).forEach((limits, i) => Object.assign(pages[i].view, limits));
		if (isWhole) pages[0].window.traceView.showSpan(a, a.least, a.most);
	};

	a.on("span", follow(pages[0], pages[1], -1));
	b.on("span", follow(pages[1], pages[0], 1));
	a.on("duration", grow(b));
	b.on("duration", grow(a));
	return align;
}

async function compare(pages) {
	const abouts = pages.map(page => page.view.about);

	if (abouts[0].events + abouts[1].events > MOST_EVENTS) return;
	byId("compared").textContent = comparison(await Promise.all(pages.map(page => page.window.traceView.ask("books"))));
}

async function start() {
	const pages = await pagesOf([...document.querySelectorAll("iframe")]),
		button = byId("align");
	let align = () => {},
		distance = null,
		isByClock = false;
	const abouts = () => pages.map(page => page.view.about);
	const alignAtCommands = () => {
		const commands = commandDistance(...abouts());

		align(commands ?? 0, commands === null ? 0 : pages[0].view.about.command_from);
	};

	if (pages.every(page => page.view)) {
		align = link(pages);
		distance = clockDistance(...abouts());
		alignAtCommands();
	}
	const toggleClock = () => {
		if (distance === null) return;
		isByClock = !isByClock;
		button.setAttribute("aria-pressed", isByClock);
		if (isByClock) align(distance, 0);
		else alignAtCommands();
	};

	button.disabled = distance === null;
	if (button.disabled) button.title = "These recordings have no time in common";
	takeTheme(pages);
	button.addEventListener("click", toggleClock);
	listenToPages(pages, toggleClock);
	activate(pages, pages[0]);
	document.title = pages.map(page => page.document.getElementById("trace").textContent).join(", ");
	if (pages.every(page => page.view)) {
		const isKnown = commandDistance(...abouts()) !== null;

		while (!abouts().every(about => about.complete)) await new Promise(resolve => setTimeout(resolve, 300));
		if (!isKnown && !isByClock) alignAtCommands(); // the pass has found the commands
		await compare(pages);
	}
	document.documentElement.dataset.state = "ready";
}

/** A page of the server gets its frames from there; in a file the loader has filled them. */
function loadFrames() {
	for (const frame of document.querySelectorAll("iframe"))
		if (!frame.srcdoc) frame.src = `${frame.dataset.trace}/`;
}

if (globalThis.window?.document?.querySelector) {
	loadFrames(); // not in the tests of its parts
	start();
}
