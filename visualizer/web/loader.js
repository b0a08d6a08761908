// SPDX-License-Identifier: LGPL-2.1-or-later
// loader.js - the only script of the self-contained page that runs by itself: starts the worker with the engine and the
// trace, and loads the page's modules.
//
// All other scripts, and the trace, are the texts of elements that the browser does not run. A module gets the address
// of a Blob; the order of the elements is that in which modules need each other.
//
// A page with two traces has a frame for each. This script fills the frames with the page of one trace and itself; in a
// frame it takes the texts from the page around it. Such a frame has the policy of that page, and no address.

"use strict";

const frame = window.frameElement?.dataset.trace ? window.frameElement : null, // null: the page around, or the only one
	place = frame ? frame.ownerDocument : document,
	suffix = frame ? "-" + frame.dataset.trace : "", // of the trace's elements
	own = document.currentScript.textContent,
	frames = document.querySelectorAll("iframe[data-trace]");

function textOf(id) {
	return place.getElementById(id).textContent;
}

function addressOf(text, type) {
	return URL.createObjectURL(new Blob([text], { type }));
}

function startWorker() {
	const worker = new Worker(addressOf(textOf("worker.js"), "text/javascript"));

	worker.postMessage({
		engine: textOf("engine"),
		trace: textOf("trace-data" + suffix),
		name: JSON.parse(textOf("trace-name" + suffix)),
		window: JSON.parse(textOf("trace-window" + suffix)),
	});
	if (!frame) place.getElementById("engine").remove();
	place.getElementById("trace-data" + suffix).remove();
	globalThis.traceWorker = worker;
}

function loadStyle() {
	const sheet = new CSSStyleSheet();

	sheet.replaceSync(textOf("style.css"));
	document.adoptedStyleSheets = [sheet];
}

function loadModules() {
	const addresses = new Map();

	for (const module of place.querySelectorAll("script[data-module]")) {
		const text = module.textContent.replace(/(\bfrom\s*")\.\/([^"]+)(")/g, (whole, before, name, after) => before + addresses.get(name) + after);

		addresses.set(module.id, addressOf(text, "text/javascript"));
	}
	return import(addresses.get(frames.length ? "pair.js" : "main.js"));
}

function fillFrames() {
	const page = textOf("frame-page").replace("</body>", () => `<${"script"}>${own}</${"script"}></body>`);

	for (const each of frames) each.srcdoc = page;
}

loadStyle();
if (frames.length) fillFrames();
else startWorker();
loadModules();
