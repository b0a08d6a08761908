// SPDX-License-Identifier: LGPL-2.1-or-later
// classes.js - the classes of time: order in a column, letter, colour and pattern.
//
// The colours are those of Okabe and Ito, which people with any kind of colour blindness can tell
// apart, and shades of them. Classes of a similar shade differ in their pattern, too.

/** An index is the number of the class in the protocol. Patterns: see PATTERNS. */
export const CLASSES = [
	{ name: "user", letter: "U", light: "#009e73", dark: "#00a87b", pattern: "solid" },
	{ name: "syscall", letter: "S", light: "#0072b2", dark: "#2a86c4", pattern: "solid" },
	{ name: "trap", letter: "T", light: "#cc79a7", dark: "#cc79a7", pattern: "solid" },
	{ name: "interrupted", letter: "I", light: "#8f4f7a", dark: "#b06a98", pattern: "rising" },
	{ name: "wait_cpu", letter: "C", light: "#d55e00", dark: "#e0691a", pattern: "solid" },
	{ name: "rest", letter: "r", light: "#e6e9ec", dark: "#2b3036", pattern: "solid" },
	{ name: "file", letter: "F", light: "#e69f00", dark: "#e69f00", pattern: "solid" },
	{ name: "process", letter: "P", light: "#f0e442", dark: "#e3d640", pattern: "solid" },
	{ name: "network", letter: "N", light: "#56b4e9", dark: "#56b4e9", pattern: "solid" },
	{ name: "timeout", letter: "O", light: "#c9bfa0", dark: "#8a8064", pattern: "level" },
	{ name: "device", letter: "D", light: "#b07d12", dark: "#b07d12", pattern: "upright" },
	{ name: "memory", letter: "M", light: "#f2c78a", dark: "#c9985a", pattern: "falling" },
	{ name: "stopped", letter: "Z", light: "#7a7f85", dark: "#8b9198", pattern: "upright" },
	{ name: "other", letter: "o", light: "#a9afb6", dark: "#70777f", pattern: "level" },
	{ name: "unknown", letter: "?", light: "#ffffff", dark: "#16191d", pattern: "hatched" },
	{ name: "kernel", letter: "K", light: "#8fb3cc", dark: "#6f93ad", pattern: "falling" },
	{ name: "quota", letter: "Q", light: "#a34700", dark: "#c8641e", pattern: "rising" },
	{ name: "running", letter: "R", light: "#37797f", dark: "#3fa5ad", pattern: "level" },
	{ name: "idle", letter: "i", light: "#eef0f2", dark: "#23272c", pattern: "solid" },
	{ name: "absent", letter: "", light: "#ffffff", dark: "#16191d", pattern: "solid" },
	{ name: "unread", letter: "", light: "#ffffff", dark: "#16191d", pattern: "dotted" }
];
export const NR_CLASSES = CLASSES.length;
export const [
	USER,
	SYSCALL,
	TRAP,
	INTERRUPTED,
	WAIT_CPU,
	REST,
	FILE,
	PROCESS,
	NETWORK,
	TIMEOUT,
	DEVICE,
	MEMORY,
	STOPPED,
	OTHER,
	UNKNOWN,
	KERNEL,
	QUOTA,
	RUNNING,
	IDLE,
	ABSENT,
	UNREAD
] = CLASSES.keys();

/**
 * Time of servers on CPUs by client, as shares?by=client has it: for no known client, and for client number n the
 * exact time at CLIENT + 2 n and the shared time after it. Their waits are pale then, so that no colour has two meanings.
 */
export const NO_CLIENT = 32,
	CLIENT = 33,
	MOST_CLIENTS = 16;
const CLIENT_COLOURS = [
	["#0072b2", "#2a86c4"],
	["#e69f00", "#e69f00"],
	["#009e73", "#00a87b"],
	["#cc79a7", "#cc79a7"],
	["#56b4e9", "#7cc8f4"],
	["#d55e00", "#e0691a"],
	["#f0e442", "#e3d640"],
	["#3f2160", "#8f1fe1"]
];
const PALE = { light: "#d3d8dd", dark: "#3a4149" };

export function clientLetter(client) {
	return String.fromCharCode(65 + client);
}

function makeClientClasses() {
	const list = [];

	list[NO_CLIENT] = { name: "no client", letter: "-", light: "#8b939b", dark: "#7d858d", pattern: "upright" };
	for (let client = 0; client < MOST_CLIENTS; client++) {
		const [light, dark] = CLIENT_COLOURS[client % CLIENT_COLOURS.length],
			isSecond = client >= CLIENT_COLOURS.length,
			letter = clientLetter(client);

		list[CLIENT + 2 * client] = { name: letter, letter, light, dark, pattern: isSecond ? "barred" : "solid" };
		list[CLIENT + 2 * client + 1] = { name: letter, letter, light, dark, pattern: isSecond ? "crossed" : "striped" };
	}
	return list;
}

