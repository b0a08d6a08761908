// SPDX-License-Identifier: LGPL-2.1-or-later
// clients_show.mjs - servers in the colours of their clients, in a browser, on the trace of page_servers.c: PAGE_SERVERS names it.
import assert from "node:assert";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { MODULES, endServers, openPage, placeOf, startBrowser, startServer } from "./browser.mjs";
import { pageModule } from "./modules.mjs";

const { CLIENT, CLIENT_CLASSES, NO_CLIENT, THEMES, pixelOf } = await pageModule("classes");
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
		if (from === 0) continue;
		await page.click("#tab-servers");
		await page.ready();
		assert.equal(await page.text("#tables"), text, "the tab Servers has the same of a span");
	}
});

test("a place of a server says for whom it works", async () => {
	const place = await placeOf(page, "server", 450);

	await page.mouse.move(place.x, place.y);
	await page.ready();
	assert.match(await page.text("#hover"), /For A client 10 \(exact\)/);
});

/** The lanes of requests that are shown: [{lane, x, y}], the place of @t in pixels of the canvas. */
function lanesAt(pid, t) {
	return page.evaluate(
		([wanted, ns]) => {
			const { view } = globalThis.traceView,
				owner = [...view.rows.values()].find(row => row.kind === "process" && row.pid === wanted).id;

			return view.shown.flatMap(({ requests }, index) =>
				requests?.row === owner
					? [
							{
								lane: requests.lane,
								x: view.labelWidth + ((ns - view.from) * view.width) / (view.to - view.from),
								y: 38 + index * 20 - view.scroll + 16
							}
						]
					: []
			);
		},
		[pid, t]
	);
}

test("each pixel of a lane of requests is what the engine answers", async () => {
	const { requests } = await (await page.request.get(`${server.url}ask/requests`)).json(),
		ground = pixelOf(THEMES.light.background);

	await page.mouse.move(1, 1); // no line at the pointer, and nothing is pale
	await page.evaluate(() => {
		globalThis.traceView.view.range = null;
		globalThis.traceView.view.emit("range", "paint");
	});
	await page.ready();
	for (const pid of [30, 40])
		for (const { lane, y } of await lanesAt(pid, 0)) {
			const found = await page.evaluate(top => {
				const { view, timeline } = globalThis.traceView,
					{ ratio, picture } = timeline;
				const { data } = timeline.context.getImageData(Math.round(view.labelWidth * ratio), Math.round(top * ratio), picture.columns, 1);

				return [...new Uint32Array(data.buffer)];
			}, y - 14); // its first pixels: texts are below
			const mine = requests.filter(request => request.server.pid === pid && request.lane === lane),
				scale = found.length / 8000;
			const wanted = found.map((_, x) => {
				const at = mine.find(({ from, to }) => Math.round(from * scale) <= x && Math.round(to * scale) - 1 > x);

				return at ? pixelOf(CLIENT_CLASSES[CLIENT + 2 * at.client].light) : ground;
			});

			assert.ok(mine.length > 0);
			assert.deepStrictEqual(found, wanted, `${pid} ${lane}`);
		}
});

test("the box at a request has its bill, and a click measures it and goes to a wait", async () => {
	const [{ x, y }] = await lanesAt(30, 500),
		box = await page.locator("#canvas").boundingBox();

	await page.mouse.move(box.x + x, box.y + y);
	await page.ready();
	assert.match(await page.text("#hover"), /A client 10.*request, 700 ns, answered.*920 ns of CPU, at least 710 ns, at most 920 ns.*Read by server 30/s);
	await page.mouse.click(box.x + x, box.y + y);
	await page.ready();
	assert.deepStrictEqual(await page.view("view.range"), { from: 305, to: 1005 });
	assert.match(await page.text("#announcement"), /did not wait meanwhile/);
	assert.match(await page.text("#selection"), /server 30 ran/);
	const [late] = await lanesAt(30, 4500);

	await page.mouse.click(box.x + late.x, box.y + late.y);
	await page.ready();
	assert.deepStrictEqual(await page.view("view.range"), { from: 4005, to: 5005 });
	assert.match(await page.text("#selection"), /server 30 waited 590 ns for/);
	assert.deepStrictEqual(await page.view("[view.span.from, view.span.to]"), [4110, 4700]);
	await page.press("Escape", "Escape", "Escape", "f");
	await page.click("#tab-requests");
	await page.ready();
	assert.match((await page.text("#tables")).replace(/\s+/g, " "), /305 ns 700 ns A client 10 920 ns 710 ns 920 ns server 30 server 30 answered/);
	await page.press("g");
	assert.equal((await lanesAt(30, 0)).length, 0);
	await page.press("g");
	assert.equal((await lanesAt(30, 0)).length, 2);
});

test("a link opens servers by client", async () => {
	const other = await openPage(browser, `${server.url}#b=1`);

	await other.ready();
	assert.equal(await other.getAttribute("#by-client", "aria-pressed"), "true");
	assert.deepStrictEqual(other.said, []);
	await other.context().close();
});

test("too many times for clients are told, and are no lack of servers", async () => {
	const other = await openPage(browser, server.url);

	await other.ready();
	await other.route("**/ask/clients*", route => route.fulfill({ json: { kept: false, cut: true, servers: [] } }));
	await other.click("#tab-clients");
	await other.ready();
	assert.match(await other.text("#tables"), /more times for clients than the view keeps/);
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
