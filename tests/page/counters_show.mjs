// SPDX-License-Identifier: LGPL-2.1-or-later
// counters_show.mjs - rows of numbers over time, in a browser, on the trace of page_story.c: PAGE_STORY names it.
import assert from "node:assert";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { MODULES, endServers, openPage, startBrowser, startServer } from "./browser.mjs";
import { pageModule } from "./modules.mjs";

const { THEMES, pixelOf } = await pageModule("classes");
const QUEUE = "threads that wait for a CPU";
let browser, server, page;

before(async () => {
	server = await startServer(process.env.PAGE_STORY);
	browser = await startBrowser();
	page = await openPage(browser, server.url);
	await page.ready();
});

after(async () => {
	await browser?.close();
	await server?.end();
	endServers();
});

/** The pixels of the row of a counter: an array of columns, each from its bottom. */
function pixelsOf(name) {
	return page.evaluate(wanted => {
		const { view, timeline } = globalThis.traceView,
			{ ratio, picture } = timeline;
		const index = view.shown.findIndex(node => node.counter?.name === wanted),
			top = Math.round((38 + index * 20 - view.scroll + 2) * ratio);
		const { data } = timeline.context.getImageData(Math.round(view.labelWidth * ratio), top, picture.columns, picture.height),
			all = new Uint32Array(data.buffer);

		return Array.from({ length: picture.columns }, (_, x) =>
			Array.from({ length: picture.height }, (__, y) => all[(picture.height - 1 - y) * picture.columns + x])
		);
	}, name);
}

/** What the pixels should be by the answer of the engine: dark up to the mean, pale from the least to the greatest. */
async function wantedOf(name, columns, height) {
	const { from, to } = await page.evaluate(() => {
		const { view } = globalThis.traceView;

		return { from: view.from, to: view.to };
	});
	const { list, kind } = await (await page.request.get(`${server.url}ask/counters?name=${encodeURIComponent(name)}&from=${from}&to=${to}&columns=${columns}`)).json();
	const { accent, dim, background } = THEMES.light,
		width = (to - from) / columns,
		mean = ([, count, sum]) => (kind === "amount" ? (sum * 1e9) / width : sum / count);
	const most = kind === "share" ? 1 : Math.max(...list.map(column => (kind === "amount" ? mean(column) : column[4]))),
		place = n => Math.round((n * height) / most);
	const picture = Array.from({ length: columns }, () => Array(height).fill(pixelOf(background)));

	for (const column of list) {
		const [x, , , least, greatest] = column,
			end = Math.max(place(mean(column)), mean(column) > 0 ? 1 : 0);

		if (kind !== "amount")
			for (let y = place(least); y < place(greatest); y++) picture[x][y] = pixelOf(dim);
		for (let y = 0; y < end; y++) picture[x][y] = pixelOf(accent);
	}
	return picture;
}

async function checkPixels(name) {
	const found = await pixelsOf(name),
		wanted = await wantedOf(name, found.length, found[0].length);

	assert.ok(new Set(wanted.flat()).size > 1, name);
	assert.deepStrictEqual(found, wanted, name);
}

test("v shows numbers over time, each pixel is what the engine answers", async () => {
	await page.press("v");
	assert.equal(await page.getAttribute("#counters", "aria-pressed"), "true");
	assert.deepStrictEqual(await page.view("view.counters"), [QUEUE, "bytes read", "bytes written", "lost events"]);
	for (const name of [QUEUE, "bytes read", "bytes written", "lost events"]) await checkPixels(name);
});

test("the table has all numbers of the span, and shows one as a row", async () => {
	await page.click("#tab-counters");
	await page.ready();
	assert.match((await page.text("#tables")).replace(/\s+/g, " "), /use of CPU 0 70 % 0 % 100 %.*bytes read .*threads that wait for a CPU 0\.102 0 1.*lost events/);
	await page.click('[aria-label="Show use of CPU 0 as a row"]');
	await page.ready();
	await checkPixels("use of CPU 0");
	await page.waitForFunction(() => location.hash.includes("c=use+of+CPU+0"));
});

test("closer it is still exact, and the box at the pointer says the numbers", async () => {
	const { list } = await (await page.request.get(`${server.url}ask/counters?name=${encodeURIComponent(QUEUE)}&columns=100`)).json(),
		[first] = list.find(column => column[4] > 0);

	await page.evaluate(part => {
		const { view, showSpan } = globalThis.traceView;

		showSpan(view, Math.floor((view.duration * (part - 4)) / 100), Math.ceil((view.duration * (part + 8)) / 100));
	}, first);
	await page.ready();
	await checkPixels(QUEUE);
	const place = await page.evaluate(wanted => {
		const { view } = globalThis.traceView,
			index = view.shown.findIndex(node => node.counter?.name === wanted),
			box = document.getElementById("canvas").getBoundingClientRect();

		return { x: box.left + view.labelWidth + 100, y: box.top + 38 + index * 20 - view.scroll + 10 };
	}, QUEUE);

	await page.mouse.move(place.x, place.y);
	await page.ready();
	assert.match(await page.text("#hover"), /threads that wait for a CPU.*in these .*least \d, greatest \d/s);
});

test("a link has the rows, and v hides them", async () => {
	const other = await openPage(browser, `${server.url}#c=bytes+read&c=no+such+counter`);

	await other.ready();
	assert.deepStrictEqual(await other.view("view.shown.filter(node => node.counter).map(node => node.label)"), ["bytes read", "no such counter"]);
	assert.deepStrictEqual(other.said.filter(text => !text.includes("400")), []);
	await other.context().close();
	await page.press("v");
	assert.equal(await page.view("view.shown.filter(node => node.counter).length"), 0);
	assert.equal(await page.getAttribute("#counters", "aria-pressed"), "false");
	await page.press("v");
});

test("axe finds nothing, and the console is empty", async () => {
	await page.evaluate(fs.readFileSync(path.join(MODULES, "node_modules/axe-core/axe.min.js"), "utf8"));
	for (const theme of ["light", "dark"]) {
		const { violations } = await page.evaluate(() => globalThis.axe.run());

		assert.deepStrictEqual(violations.map(v => [theme, v.id, v.nodes.map(node => node.html)]), []);
		if (process.env.PAGE_SHOTS) await page.screenshot({ path: `${process.env.PAGE_SHOTS}/counters-${theme}.png` });
		await page.press("l");
	}
	assert.deepStrictEqual(page.said, []);
});
