// SPDX-License-Identifier: LGPL-2.1-or-later
// flame.js - the flame graph of a profile: the width of a box is the elapsed time in a function and in what it called.
//
// The profile is the text of an element: names, files, the hue of each node, and its own times in ns. Children come
// behind their parent, with the depth one greater.
"use strict";

const ROW = 19,
	GAP = 1,
	LEAST = 0.4, // pixels: narrower boxes are not drawn
	MAX_ROWS = 700, // browsers draw no canvas of 32,768 pixels; on some screens a row has 40
	CALLERS = 20; // of a zoomed function that is deeper
const profile = JSON.parse(document.getElementById("profile").textContent);
const $ = id => document.getElementById(id);
const canvas = $("flame"),
	context = canvas.getContext("2d");

// ---- the nodes ----

function addOff(node, hue, ns) {
	if (ns) node.off.set(hue, (node.off.get(hue) ?? 0) + ns);
}

/** Seven numbers a node: depth, name, hue, ns on a CPU, waiting for one, blocked, and how often it calls itself. */
function readNodes(numbers) {
	const nodes = [],
		way = [];

	for (let i = 0; i < numbers.length; i += 7) {
		const [depth, name, hue, cpu, wait, blocked, times] = numbers.slice(i, i + 7);
		const node = { depth, name, hue, times, own: [cpu, wait, blocked], ns: [0, 0, 0], off: new Map(), children: [], found: false };

		node.number = nodes.length;
		node.parent = depth ? way[depth - 1] : null;
		node.parent?.children.push(node);
		way[depth] = node;
		nodes.push(node);
	}
	for (const node of [...nodes].reverse()) {
		addOff(node, node.hue, node.own[1] + node.own[2]);
		for (const [hue, ns] of node.parent ? node.off : []) addOff(node.parent, hue, ns);
		for (let k = 0; k < 3; k++) {
			node.ns[k] += node.own[k];
			if (node.parent) node.parent.ns[k] += node.ns[k];
		}
	}
	return nodes;
}

const nodes = readNodes(profile.nodes),
	root = nodes[0];
let part = "all",
	zoomed = root,
	selected = root,
	boxes = [],
	pattern = "";

const timeIn = times => (part === "off" ? 0 : times[0]) + (part === "on" ? 0 : times[1] + times[2]);
const time = node => timeIn(node.ns);
const nameOf = node => profile.names[node.name] + (node.times > 1 ? ` (${node.times} times)` : "");

function nsText(ns) {
	if (ns < 1000) return `${ns} ns`;
	if (ns < 999995) return `${(ns / 1e3).toFixed(2)} us`;
	return ns < 999995000 ? `${(ns / 1e6).toFixed(2)} ms` : `${(ns / 1e9).toFixed(3)} s`;
}

const percent = (ns, whole) => (whole ? `${((100 * ns) / whole).toFixed(2)} %` : "-");

// ---- drawing ----

const isDark = () =>
	document.documentElement.dataset.theme
		? document.documentElement.dataset.theme === "dark"
		: matchMedia("(prefers-color-scheme: dark)").matches;

/** Black or white, whichever is easier to read on a colour. */
function inkOn(colour) {
	const [r, g, b] = [1, 3, 5].map(i => parseInt(colour.slice(i, i + 2), 16) / 255);

	return 0.2126 * r ** 2.2 + 0.7152 * g ** 2.2 + 0.0722 * b ** 2.2 > 0.18 ? "#000000" : "#ffffff";
}

/** A function off the CPUs for most of its time has the hue of the wait with the most time. */
function hueOf(node) {
	const off = [...node.off].sort((a, b) => b[1] - a[1])[0];

	if (!profile.functions.includes(node.hue) || !off || part === "on") return node.hue;
	return part === "off" || node.ns[1] + node.ns[2] > node.ns[0] ? off[0] : node.hue;
}

const colourOf = hue => profile.hues[hue][isDark() ? "dark" : "light"];

/** Below a deep function that is zoomed there is room for more: most of its callers are left out. */
const rowOf = node => node.depth - (zoomed.depth > MAX_ROWS / 2 ? zoomed.depth - CALLERS : 0);

