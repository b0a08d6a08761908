// SPDX-License-Identifier: LGPL-2.1-or-later
// samples_show.mjs - functions and samples in the page, in a browser, on the trace of page_samples.c: PAGE_SAMPLES names
// it. The table has the rows of --profile --json, and the pixels are those of the answers.
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { BUILD, MODULES, endServers, openPage, startBrowser, startServer } from "./browser.mjs";
import { pageModule } from "./modules.mjs";

const { THEMES, pixelOf } = await pageModule("classes"),
	{ functionText } = await pageModule("functions"),
	{ markHeight } = await pageModule("samples"),
	{ durationText, percentText } = await pageModule("time");
const TRACE = process.env.PAGE_SAMPLES;
let browser, server, page;

before(async () => {
	server = await startServer(TRACE);
	browser = await startBrowser();
	page = await openPage(browser, server.url);
	await page.ready();
	await page.evaluate(() => {
		const { view } = globalThis.traceView;

		for (const node of view.tree.nodes) view.open.add(node.key);
	});
	await page.press("e", "e"); // makes the list of rows again
});

after(async () => {
	await browser?.close();
	await server?.end();
	endServers();
});

/** The rows of --profile --json. */
function profile(...options) {
	return JSON.parse(execFileSync(path.join(BUILD, "bin/tracevisualizer"), ["--profile", "--json", ...options, TRACE]));
}

function rowOf(tid) {
	return page.evaluate(
		wanted => [...globalThis.traceView.view.rows.values()].find(row => row.kind === "thread" && row.tid === wanted).id,
		tid
	);
}

async function tableRows() {
	await page.click("#tab-functions");
	await page.ready();
	return page.evaluate(() =>
		[...document.querySelectorAll("#tables tbody tr")].map(row => [...row.cells].map(cell => cell.textContent.trim()))
	);
}

/** Each row of the table has the texts of a row of the profile, and there are no others. */
async function checkTable(wanted) {
	const found = await tableRows(),
		ns = value => (value ? durationText(value) : "-");
	const woken = row => row.woken.map(({ in: name, ns: part }) => `woken in ${name}${part < 0.995 * row.elapsed_ns ? ` ${percentText(part, row.elapsed_ns)}` : ""}`);
	const rows = wanted.rows.map(row => [
		functionText(row),
		[
			...new Set([row.file || (row.where_ns >= 0.995 * row.elapsed_ns ? row.where : ""), ...woken(row), row.program])
		]
			.filter(Boolean)
			.join(", "),
		ns(row.elapsed_ns),
		ns(row.total.elapsed_ns),
		ns(row.on_cpu_ns),
		ns(row.total.on_cpu_ns),
		ns(row.wait_cpu_ns),
		ns(row.blocked_ns),
		ns(row.total.blocked_ns),
		row.samples ? `${row.samples}${row.deviation_ns ? ` +- ${durationText(row.deviation_ns)}` : ""}` : "-"
	]);

	assert.ok(rows.length > 1);
	assert.deepStrictEqual(found.map(String).sort(), rows.map(String).sort());
	assert.ok(found.findLastIndex(([name]) => name !== "(at rest)") < found.length - found.filter(([name]) => name === "(at rest)").length);
}

test("at 1280 pixels the table has no column outside of the screen", async () => {
	await page.setViewportSize({ width: 1280, height: 800 });
	await page.click("#tab-functions");
	await page.ready();
	assert.deepStrictEqual(
		await page.evaluate(() => {
			const tables = document.querySelector("#tables");

			return [tables.scrollWidth > tables.clientWidth, document.querySelectorAll("#tables th").length];
		}),
		[false, 10]
	);
});

async function select(row) {
	await page.evaluate(id => {
		const { view } = globalThis.traceView;

		view.row = id;
		view.emit("selection");
	}, row);
	await page.ready();
}

test("the functions of the whole trace, of a span and of a thread are those of --profile", async () => {
	await checkTable(profile());
	await page.evaluate(() => {
		const { view } = globalThis.traceView;

		view.range = { from: 1000, to: 6000 };
		view.emit("range");
	});
	await page.ready();
	await checkTable(profile("--from=1000ns", "--to=6000ns"));
	await select(await rowOf(10));
	await page.click("#only-row");
	await page.ready();
	await checkTable(profile("--from=1000ns", "--to=6000ns", "--tid=10"));
	await select(await rowOf(11));
	await checkTable(profile("--from=1000ns", "--to=6000ns", "--tid=11"));
	await page.evaluate(() => {
		globalThis.traceView.view.range = null;
		globalThis.traceView.view.emit("range");
	});
	await page.ready();
	await checkTable(profile("--tid=11"));
	await page.click("#only-row");
	await page.ready();
});

test("the answer is the output of the program, byte by byte", async () => {
	const row = await rowOf(10),
		answer = await (await page.request.get(`${server.url}ask/functions?from=1000&to=6000&row=${row}`)).text();

	assert.equal(
		answer,
		execFileSync(path.join(BUILD, "bin/tracevisualizer"), ["--profile", "--json", "--from=1000ns", "--to=6000ns", "--tid=10", TRACE], {
			encoding: "utf8"
		})
	);
});

