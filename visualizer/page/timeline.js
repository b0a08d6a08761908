// SPDX-License-Identifier: LGPL-2.1-or-later
// timeline.js - draws the canvas: names of rows, time axis, bars, texts in boxes.

import { LEAST_LETTER } from "./boxes.js";
import { CLASSES, CLIENT, CLIENT_CLASSES, ON_CPU, THEMES, inkOn, makePixels, pixelOf } from "./classes.js";
import { paintCounter, topText } from "./counters.js";
import { scopesOf } from "./lanes.js";
import { drawGaps, drawOverlay } from "./overlay.js";
import { clientParts, paintPicture } from "./picture.js";
import { requestText, requestsOf } from "./requests.js";
import { restText } from "./rows.js";
import { paintSamples } from "./samples.js";
import { durationText, firstTick, pointText, tickDistance, wallDigits, wallText } from "./time.js";
import { AXIS_HEIGHT, BAR_HEIGHT, ROW_HEIGHT, divisionOf, visibleRows, xAt } from "./view.js";
import { boxText, clean } from "./words.js";

const FONT = "12px system-ui, 'DejaVu Sans', sans-serif",
	SMALL_FONT = "11px system-ui, 'DejaVu Sans', sans-serif";
const LEAST_TEXT = 34; // CSS pixels of a box with a text

/** @picture: where the shares are; @boxes: where the spans are; the painter sets their sizes. */
export function makeTimeline(canvas, view, picture, boxes) {
	const timeline = {
		canvas,
		view,
		picture,
		boxes,
		image: null,
		pixels: null,
		theme: "light",
		palettes: {},
		context: canvas.getContext("2d", { alpha: false, willReadFrequently: true }),
		starts: new Map(),
		frame_ms: 0
	};
	let isAsked = false;

	view.on("paint", () => {
		if (isAsked) return;
		isAsked = true;
		view.busy(1);
		requestAnimationFrame(() => {
			isAsked = false;
			const begin = performance.now();

			draw(timeline);
			timeline.frame_ms = performance.now() - begin;
			view.busy(-1);
		});
	});
	return timeline;
}

/** Takes the size of the canvas from its box on the page. */
export function resizeTimeline(timeline) {
	const { canvas, view, picture } = timeline,
		box = canvas.parentElement.getBoundingClientRect();
	const ratio = devicePixelRatio || 1;

	canvas.width = Math.max(1, Math.round(box.width * ratio));
	canvas.height = Math.max(1, Math.round(box.height * ratio));
	view.labelWidth = Math.max(180, Math.min(340, Math.round(box.width * 0.17)));
	picture.columns = Math.max(1, canvas.width - Math.round(view.labelWidth * ratio));
	picture.height = Math.round(BAR_HEIGHT * ratio);
	view.width = picture.columns / ratio;
	view.height = canvas.height / ratio;
	timeline.ratio = ratio;
	timeline.context.fillStyle = THEMES[timeline.theme].background; // until the first picture a new canvas is black
	timeline.context.fillRect(0, 0, canvas.width, canvas.height);
	timeline.image = new ImageData(picture.columns, Math.max(1, canvas.height - Math.round(AXIS_HEIGHT * ratio)));
	timeline.pixels = new Uint32Array(timeline.image.data.buffer);
}

/**
 * The requests of a lane, in the colours of their clients; a column of ground is between two. One without an answer has
 * a dark end.
 */
function paintRequests({ view, picture, pixels, image, ratio, theme, palettes }, lane, top) {
	const scale = picture.columns / (view.to - view.from),
		ground = pixelOf(THEMES[theme].background),
		strong = pixelOf(THEMES[theme].strong);

	for (const request of requestsOf(lane)) {
		const begin = Math.max(0, Math.round((request.from - view.from) * scale)),
			end = Math.min(picture.columns, Math.max(begin + 1, Math.round((request.to - view.from) * scale))),
			number = CLIENT + 2 * request.client;

		for (let y = Math.max(0, top); y < Math.min(image.height, top + picture.height); y++)
			for (let x = begin; x < end; x++) {
				const isLast = x + 1 === end && end - begin > 2,
					isDark = request.end !== "answered" && x + 1 + Math.round(2 * ratio) >= end && end - begin > 4;

				pixels[y * image.width + x] = isLast
					? ground
					: isDark
						? strong
						: palettes[theme].byClient[(number << 6) | ((y & 7) << 3) | (x & 7)];
			}
	}
}