/** The classes by client; an index is the number in the protocol, the others are empty. */
export const CLIENT_CLASSES = makeClientClasses();
export const NR_NUMBERS = CLIENT_CLASSES.length;

/** The colours of what is not time. */
export const THEMES = {
	light: {
		background: "#ffffff",
		text: "#16191d",
		dim: "#59616a",
		line: "#d4d8dc",
		band: "#e4effa",
		strong: "#000000",
		accent: "#0b5cad"
	},
	dark: {
		background: "#16191d",
		text: "#e8eaed",
		dim: "#a4acb5",
		line: "#343a41",
		band: "#213547",
		strong: "#ffffff",
		accent: "#7cc0ff"
	}
};

/** The classes in the order of a column, from its top: what rests is above, what runs is below. */
export const ORDER = [
	UNREAD,
	ABSENT,
	IDLE,
	REST,
	UNKNOWN,
	OTHER,
	STOPPED,
	TIMEOUT,
	NETWORK,
	PROCESS,
	KERNEL,
	MEMORY,
	DEVICE,
	FILE,
	QUOTA,
	WAIT_CPU,
	INTERRUPTED,
	TRAP,
	SYSCALL,
	RUNNING,
	USER
];
/** The same, with the time by client below what is not on a CPU. */
export const CLIENT_ORDER = [
	...ORDER,
	NO_CLIENT,
	...Array.from({ length: 2 * MOST_CLIENTS }, (_, i) => CLIENT + 2 * MOST_CLIENTS - 1 - i)
];
export const ON_CPU = [USER, SYSCALL, TRAP, RUNNING, INTERRUPTED];
export const AT_REST = [REST, IDLE, ABSENT, UNREAD];

/** True where a pattern of 8 x 8 pixels has its second colour. */
const PATTERNS = {
	solid: () => false,
	rising: (x, y) => (x + y) % 4 === 0,
	falling: (x, y) => (x - y + 8) % 4 === 0,
	level: (x, y) => y % 4 === 0,
	upright: x => x % 4 === 0,
	striped: (x, y) => (x + y) % 8 < 3,
	barred: (x, y) => y % 8 < 2,
	crossed: (x, y) => (x + y) % 8 < 3 || y % 8 < 2,
	hatched: (x, y) => (x + y) % 8 < 2 || (x - y + 8) % 8 < 2,
	dotted: (x, y) => x % 4 === 0 && y % 4 === 0
};

function channels(colour) {
	return [1, 3, 5].map(i => parseInt(colour.slice(i, i + 2), 16));
}

function luminance(colour) {
	const [r, g, b] = channels(colour)
		.map(c => c / 255)
		.map(c => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));

	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** The contrast of two colours as WCAG defines it, 1 to 21. */
export function contrast(a, b) {
	const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);

	return (light + 0.05) / (dark + 0.05);
}

/** The colour of a text that is well readable on @colour. */
export function inkOn(colour) {
	return contrast(colour, "#000000") >= contrast(colour, "#ffffff") ? "#000000" : "#ffffff";
}

/** A colour as a pixel of ImageData on a little-endian machine. */
export function pixelOf(colour) {
	const [r, g, b] = channels(colour);

	return ((0xff << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

function secondColour(colour, pattern, theme) {
	if (pattern === "hatched" || pattern === "dotted") return theme === "dark" ? "#aab2bb" : "#5a626b";
	if (["striped", "barred", "crossed"].includes(pattern)) return theme === "dark" ? "#16191d" : "#ffffff";
	const towards = luminance(colour) > 0.4 ? 0 : 255;

	return (
		"#" +
		channels(colour)
			.map(c =>
				Math.round(c * 0.65 + towards * 0.35)
					.toString(16)
					.padStart(2, "0")
			)
			.join("")
	);
}

/**
 * The pixels of all classes: entry class * 64 + (y & 7) * 8 + (x & 7).
 * @background: the colour where no time is drawn
 * @byClient: for rows by client: waits are pale
 */
export function makePixels(theme, background, byClient = false) {
	const pixels = new Uint32Array(256 * 64).fill(pixelOf(background));
	const all = [...CLASSES, ...CLIENT_CLASSES.slice(CLASSES.length)];

	all.forEach((found, number) => {
		if (!found) return;
		const isPale = byClient && number < NR_CLASSES && ![...AT_REST, UNKNOWN].includes(number);
		const { pattern, ...colours } = isPale ? { pattern: "solid", ...PALE } : found;
		const first = pixelOf(number === ABSENT ? background : colours[theme]);
		const second = pixelOf(secondColour(colours[theme], pattern, theme));

		for (let i = 0; i < 64; i++) pixels[number * 64 + i] = PATTERNS[pattern](i & 7, i >> 3) ? second : first;
	});
	return pixels;
}
