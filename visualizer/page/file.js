// SPDX-License-Identifier: LGPL-2.1-or-later
// file.js - what has become of the trace's file since it was read, and the button that reads it again.

import { ask } from "./ask.js";
import { byId, el } from "./dom.js";
import { clean } from "./words.js";

const SENTENCES = {
	grown: "The file of the trace has grown since it was read: it may still be recorded.",
	changed: "The file of the trace was changed since it was read, so its events cannot be shown.",
	replaced: "Another file has the name of this trace now; this is still the old one.",
	gone: "The file of the trace was removed or renamed; what was read is still shown.",
	unknown: "The file of the trace cannot be looked at now; what was read is still shown."
};

/**
 * Shows the sentence for the state of the file in @about; nothing if it is the same. @again: reads it again
 * @growth: the sentence about a trace that has been read again by itself; "": it has not
 */
export function showFile(about, again, growth = "") {
	const why = about.trace_file === "grown" && about.unread ? ` The view does not read it again: ${clean(about.unread, 200)}.` : "",
		state = growth && ["same", "grown"].includes(about.trace_file) ? "live" : SENTENCES[about.trace_file] ? about.trace_file : "same",
		box = byId("file");

	if (state === "live" && box.textContent !== growth) box.textContent = growth;
	if (box.dataset.state === state + why) return; // the button may have the focus
	box.dataset.state = state + why;
	box.hidden = state === "same";
	if (state === "live") return;
	box.replaceChildren(
		(SENTENCES[state] ?? "") + (state === "grown" ? why : ""),
		" ",
		state === "same" || state === "gone"
			? ""
			: el("button", { type: "button", onclick: again }, "Read it again", el("kbd", { "aria-hidden": true }, "u"))
	);
}

/** Lets the server read the file again, and shows what is in it now. @fail: is told why not */
export async function readAgain(fail) {
	if (byId("file").hidden) return;
	try {
		await ask("again");
		globalThis.parent.location.reload(); // two traces have one page
	} catch (error) {
		fail(error.message);
	}
}