/** The clients of requests in words, where there is room. */
function drawRequestTexts({ context, view, theme }, rows) {
	context.font = SMALL_FONT;
	for (const { node, y } of rows)
		for (const request of node.requests ? requestsOf(node.requests) : []) {
			const begin = Math.max(view.labelWidth, xAt(view, request.from)),
				end = Math.min(view.labelWidth + view.width, xAt(view, request.to));
			const { [theme]: colour, letter } = CLIENT_CLASSES[CLIENT + 2 * request.client];

			if (end - begin < LEAST_LETTER) continue;
			context.fillStyle = colour; // a pattern is hard to read on
			const text = end - begin < LEAST_TEXT ? letter : requestText(request);

			context.fillRect(begin + 1, y + 3, Math.min(end - begin - 5, context.measureText(text).width + 5), BAR_HEIGHT - 2);
			context.fillStyle = inkOn(colour);
			drawText(context, text, begin + 3, y + 14, end - begin - 8);
		}
}

function drawBars(timeline, rows) {
	const { context, picture, pixels, image, ratio, theme, view } = timeline;
	const top = Math.round(AXIS_HEIGHT * ratio),
		inset = (ROW_HEIGHT - BAR_HEIGHT) / 2;

	timeline.palettes[theme] ??= {
		plain: makePixels(theme, THEMES[theme].background),
		byClient: makePixels(theme, THEMES[theme].background, true)
	};
	pixels.fill(pixelOf(THEMES[theme].background));
	paintPicture(
		picture,
		rows.map(({ node, y }) => ({ id: node.id, top: Math.round((y + inset) * ratio) - top })),
		pixels,
		image.height,
		timeline.palettes[theme]
	);
	for (const { node, y } of rows)
		if (node.requests) paintRequests(timeline, node.requests, Math.round((y + inset) * ratio) - top);
		else if (node.samples) paintSamples(timeline, node.samples, Math.round((y + inset) * ratio) - top);
		else if (node.counter) paintCounter(timeline, node.counter, Math.round((y + inset) * ratio) - top);
	context.putImageData(image, Math.round(view.labelWidth * ratio), top);
}

/** Texts are cut with an ellipsis to @width; measured by the average character, then exactly. */
function drawText(context, text, x, y, width) {
	let most = Math.max(1, Math.floor(width / 4));

	if (text.length > most) text = text.slice(0, most);
	while (text.length > 1 && context.measureText(text).width > width) {
		most = Math.min(text.length - 2, Math.floor((text.length * width) / context.measureText(text).width));
		text = text.slice(0, Math.max(1, most)) + (most > 2 ? "\u2026" : "");
		if (most <= 1) break;
	}
	context.fillText(text, x, y);
}

function drawNames(timeline, rows) {
	const { context, view, theme } = timeline,
		colours = THEMES[theme];

	context.fillStyle = colours.background;
	context.fillRect(0, AXIS_HEIGHT, view.labelWidth, view.height);
	for (const { node, y } of rows) {
		const isSelected = view.row !== null && view.tree.byRow.get(view.row)?.key === node.key;
		const number = node.counter ? topText(node.counter.name) : node.number === null ? "" : String(node.number),
			x = 8 + node.depth * 14;

		if (isSelected) {
			context.fillStyle = colours.band;
			context.fillRect(0, y, view.labelWidth, ROW_HEIGHT);
			context.fillStyle = colours.accent;
			context.fillRect(0, y, 3, ROW_HEIGHT);
		}
		context.font = SMALL_FONT;
		context.fillStyle = isSelected ? colours.text : colours.dim;
		context.textAlign = "right";
		context.fillText(number, view.labelWidth - 8, y + 14);
		context.textAlign = "left";
		if (node.kids.length) context.fillText(view.open.has(node.key) ? "\u25be" : "\u25b8", x, y + 14);
		if (node.pinned) context.fillText("\u2022", x, y + 14);
		context.font = node.row?.command && node.depth === 0 ? "600 " + FONT : FONT;
		context.fillStyle = colours.text;
		drawText(context, node.label, x + 13, y + 14, view.labelWidth - x - 13 - 16 - number.length * 7);
	}
	context.fillStyle = colours.line;
	context.fillRect(view.labelWidth - 1, 0, 1, view.height);
}

