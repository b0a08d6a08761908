// SPDX-License-Identifier: LGPL-2.1-or-later
// pair_shows.mjs - two traces under each other in a browser: PAGE_STORY, and a trace of another length, PAGE_OTHER.
import assert from "node:assert";
import { after, before, test } from "node:test";
import { pageModule } from "./modules.mjs";
import { endServers, openPage, startBrowser, startServer } from "./browser.mjs";

const MS = 1e6,
	{ limitsOf } = await pageModule("pair");
let browser, server, page;

/** What the view of frame @i is: evaluated with `view`. */
function view(i, expression) {
	return page.evaluate(
		([index, text]) => new Function("view", `return ${text}`)(document.querySelectorAll("iframe")[index].contentWindow.traceView.view),
		[i, expression]
	);
}

before(async () => {
	server = await startServer(process.env.PAGE_STORY, process.env.PAGE_OTHER);
	browser = await startBrowser();
	page = await openPage(browser, server.url, { viewport: { width: 1280, height: 900 }, bypassCSP: true });
});

after(async () => {
	await browser?.close();
	await server?.end();
	endServers();
});

test("both traces show the same span, from their begins on", async () => {
	const [a, b] = [await view(0, "view.duration"), await view(1, "view.duration")];

	assert.equal(a, 100 * MS);
	assert.notEqual(a, b);
	for (const i of [0, 1]) assert.deepStrictEqual(await view(i, "[view.from, view.to]"), [0, Math.max(a, b)]);
	assert.match(await page.title(), /story\.trace, other\.trace/);
	assert.deepStrictEqual(page.said, []);
});

test("a zoom in one is a zoom in the other one, also beyond its end", async () => {
	const frames = page.frames().filter(frame => frame !== page.mainFrame());

	await frames[1].locator("#timeline").focus();
	for (const key of ["w", "w", "d", "d", "d"]) await page.keyboard.press(key);
	assert.deepStrictEqual(await view(0, "[view.from, view.to]"), await view(1, "[view.from, view.to]"));
	assert.notDeepStrictEqual(await view(0, "[view.from, view.to]"), [0, 100 * MS]);
	await page.keyboard.press("f");
	assert.deepStrictEqual(await view(0, "[view.from, view.to]"), await view(1, "[view.least, view.most]"));
	for (const frame of frames) {
		await frame.waitForFunction(() => document.documentElement.dataset.state === "ready");
		assert.equal(await frame.evaluate(() => globalThis.traceView.timeline.picture.error), "");
		assert.equal(await frame.locator("#tables .error").count(), 0);
	}
	assert.deepStrictEqual(page.said, []);
});

test("the trace that was used last has its tables", async () => {
	const frames = page.frames().filter(frame => frame !== page.mainFrame());

	for (const i of [0, 1]) {
		await frames[i].locator("#timeline").click({ position: { x: 40, y: 12 } });
		assert.ok(await frames[i].locator("#panel").isVisible());
		assert.ok(await frames[1 - i].locator("#panel").isHidden());
	}
});

test("by the wall clock a trace that began later is further to the right", async () => {
	await page.route("**/b/ask/about", async route => {
		const about = await (await route.fetch()).json();

		about.start_realtime_ns = String(BigInt(about.start_realtime_ns) + 50000000n);
		await route.fulfill({ json: about });
	});
	await page.reload();
	await page.ready();
	const [a, b] = [await view(0, "view.duration"), await view(1, "view.duration")],
		limits = limitsOf({ duration: a }, { duration: b }, 50 * MS);

	await page.click("#align");
	for (const i of [0, 1])
		assert.deepStrictEqual(await view(i, "[view.from, view.to]"), [limits[i].least, limits[i].most]);
	for (const frame of page.frames().slice(1))
		await frame.waitForFunction(() => document.documentElement.dataset.state === "ready");
	await page.keyboard.press("k");
	assert.equal(await view(1, "view.from"), 0);
	assert.deepStrictEqual(page.said, []);
});
