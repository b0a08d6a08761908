// SPDX-License-Identifier: LGPL-2.1-or-later
// swatch.js - small pictures of classes outside the timeline: squares of the legend, and stacked bars.

import { AT_REST, ORDER, THEMES, makePixels } from "./classes.js";
import { el } from "./dom.js";
import { percentText } from "./time.js";
import { classLabel } from "./words.js";

const palettes = {};
let theme = "light";

/** Takes the theme, and paints all swatches of the page again. */
export function takeTheme(name) {
	theme = name;
	for (const canvas of document.querySelectorAll("canvas[data-parts]")) paint(canvas);
}

function paint(canvas) {
	const { width, height } = canvas,
		parts = JSON.parse(canvas.dataset.parts);
	const context = canvas.getContext("2d", { willReadFrequently: true }),
		image = new ImageData(width, height);
	const pixels = new Uint32Array(image.data.buffer),
		sum = parts.reduce((s, part) => s + part[1], 0) || 1;
	let done = 0,
		x = 0;

	palettes[theme] ??= makePixels(theme, THEMES[theme].background);
	for (const [number, ns] of parts) {
		const end = Math.round(((done += ns) * width) / sum);

		for (; x < end; x++)
			for (let y = 0; y < height; y++)
				pixels[y * width + x] = palettes[theme][(number << 6) | ((y & 7) << 3) | (x & 7)];
	}
	context.putImageData(image, 0, 0);
}

function picture(parts, width, height, attributes) {
	const canvas = el("canvas", { width, height, "data-parts": JSON.stringify(parts), ...attributes });

	paint(canvas);
	return canvas;
}

/** The square of a class. */
export function swatch(number) {
	return picture([[number, 1]], 16, 16, { class: "swatch", "aria-hidden": "true" });
}

/** A stacked bar of ns per class, what runs first. */
export function stackedBar(ns, width = 160, height = 14) {
	const parts = [...ORDER]
		.reverse()
		.filter(number => ns[number] > 0)
		.map(number => [number, ns[number]]);
	const sum = parts.reduce((s, part) => s + part[1], 0);
	const text = parts
		.slice()
		.sort((a, b) => b[1] - a[1])
		.slice(0, 4)
		.map(([number, n]) => `${classLabel(number)} ${percentText(n, sum)}`)
		.join(", ");

	return picture(parts, width, height, { class: "bar", role: "img", "aria-label": text || "no time", title: text });
}

/** The time of a row that is not at rest: what makes a row interesting. */
export function interest(ns) {
	return ns.reduce((sum, n, number) => sum + (AT_REST.includes(number) ? 0 : n), 0);
}