/** The length of the measured span, on the axis. */
function drawLength(context, view, colours) {
	const text = durationText(view.range.to - view.range.from),
		width = context.measureText(text).width + 8;
	const middle = (xAt(view, view.range.from) + xAt(view, view.range.to)) / 2,
		x = Math.max(view.labelWidth, Math.min(view.labelWidth + view.width - width, middle - width / 2));

	context.fillStyle = colours.accent;
	context.fillRect(x, 19, width, 17);
	context.fillStyle = colours.background;
	context.fillText(text, x + 4, 31);
}

/** The texts of a point of the axis. One that the edge would cut is left out. */
function drawPoint(context, view, colours, x, text, wall) {
	const width = Math.max(context.measureText(text).width, context.measureText(wall).width);

	if (x + 4 + width > view.labelWidth + view.width) return;
	context.fillStyle = colours.text;
	context.fillText(text, x + 4, 15);
	context.fillStyle = colours.dim;
	context.fillText(wall, x + 4, 31);
}

function drawAxis(timeline) {
	const { context, view, theme } = timeline,
		colours = THEMES[theme];
	const distance = tickDistance(view.to - view.from, view.width / 130),
		start = BigInt(view.about.start_realtime_ns || 0);

	context.fillStyle = colours.background;
	context.fillRect(0, 0, view.labelWidth + view.width, AXIS_HEIGHT);
	context.font = SMALL_FONT;
	context.fillStyle = colours.dim;
	const length = durationText(view.to - view.from),
		whole = durationText(view.duration);

	context.fillText(view.to - view.from > view.duration ? `${length}, trace: ${whole}` : `${length} of ${whole}`, 8, 15);
	context.fillText(start ? `${wallText(view.from, start, wallDigits(distance))} UTC` : "", 8, 31);
	for (let t = firstTick(view.from, distance); t <= view.to; t += distance) {
		const x = xAt(view, t);

		context.fillStyle = colours.line;
		context.fillRect(Math.round(x), 0, 1, AXIS_HEIGHT);
		drawPoint(context, view, colours, x, pointText(t, distance), start ? wallText(t, start, wallDigits(distance)) : "");
	}
	if (view.range) drawLength(context, view, colours);
	context.fillStyle = colours.line;
	context.fillRect(0, AXIS_HEIGHT - 1, view.labelWidth + view.width, 1);
}

/** The text of a box of @width pixels: words, or the letter of its class; "": none. */
function textOf(span, width) {
	if (!CLASSES[span.class].letter) return "";
	return width >= LEAST_TEXT ? boxText(span) : span.thread ? "" : CLASSES[span.class].letter;
}

/** A ground of the colour of the class hides a pattern; that of a turn on a CPU, which has several classes, is pale. */
function drawGround({ context, theme }, span, text, x, y, width) {
	const { [theme]: colour, pattern } = CLASSES[span.class];

	if (pattern === "solid" && !span.thread) return inkOn(colour);
	context.fillStyle = span.thread ? THEMES[theme].background : colour;
	context.globalAlpha = span.thread ? 0.8 : 1;
	context.fillRect(x, y + 3, Math.min(width, context.measureText(text.slice(0, 80)).width + 4), BAR_HEIGHT - 2);
	context.globalAlpha = 1;
	return span.thread ? THEMES[theme].strong : inkOn(colour);
}

/** The letters of the clients, where a server works for one of them for some pixels. */
function drawLetters({ context, view, picture, theme, ratio }, node, y) {
	for (const { from, to, number } of clientParts(picture, node.id, LEAST_LETTER * ratio)) {
		const begin = Math.max(view.labelWidth, xAt(view, from)),
			end = Math.min(view.labelWidth + view.width, xAt(view, to));
		const { [theme]: colour, letter } = CLIENT_CLASSES[number];

		if (end - begin < LEAST_LETTER) continue;
		context.fillStyle = colour;
		context.fillRect(begin + 1, y + 3, 11, BAR_HEIGHT - 2);
		context.fillStyle = inkOn(colour);
		context.fillText(letter, begin + 3, y + 14);
	}
}

