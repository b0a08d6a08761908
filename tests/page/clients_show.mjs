// SPDX-License-Identifier: LGPL-2.1-or-later
// clients_show.mjs - servers in the colours of their clients, in a browser, on the trace of page_servers.c: PAGE_SERVERS names it.
import assert from "node:assert";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { MODULES, endServers, openPage, placeOf, startBrowser, startServer } from "./browser.mjs";
import { pageModule } from "./modules.mjs";

const { CLIENT, CLIENT_CLASSES, NO_CLIENT, pixelOf } = await pageModule("classes");
let browser, server, page;

before(async () => {
	server = await startServer(process.env.PAGE_SERVERS);
	browser = await startBrowser();
	page = await openPage(browser, server.url);
	await page.ready();
});

after(async () => {
	await browser?.close();
	await server?.end();
	endServers();
});

/** The colour of the bar of the row with process @pid at @t, low in the bar. */
function colourAt(pid, t) {
	return page.evaluate(
		([wanted, ns]) => {
			const { view, timeline } = globalThis.traceView,
				index = view.shown.findIndex(node => node.number === wanted);
			const x = Math.round((view.labelWidth + ((ns - view.from) * view.width) / (view.to - view.from)) * timeline.ratio),
				y = Math.round((38 + index * 20 - view.scroll + 16) * timeline.ratio);
			const [r, g, b] = timeline.context.getImageData(x, y, 1, 1).data;

			return ((0xff << 24) | (b << 16) | (g << 8) | r) >>> 0;
		},
		[pid, t]
	);
}

test("the key b colours servers by client, and back", async () => {
	const before = await colourAt(30, 700);

	await page.press("b");
	assert.equal(await colourAt(30, 450), pixelOf(CLIENT_CLASSES[CLIENT].light));
	assert.equal(await colourAt(30, 6000), pixelOf(CLIENT_CLASSES[NO_CLIENT].light));
	assert.equal(await page.getAttribute("#by-client", "aria-pressed"), "true");
	assert.match(await page.text("#clients"), /A client 10.*B client 20.*C server 30/s);
	await page.waitForFunction(() => location.href.includes("b=1")); // the page writes its place now and then
	await page.click("#by-client");
	await page.ready();
	assert.equal(await colourAt(30, 700), before);
	assert.equal(await page.isVisible("#clients"), false);
	await page.press("b");
});

test("the table of any span has what the engine answers", async () => {
	await page.click("#tab-clients");
	await page.ready();
	for (const [from, to] of [
		[0, 8000],
		[300, 1000]
	]) {
		await page.evaluate(([a, b]) => Object.assign(globalThis.traceView.view, { range: { from: a, to: b } }), [from, to]);
		await page.evaluate(() => globalThis.traceView.view.emit("range"));
		await page.ready();
		const answer = await (await page.request.get(`${server.url}ask/clients?from=${from}&to=${to}`)).json(),
			text = await page.text("#tables"),
			pairs = answer.servers.flatMap(found => found.clients.map(client => `${found.process.name} ${found.process.pid} ${"ABC"[client.client]} ${client.process.name}`));

		for (const pair of pairs) assert.ok(text.replace(/\s+/g, " ").includes(pair), `${pair} in ${text}`);
	}
});

test("a place of a server says for whom it works", async () => {
	const place = await placeOf(page, "server", 450);

	await page.mouse.move(place.x, place.y);
	await page.ready();
	assert.match(await page.text("#hover"), /For A client 10 \(exact\)/);
});

test("a link opens servers by client", async () => {
	const other = await openPage(browser, `${server.url}#b=1`);

	await other.ready();
	assert.equal(await other.getAttribute("#by-client", "aria-pressed"), "true");
	assert.deepStrictEqual(other.said, []);
	await other.context().close();
});

test("axe finds nothing, and the console is empty", async () => {
	await page.evaluate(fs.readFileSync(path.join(MODULES, "node_modules/axe-core/axe.min.js"), "utf8"));
	for (const theme of ["light", "dark"]) {
		const { violations } = await page.evaluate(() => globalThis.axe.run());

		assert.deepStrictEqual(violations.map(v => [theme, v.id, v.nodes.map(node => node.html)]), []);
		if (process.env.PAGE_SHOTS) await page.screenshot({ path: `${process.env.PAGE_SHOTS}/clients-${theme}.png` });
		await page.press("l");
	}
	assert.deepStrictEqual(page.said, []);
});
