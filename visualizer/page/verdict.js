// SPDX-License-Identifier: LGPL-2.1-or-later
// verdict.js - the top of the page: the answer in a sentence, its parts as a bar, and what is missing.

import { ask, question } from "./ask.js";
import { byId, el, linkButton } from "./dom.js";
import { stackedBar, swatch } from "./swatch.js";
import { countText, durationText, partText, percentText } from "./time.js";
import { nameRows, openSubject } from "./view.js";
import { goTo, selectSpan } from "./walk.js";
import { classLabel, clean, wokenText } from "./words.js";

const MOST_SENTENCES = 4,
	MOST_WAITS = 3;

/** Goes to a wait, and selects it. */
function goToWait(walk, { row, from, to }) {
	goTo(walk, row, from, to);
	selectSpan(walk, row, from);
}

/**
 * The clauses of a sentence. Those that have a place are links to it, and select what was there. The first name is that of
 * all of the sentence: it leads to its row.
 */
export function clauses(sentence, walk) {
	const subject = sentence.find(({ row }) => row !== undefined);

	return sentence.map(clause =>
		clause.row === undefined && clause.from === undefined
			? clean(clause.text, 2000)
			: linkButton(clean(clause.text, 2000), () =>
					clause === subject && !clause.is_wait ? goTo(walk, clause.row) : goToWait(walk, clause)
				)
	);
}

function legend(bars, sum) {
	return bars
		.filter(bar => bar.ns > 0)
		.map(bar =>
			el(
				"li",
				{},
				swatch(bar.class),
				` ${clean(bar.label || classLabel(bar.class))} `,
				el("b", {}, percentText(bar.ns, sum)),
				` ${durationText(bar.ns)}`
			)
		);
}

/** The waits that made up most of the answer, each a link to the first of its kind. */
function topWaits(walk, waits, threads) {
	const links = waits
		.filter(wait => Number.isInteger(wait.row))
		.slice(0, MOST_WAITS)
		.map(wait => [
			linkButton(`${clean(wait.waiter)} for ${clean(wait.text)}`, () =>
				goToWait(walk, wait)
			),
			` ${durationText(wait.ns)}`,
			wait.count > 1 ? ` (${countText(wait.count)} times)` : "",
			wait.where ? `, mostly in ${clean(wait.where)}` : "",
			wait.woken ? `, ${wokenText(clean(wait.woken))}` : ""
		]);

	return links.length
		? [`${threads > 1 ? "They" : "It"} waited the longest: `, ...links.flatMap((link, i) => (i ? [", ", ...link] : link)), "."]
		: [];
}

export function showVerdict(walk, { sentence, bars = [], waits = [], threads = 1 }) {
	const ns = [],
		sum = bars.reduce((s, bar) => s + bar.ns, 0);

	for (const bar of bars) ns[bar.class] = (ns[bar.class] ?? 0) + bar.ns;
	byId("sentence").replaceChildren(...clauses(sentence, walk));
	byId("top-waits").replaceChildren(...topWaits(walk, waits, threads));
	byId("top-waits").hidden = byId("top-waits").childNodes.length === 0;
	bars.sort((a, b) => b.ns - a.ns);
	byId("parts").replaceChildren(sum ? stackedBar(ns, 1200, 20) : "", el("ul", {}, ...legend(bars, sum)));
}

/** What was not recorded of the states that rows show, once all of the trace is known. */
function unseenSentence({ complete, sees_calls: calls, sees_traps: traps, sees_interrupts: interrupts }) {
	const unseen = [
		calls === false && "system calls",
		traps === false && "page faults",
		interrupts === false && "interrupts"
	].filter(Boolean);

	return complete && unseen.length
		? `Not recorded: ${unseen.join(", ")}; their time is a part of the states that are shown.`
		: "";
}

/** What the view has no room for: @cut tells which lists have an end. */
function cutSentence(cut) {
	const lists = [
		cut.scopes && "scopes and requests of programs",
		cut.requests && "requests of servers",
		cut.clients && "times for clients",
		cut.samples && "samples"
	].filter(Boolean);

	return lists.length
		? `The trace has more ${lists.join(", and more ")} than the view keeps: --from and --to choose a part of it.`
		: "";
}

/** They stand in one paragraph. */
function asSentence(text) {
	return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** The sentences about what the trace does not have, and the view has no room for. */
export function missingSentences(about, cut = {}) {
	const found = [];

	if (about.lost)
		found.push(
			`${countText(about.lost)} ${about.lost === 1 ? "event" : "events"}${about.claim_words ?? ""} ${about.lost === 1 ? "was" : "were"} lost; these times ${about.gaps_cut ? `count as unknown, and the first ${about.gaps.length} of them are hatched` : "are hatched and count as unknown"}.`
		);
	if (about.full_from !== undefined)
		found.push(
			`The trace has more intervals than the view can hold: what is after ${durationText(about.full_from)} has sums only, no boxes and no waits. ` +
				"tracevisualizer --view --from --to shows a part of it in full."
		);
	if (about.coarse)
		found.push(
			'The trace is long: of 64 states on a CPU only the sums are kept, and boxes say "on a CPU". ' +
				"tracevisualizer --view --from --to shows a part of it in full."
		);
	if (about.part) found.unshift(`This is ${partText(about)}.`);
	if (unseenSentence(about)) found.push(unseenSentence(about));
	if (cutSentence(cut)) found.push(cutSentence(cut));
	found.push(...(about.not_traced ?? []).map(text => `Not traced: ${text}`));
	return [...(about.damages ?? []), ...found].map(text => asSentence(clean(text, 600)));
}

/** Shows what is missing, and how far the trace is read. */
export function showMissing({ about, cut }) {
	const sentences = missingSentences(about, cut),
		box = byId("missing");
	const reading = about.complete
		? []
		: [
				el("progress", { max: about.duration_ns, value: about.done_ns, "aria-label": "Read" }),
				` Read ${percentText(about.done_ns, about.duration_ns)} of the trace. `
			];

	box.replaceChildren(...reading, sentences.slice(0, MOST_SENTENCES).join(" "));
	if (sentences.length > MOST_SENTENCES)
		box.append(
			" ",
			el(
				"details",
				{},
				el("summary", {}, `${sentences.length - MOST_SENTENCES} more`),
				sentences.slice(MOST_SENTENCES).join(" ")
			)
		);
	box.hidden = box.childNodes.length === 0 || (sentences.length === 0 && about.complete);
}

/** The ids of the rows that the answer names, the first of the sentence first; of a wait, also whom it was for. */
export function namedIn({ sentence, waits = [] }) {
	return [...sentence, ...waits].flatMap(({ row, other }) => [row, other?.row]).filter(Number.isInteger);
}

/** Asks for the verdict about the whole trace, and shows it. */
export async function updateVerdict(walk) {
	const { view } = walk;

	view.busy(1);
	try {
		const verdict = await ask(question("verdict", { from: 0, to: view.about.duration_ns }));

		showVerdict(walk, verdict);
		nameRows(view, namedIn(verdict));
		openSubject(view, view.subject);
	} catch (error) {
		byId("sentence").textContent = error.message;
	} finally {
		view.busy(-1);
	}
}