function drawBoxes(timeline, rows) {
	const { context, view, boxes, theme } = timeline,
		right = view.labelWidth + view.width;

	context.font = SMALL_FONT;
	for (const { node, y } of rows) {
		const byClient = divisionOf(view, node.id) !== "";

		if (byClient) drawLetters(timeline, node, y);
		for (const span of boxes.spans.get(node.leaf) ?? []) {
			const x = xAt(view, span.from),
				end = Math.min(right, xAt(view, span.to)),
				begin = Math.max(view.labelWidth, x);

			if (end - begin < LEAST_LETTER || end < view.labelWidth) continue;
			const text = byClient && ON_CPU.includes(span.class) ? "" : textOf(span, end - begin);

			context.fillStyle = THEMES[theme].background; // the border to the span before
			if (x >= view.labelWidth) context.fillRect(Math.round(x), y + 2, 1, BAR_HEIGHT);
			if (!text) continue;
			context.fillStyle = byClient
				? THEMES[theme].text
				: drawGround(timeline, span, text, begin + 2, y, end - begin - 3);
			drawText(context, text, begin + 4, y + 14, end - begin - 7);
		}
	}
}

/** The scopes and requests of a thread: boxes with names; a request has a mark at its left. */
function drawLanes({ context, view, theme }, rows) {
	const colours = THEMES[theme],
		right = view.labelWidth + view.width;

	context.font = SMALL_FONT;
	for (const { node, y } of rows) {
		if (!node.lane) continue;
		for (const scope of scopesOf(view, node.lane)) {
			const begin = Math.max(view.labelWidth, xAt(view, scope.from)),
				end = Math.max(begin + 1, Math.min(right, xAt(view, scope.to)));

			if (end <= view.labelWidth || begin >= right) continue;
			context.fillStyle = colours.dim;
			context.fillRect(begin, y + 2, end - begin, BAR_HEIGHT);
			if (end - begin < 4) continue;
			context.fillStyle = colours.band;
			context.fillRect(begin + 1, y + 3, end - begin - 2, BAR_HEIGHT - 2);
			context.fillStyle = colours.accent;
			if (scope.kind === "request") context.fillRect(begin, y + 2, 3, BAR_HEIGHT);
			context.fillStyle = colours.text;
			if (end - begin >= LEAST_TEXT) drawText(context, clean(scope.name), begin + 6, y + 14, end - begin - 9);
		}
	}
}

/** Below the last row: how many are left out. */
function drawNote({ context, view, theme }) {
	const y = AXIS_HEIGHT + view.shown.length * ROW_HEIGHT - view.scroll + 16;
	const notes = [
		view.nrAbsent
			? `${view.nrAbsent} more ${view.nrAbsent === 1 ? "row does" : "rows do"} not exist in this span (e shows them)`
			: "",
		view.rest ? `${restText(view.rest)} have no row here: the trace has too many` : ""
	].filter(Boolean);

	if (!notes.length || y > view.height) return;
	context.font = SMALL_FONT;
	context.fillStyle = THEMES[theme].dim;
	notes.forEach((note, i) => context.fillText(note, 8, y + i * ROW_HEIGHT));
}

function drawScrollMark({ context, view, theme }) {
	const room = view.height - AXIS_HEIGHT,
		whole = view.shown.length * ROW_HEIGHT;

	if (whole <= room) return;
	context.fillStyle = THEMES[theme].dim;
	context.globalAlpha = 0.6;
	context.fillRect(
		view.labelWidth - 4,
		AXIS_HEIGHT + (room * view.scroll) / whole,
		3,
		Math.max(12, (room * room) / whole)
	);
	context.globalAlpha = 1;
}

function draw(timeline) {
	const { context, view, ratio } = timeline;

	if (!timeline.image) return;
	const rows = visibleRows(view);

	context.setTransform(1, 0, 0, 1, 0, 0);
	drawBars(timeline, rows);
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.direction = "ltr";
	context.textBaseline = "alphabetic";
	context.save();
	context.beginPath();
	context.rect(view.labelWidth, AXIS_HEIGHT, view.width, view.height);
	context.clip();
	drawGaps(context, view, THEMES[timeline.theme]);
	drawBoxes(timeline, rows);
	drawLanes(timeline, rows);
	drawRequestTexts(timeline, rows);
	drawOverlay(context, view, THEMES[timeline.theme]);
	context.restore();
	drawNames(timeline, rows);
	drawAxis(timeline);
	drawNote(timeline);
	drawScrollMark(timeline);
}
