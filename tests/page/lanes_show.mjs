// SPDX-License-Identifier: LGPL-2.1-or-later
// lanes_show.mjs - scopes and requests in the page, in a browser, on the trace of page_scopes.c: PAGE_SCOPES names it.
import assert from "node:assert";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { MODULES, endServers, openPage, startBrowser, startServer } from "./browser.mjs";
import { pageModule } from "./modules.mjs";

const { THEMES, pixelOf } = await pageModule("classes");
let browser, server, page;

before(async () => {
	server = await startServer(process.env.PAGE_SCOPES);
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

/** The lanes that are shown: [{depth, at: the place of its middle at @t in pixels of the canvas}]. */
function lanesAt(t) {
	return page.evaluate(ns => {
		const { view } = globalThis.traceView;

		return view.shown.flatMap(({ lane, key }, index) =>
			lane
				? [
						{
							key,
							depth: lane.depth,
							x: view.labelWidth + ((ns - view.from) * view.width) / (view.to - view.from),
							y: 38 + index * 20 - view.scroll + 14
						}
					]
				: []
		);
	}, t);
}

function colourAt({ x, y }) {
	return page.evaluate(
		([left, top]) => {
			const { timeline } = globalThis.traceView;
			const [r, g, b] = timeline.context.getImageData(
				Math.round(left * timeline.ratio),
				Math.round(top * timeline.ratio),
				1,
				1
			).data;

			return ((0xff << 24) | (b << 16) | (g << 8) | r) >>> 0;
		},
		[x, y]
	);
}

test("few lanes are shown at once, below their threads, where the scopes are", async () => {
	const band = pixelOf(THEMES.light.band),
		ground = pixelOf(THEMES.light.background);
	const depths = await lanesAt(0);

	assert.deepStrictEqual(depths.map(lane => lane.depth).sort(), [0, 0, 1]);
	for (const [t, depth, expected] of [
		[250, 0, ground],
		[6000, 1, band],
		[7200, 1, ground],
		[7200, 0, band]
	]) {
		const lane = (await lanesAt(t)).find(
			found => found.depth === depth && depths.some(other => other.depth === 1 && other.key.slice(0, -1) === found.key.slice(0, -1))
		);

		assert.equal(await colourAt(lane), expected, `${t} ${depth}`);
	}
});

test("the box at the pointer names the scope, and a click measures it", async () => {
	const lane = (await lanesAt(6000)).find(found => found.depth === 1),
		box = await page.locator("#canvas").boundingBox();

	await page.mouse.move(box.x + lane.x, box.y + lane.y);
	await page.ready();
	assert.match(await page.text("#hover"), /shop:checkout.*scope, 5.50 us on this thread/s);
	await page.mouse.click(box.x + lane.x, box.y + lane.y);
	await page.ready();
	assert.deepStrictEqual(await page.view("view.range"), { from: 999, to: 6500 });
});

test("the table has the scopes of the row, and g hides the lanes", async () => {
	await page.press("Escape", "Escape", "f");
	await page.evaluate(() => {
		const { view } = globalThis.traceView;

		view.row = [...view.rows.values()].find(row => row.kind === "thread" && row.tid === 10).id;
		view.emit("selection");
	});
	await page.click("#tab-lanes");
	await page.ready();
	assert.match(await page.text("#tables"), /shop:day.*its end is not in the trace.*shop:checkout.*shop:order.*request/s);
	await page.press("g");
	assert.equal((await lanesAt(0)).length, 0);
	await page.click("#lanes");
	await page.ready();
	assert.equal((await lanesAt(0)).length, 3);
});

test("axe finds nothing, and the console is empty", async () => {
	await page.evaluate(fs.readFileSync(path.join(MODULES, "node_modules/axe-core/axe.min.js"), "utf8"));
	for (const theme of ["light", "dark"]) {
		const { violations } = await page.evaluate(() => globalThis.axe.run());

		assert.deepStrictEqual(violations.map(v => [theme, v.id, v.nodes.map(node => node.html)]), []);
		if (process.env.PAGE_SHOTS) await page.screenshot({ path: `${process.env.PAGE_SHOTS}/lanes-${theme}.png` });
		await page.press("l");
	}
	assert.deepStrictEqual(page.said, []);
});