/** The boxes of a node and of all below it; the callers of the zoomed node have the whole width. */
function place(node, x, width) {
	const whole = time(node);
	let at = x;

	if (rowOf(node) >= MAX_ROWS) return;
	boxes.push({ node, x, width, y: rowOf(node) * (ROW + GAP) });
	for (const child of [...node.children].sort((a, b) => time(b) - time(a))) {
		const wide = whole ? (width * time(child)) / whole : 0;

		if (wide >= LEAST) place(child, at, wide);
		at += wide;
	}
}

function layOut() {
	const width = canvas.clientWidth;

	boxes = [];
	for (let node = zoomed.parent; node && rowOf(node) >= 0; node = node.parent)
		boxes.push({ node, x: 0, width, y: rowOf(node) * (ROW + GAP), isCaller: true });
	if (time(zoomed)) place(zoomed, 0, width);
	return Math.max(0, ...boxes.map(box => box.y)) + ROW + GAP;
}

/** What the time of a function is, as a strip: on a CPU, waiting for one, blocked. */
function drawStrip(box) {
	const whole = time(box.node),
		blocked = [...box.node.off].filter(([hue]) => hue !== profile.strip[1]).sort((a, b) => b[1] - a[1])[0];
	let x = box.x;

	for (const [k, hue] of [profile.strip[0], profile.strip[1], blocked?.[0] ?? profile.strip[2]].entries()) {
		const wide = (box.width * timeIn([0, 1, 2].map(i => (i === k ? box.node.ns[k] : 0)))) / whole;

		context.fillStyle = colourOf(hue);
		context.fillRect(x, box.y + ROW - 3, wide, 3);
		x += wide;
	}
}

function drawText(box, colour) {
	const text = nameOf(box.node),
		room = box.width - 8;
	let shown = text;

	if (room < 14) return;
	if (context.measureText(text).width > room) {
		const fits = Math.floor((text.length * room) / context.measureText(text).width) - 2;

		if (fits < 2) return;
		shown = `${text.slice(0, fits)}..`;
	}
	context.fillStyle = colour;
	context.fillText(shown, box.x + 4, box.y + ROW / 2);
}

function drawBox(box) {
	const isFaint = box.isCaller || (pattern && !box.node.found),
		colour = colourOf(hueOf(box.node)),
		isMixed = box.node.ns.filter(ns => ns > 0).length > 1;

	context.globalAlpha = isFaint ? 0.45 : 1;
	context.fillStyle = colour;
	context.fillRect(box.x, box.y, Math.max(box.width - GAP, LEAST), ROW);
	if (isMixed && part === "all" && box.width > 3) drawStrip(box);
	context.globalAlpha = 1;
	drawText(box, isFaint ? getComputedStyle(document.body).color : inkOn(colour));
	if (box.node !== selected) return;
	context.strokeStyle = getComputedStyle(document.body).color;
	context.lineWidth = 2;
	context.strokeRect(box.x + 1, box.y + 1, Math.max(box.width - GAP - 2, 1), ROW - 2);
}

function draw() {
	const height = layOut(),
		scale = devicePixelRatio || 1;

	canvas.style.height = `${height}px`;
	canvas.width = canvas.clientWidth * scale;
	canvas.height = height * scale;
	context.scale(scale, scale);
	context.font = "12px system-ui, sans-serif";
	context.textBaseline = "middle";
	boxes.forEach(drawBox);
	describe(selected);
}

// ---- words ----

/** Names and times, the longest first. */
function wokenIn(node) {
	const list = profile.woken[node.number] ?? [],
		pairs = [];

	for (let i = 0; i < list.length; i += 2) pairs.push([list[i], list[i + 1]]);
	return pairs.sort((a, b) => b[1] - a[1]);
}

/** "Woken in release_order 3.20 ms, (timer) 1.00 ms.": where the waits of a box ended. */
function wokenText(node) {
	const woken = wokenIn(node);

	return woken.length ? ` Woken in ${woken.map(([name, ns]) => `${name} ${nsText(ns)}`).join(", ")}.` : "";
}

function describe(node) {
	const whole = time(root),
		way = [];

	for (let at = node; at?.parent; at = at.parent) way.unshift(nameOf(at));
	const what = $("what"),
		name = document.createElement("b");

	name.textContent = node === root ? "all" : nameOf(node);
	what.replaceChildren(
		name,
		`  ${profile.files[node.name] ? `in ${profile.files[node.name]}` : ""} ` +
			`${nsText(time(node))}, ${percent(time(node), whole)} of all` +
			(zoomed === root ? "" : `, ${percent(time(node), time(zoomed))} of what is shown`) +
			`; ${nsText(timeIn(node.own))} in it itself; ` +
			`${nsText(node.ns[0])} on a CPU, ${nsText(node.ns[1])} waiting for one, ${nsText(node.ns[2])} blocked.` +
			wokenText(node),
		document.createElement("br"),
		way.join(" > ")
	);
	canvas.setAttribute("aria-label", what.textContent);
}