test("the detail of a wait has the functions of what woke the thread", async () => {
	const row = await rowOf(10),
		at = async t => (await page.request.get(`${server.url}ask/at?row=${row}&t=${t}`)).json();
	const wait = await at(7500);

	assert.deepStrictEqual(
		wait.woken.stack.map(found => found.function),
		["h", "g", "ret_from_fork_asm"]
	);
	assert.equal(wait.woken.in, "(kernel)");
	for (const t of [wait.from - 1, wait.to]) assert.equal((await at(t)).woken, undefined);
	const place = await page.evaluate(
		([id, t]) => {
			const { view } = globalThis.traceView,
				index = view.shown.findIndex(node => node.leaf === id && !node.samples);

			return { x: view.labelWidth + ((t - view.from) * view.width) / (view.to - view.from), y: 38 + index * 20 - view.scroll + 10 };
		},
		[row, (wait.from + wait.to) / 2]
	);
	const box = await page.locator("#canvas").boundingBox();

	await page.mouse.click(box.x + place.x, box.y + place.y);
	await page.ready();
	const text = (await page.text("#selection")).replace(/\s+/g, " ");

	assert.match(text, /Ended by ?worker.* Woken in ?\(kernel\)/);
	assert.match(text, /What woke it h \[kernel\] g \[kernel\] ret_from_fork_asm \[kernel\]/);
	assert.match((await page.text("#hover")).replace(/\s+/g, " "), /Woken in \(kernel\)/);
	await page.press("Escape");
	await page.mouse.move(0, 0);
	await page.ready();
});

function lanes() {
	return page.evaluate(() => {
		const { view, timeline } = globalThis.traceView,
			{ ratio, picture } = timeline;

		return view.shown.flatMap((node, index) => {
			if (!node.samples) return [];
			const top = Math.round((38 + index * 20 - view.scroll + 2) * ratio);
			const { data } = timeline.context.getImageData(Math.round(view.labelWidth * ratio), top, picture.columns, picture.height),
				all = new Uint32Array(data.buffer);

			return [
				{
					row: node.samples.row,
					label: node.label,
					from: view.from,
					to: view.to,
					y: 38 + index * 20 - view.scroll + 10,
					pixels: Array.from({ length: picture.columns }, (_, x) =>
						Array.from({ length: picture.height }, (__, y) => all[(picture.height - 1 - y) * picture.columns + x])
					)
				}
			];
		});
	});
}

async function checkLane({ row, from, to, pixels }) {
	const [columns, height] = [pixels.length, pixels[0].length],
		{ list } = await (await page.request.get(`${server.url}ask/samples?row=${row}&from=${from}&to=${to}&columns=${columns}`)).json(),
		most = Math.max(1, ...list.map(([, nr]) => nr));
	const wanted = Array.from({ length: columns }, () => Array(height).fill(pixelOf(THEMES.light.background)));

	for (const [x, nr] of list)
		for (let y = 0; y < markHeight(nr, most, height); y++) wanted[x][y] = pixelOf(THEMES.light.accent);
	assert.deepStrictEqual(pixels, wanted);
	return list.reduce((sum, [, nr]) => sum + nr, 0);
}

test("x shows a lane of samples for each thread, a mark for each sample", async () => {
	assert.equal((await lanes()).length, 0);
	await page.press("x");
	assert.equal(await page.getAttribute("#samples", "aria-pressed"), "true");
	const found = await lanes();

	assert.deepStrictEqual(found.map(lane => lane.label).sort(), ["4 samples", "7 samples"]);
	assert.equal(await checkLane(found[0]) + (await checkLane(found[1])), 11);
	await page.waitForFunction(() => location.hash.includes("x=1"));
});

test("the box at the pointer has the stack of the sample", async () => {
	const lane = (await lanes()).find(found => found.label === "7 samples"),
		box = await page.locator("#canvas").boundingBox();
	const move = async t => {
		const x = await page.evaluate(ns => {
			const { view } = globalThis.traceView;

			return view.labelWidth + ((ns - view.from) * view.width) / (view.to - view.from);
		}, t);

		await page.mouse.move(box.x + x, box.y + lane.y);
		await page.ready();
		return (await page.text("#hover")).replace(/\s+/g, " ");
	};

	assert.match(await move(2500), /^2\.50 us sample on CPU 0 g \[kernel\] f \[kernel\] f \[kernel\] ret_from_fork_asm/);
	assert.match(await move(6500), /\(no name: in no file, and not in \/tmp\/perf-PID.map\).*its callers are not known/);
	assert.match(await move(15000), /No sample is here/);
	await page.mouse.move(0, 0);
	await page.ready();
});

test("closer the marks are still those of the answers, and a link has the lanes", async () => {
	await page.evaluate(() => globalThis.traceView.showSpan(globalThis.traceView.view, 2000, 5200));
	await page.ready();
	const found = await lanes();

	assert.equal(await checkLane(found.find(lane => lane.label === "7 samples")), 3);
	const other = await openPage(browser, `${server.url}#x=1`);

	await other.ready();
	assert.deepStrictEqual(await other.view("[view.withSamples, view.sampled.size]"), [true, 2]);
	await other.context().close();
});

test("axe finds nothing, and the console is empty", async () => {
	await page.press("f");
	await page.evaluate(fs.readFileSync(path.join(MODULES, "node_modules/axe-core/axe.min.js"), "utf8"));
	for (const theme of ["light", "dark"]) {
		const { violations } = await page.evaluate(() => globalThis.axe.run());

		assert.deepStrictEqual(violations.map(v => [theme, v.id, v.nodes.map(node => node.html)]), []);
		if (process.env.PAGE_SHOTS) await page.screenshot({ path: `${process.env.PAGE_SHOTS}/samples-${theme}.png` });
		await page.press("l");
	}
	await page.press("x");
	assert.equal((await lanes()).length, 0);
	assert.deepStrictEqual(page.said, []);
});
