// SPDX-License-Identifier: LGPL-2.1-or-later
// loader.js - the only script of the self-contained page that runs by itself: starts the worker with the engine and the
// trace, and loads the page's modules.
//
// All other scripts, and the trace, are the texts of elements that the browser does not run. A module gets the address
// of a Blob; the order of the elements is that in which modules need each other.

"use strict";

function textOf(id) {
	return document.getElementById(id).textContent;
}

function addressOf(text, type) {
	return URL.createObjectURL(new Blob([text], { type }));
}

function startWorker() {
	const worker = new Worker(addressOf(textOf("worker.js"), "text/javascript"));

	worker.postMessage({
		engine: textOf("engine"),
		trace: textOf("trace-data"),
		name: JSON.parse(textOf("trace-name")),
		window: JSON.parse(textOf("trace-window")),
	});
	document.getElementById("engine").remove();
	document.getElementById("trace-data").remove();
	globalThis.traceWorker = worker;
}

function loadStyle() {
	const sheet = new CSSStyleSheet();

	sheet.replaceSync(textOf("style.css"));
	document.adoptedStyleSheets = [sheet];
}

function loadModules() {
	const addresses = new Map();

	for (const module of document.querySelectorAll("script[data-module]")) {
		const text = module.textContent.replace(/(\bfrom\s*")\.\/([^"]+)(")/g, (whole, before, name, after) => before + addresses.get(name) + after);

		addresses.set(module.id, addressOf(text, "text/javascript"));
	}
	return import(addresses.get("main.js"));
}

loadStyle();
startWorker();
loadModules();