/** The time below found nodes; a found one below another counts once. */
function foundTime(node) {
	return node.found ? time(node) : node.children.reduce((sum, child) => sum + foundTime(child), 0);
}

function search(text) {
	pattern = text.toLowerCase();
	for (const node of nodes) {
		const words = [nameOf(node), profile.files[node.name], ...wokenIn(node).map(([name]) => name)]
			.join(" ")
			.toLowerCase();

		node.found = pattern !== "" && node !== root && words.includes(pattern);
	}
	$("found").textContent = pattern
		? `${nsText(foundTime(root))}, ${percent(foundTime(root), time(root))} in or below ${nodes.filter(n => n.found).length} boxes`
		: "";
	draw();
}

function drawLegend() {
	const used = new Set(nodes.filter(node => node !== root && time(node) > 0).map(hueOf));

	$("legend").replaceChildren(
		...profile.hues.flatMap((hue, number) => {
			const item = document.createElement("span"),
				square = document.createElement("i");

			if (!used.has(number)) return [];
			square.style.background = colourOf(number);
			item.append(square, hue.name);
			return [item];
		})
	);
	$("sum").textContent =
		`${nsText(time(root))} of ${profile.threads} thread${profile.threads === 1 ? "" : "s"}, ${profile.note}`;
}

// ---- input ----

function zoomTo(node) {
	zoomed = selected = node;
	draw();
}

function select(node) {
	if (!node) return;
	selected = node;
	if (!boxes.some(box => box.node === node)) zoomed = node;
	draw();
}

const byTime = node => node.children.filter(child => time(child) > 0).sort((a, b) => time(b) - time(a));

function sibling(step) {
	const row = selected.parent ? byTime(selected.parent) : [selected];

	return row[row.indexOf(selected) + step];
}

function nextFound() {
	const found = nodes.filter(node => node.found && time(node) > 0);

	return found.find(node => node.number > selected.number) ?? found[0];
}

const KEYS = {
	ArrowUp: () => selected !== root && select(selected.parent),
	ArrowDown: () => select(byTime(selected)[0]),
	ArrowLeft: () => select(sibling(-1)),
	ArrowRight: () => select(sibling(1)),
	Enter: () => zoomTo(selected),
	Escape: () => zoomTo(pattern || zoomed === root ? root : zoomed.parent),
	Backspace: () => zoomTo(zoomed.parent ?? root),
	Home: () => zoomTo(root),
	n: () => select(nextFound()),
	"/": () => $("search").focus()
};

function boxAt(event) {
	const frame = canvas.getBoundingClientRect(),
		x = event.clientX - frame.left,
		y = event.clientY - frame.top;

	return boxes.find(box => x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + ROW);
}

addEventListener("keydown", event => {
	if (event.ctrlKey || event.altKey || event.metaKey) return;
	if (event.target === $("search")) {
		if (event.key !== "Escape" && event.key !== "Enter") return;
		if (event.key === "Escape") search(($("search").value = ""));
		else select(nextFound());
		canvas.focus();
		event.preventDefault();
		return;
	}
	if (!KEYS[event.key] || event.target.closest?.("button, select")) return;
	KEYS[event.key]();
	event.preventDefault();
});
canvas.addEventListener("click", event => {
	const box = boxAt(event);

	if (box) zoomTo(box.node);
});
canvas.addEventListener("mousemove", event => describe(boxAt(event)?.node ?? selected));
canvas.addEventListener("mouseleave", () => describe(selected));
$("search").addEventListener("input", event => search(event.target.value));
$("whole").addEventListener("click", () => zoomTo(root));
$("part").addEventListener("change", event => {
	part = event.target.value;
	drawLegend();
	zoomed = selected = root;
	search($("search").value);
});
$("theme").addEventListener("click", () => {
	document.documentElement.dataset.theme = isDark() ? "light" : "dark";
	drawLegend();
	draw();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
	drawLegend();
	draw();
});
addEventListener("resize", draw);

document.title = `${profile.title}: flame graph`;
$("title").textContent = profile.title;
drawLegend();
draw();
