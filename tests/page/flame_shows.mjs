// SPDX-License-Identifier: LGPL-2.1-or-later
// flame_shows.mjs - the page of --flame in a browser, from a disk, on the trace of page_samples.c: PAGE_SAMPLES names it.
// Boxes are as wide as the times of --profile=tree --json say, and are where a click finds them.
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import { BUILD, MODULES, endServers, startBrowser } from "./browser.mjs";

const PROGRAM = path.join(BUILD, "bin/tracevisualizer"),
	TRACE = process.env.PAGE_SAMPLES,
	ROW = 20; // a box and the gap below it
let browser, page, folder, nodes;
const said = [];

/** Nodes of the tree by their way from the root: "shop > ret_from_fork_asm > f". */
function readTree() {
	const profile = JSON.parse(execFileSync(PROGRAM, ["--profile=tree", "--json", TRACE])),
		byNumber = new Map();

	for (const { number, parent, kind, name, why, total } of profile.nodes) {
		const above = byNumber.get(parent),
			text = kind === "function" ? name || `(no name: ${why})` : kind === "program" ? name : `(${kind})${name ? ` ${name}` : ""}`;

		byNumber.set(number, {
			way: [...(above?.way ?? []), text],
			ns: total.elapsed_ns,
			cpu: total.on_cpu_ns,
			parent: above ?? null
		});
	}
	return [...byNumber.values()];
}

before(async () => {
	folder = fs.mkdtempSync(path.join(os.tmpdir(), "flame"));
	execFileSync(PROGRAM, [`--flame=${path.join(folder, "flame.html")}`, TRACE]);
	nodes = readTree();
	browser = await startBrowser();
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "light", offline: true });

	page = await context.newPage();
	page.on("console", message => said.push(message.text()));
	page.on("pageerror", error => said.push(error.stack));
	await page.goto(pathToFileURL(path.join(folder, "flame.html")).href);
});

after(async () => {
	await browser?.close();
	endServers();
	fs.rmSync(folder, { recursive: true });
});

function what() {
	return page.locator("#what").innerText();
}

/** The places of all nodes in the whole graph, by the rules: below the caller, the longest first. */
function places(width) {
	const whole = nodes.filter(node => !node.parent).reduce((sum, node) => sum + node.ns, 0),
		all = [];
	const lay = (kids, x, of, wide, depth) => {
		for (const node of kids.slice().sort((a, b) => b.ns - a.ns)) {
			const its = (wide * node.ns) / of;

			all.push({ node, x, width: its, depth });
			lay(nodes.filter(kid => kid.parent === node), x, node.ns, its, depth + 1);
			x += its;
		}
	};

	lay(nodes.filter(node => !node.parent), 0, whole, width, 1);
	return all.filter(place => place.width > 8);
}

test("each box is where its time says, with its time and its callers in words", async () => {
	const box = await page.locator("#flame").boundingBox(),
		wanted = places(box.width);

	assert.ok(wanted.length > 8);
	for (const { node, x, width, depth } of wanted) {
		await page.mouse.move(box.x + x + width / 2, box.y + depth * ROW + 8);
		const text = await what();

		assert.ok(text.includes(node.way.join(" > ")), `${node.way.join(" > ")}: ${text}`);
		assert.ok(text.includes(` ${node.ns < 1000 ? `${node.ns} ns` : `${(node.ns / 1000).toFixed(2)} us`}, `), `${node.ns}: ${text}`);
	}
});

test("boxes have colours, and a wait has another one than code", async () => {
	const box = await page.locator("#flame").boundingBox();
	const colours = await page.evaluate(
		list => {
			const canvas = document.getElementById("flame"),
				scale = devicePixelRatio || 1,
				{ data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);

			return list.map(([x, y]) => data.slice(4 * (y * scale * width + x * scale), 4 * (y * scale * width + x * scale) + 4).join());
		},
		places(box.width).map(({ x, width, depth }) => [Math.round(x + width - 3), depth * ROW + 3])
	);
	const at = places(box.width).map(({ node }, i) => [node, colours[i]]);
	const [, code] = at.find(([node]) => node.way.at(-1) === "h"),
		[, wait] = at.find(([node]) => node.way.at(-1).startsWith("(blocked)"));

	assert.notEqual(code, wait);
	assert.ok(!colours.some(colour => colour.endsWith(",0")), "a box is not painted");
});

test("a click zooms, the search adds up, and the parts are those of the profile", async () => {
	const box = await page.locator("#flame").boundingBox(),
		g = places(box.width).find(({ node }) => node.way.at(-1) === "g");

	await page.mouse.click(box.x + g.x + g.width / 2, box.y + g.depth * ROW + 8);
	assert.match(await what(), /100\.00 % of what is shown/);
	await page.keyboard.press("Home");
	await page.fill("#search", "ret_from");
	const found = nodes.filter(node => node.way.at(-1) === "ret_from_fork_asm").reduce((sum, node) => sum + node.ns, 0);

	assert.match(await page.locator("#found").innerText(), new RegExp(`^${(found / 1000).toFixed(2)} us, .* in or below 1 boxes$`));
	await page.fill("#search", "");
	await page.selectOption("#part", "on");
	const cpu = nodes.filter(node => !node.parent).reduce((sum, node) => sum + node.cpu, 0);

	assert.ok((await page.locator("#sum").innerText()).startsWith(`${(cpu / 1000).toFixed(2)} us of 2 threads`));
	await page.selectOption("#part", "all");
});

test("axe finds nothing in both themes, and the console is empty", async () => {
	for (const theme of ["light", "dark"]) {
		await page.evaluate(fs.readFileSync(path.join(MODULES, "node_modules/axe-core/axe.min.js"), "utf8"));
		const { violations } = await page.evaluate(() => globalThis.axe.run());

		assert.deepStrictEqual(violations.map(v => [theme, v.id, v.nodes.map(node => node.html)]), []);
		if (process.env.PAGE_SHOTS) await page.screenshot({ path: `${process.env.PAGE_SHOTS}/flame-${theme}.png` });
		await page.click("#theme");
	}
	assert.deepStrictEqual(said, []);
});
