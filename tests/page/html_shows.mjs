// SPDX-License-Identifier: LGPL-2.1-or-later
// html_shows.mjs - the page of --html in a browser, from PAGE_FOLDER: nothing is asked of a network, and it shows what the
// server's page shows.
import assert from "node:assert";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { openPage, startBrowser, startServer } from "./browser.mjs";

const FOLDER = process.env.PAGE_FOLDER;
let browser, server;

before(async () => {
	server = await startServer(path.join(FOLDER, "story.trace"));
	browser = await startBrowser();
});

after(async () => {
	await browser?.close();
	await server?.end();
});

/** What the page shows when the trace is read. */
async function shown(page) {
	await page.waitForFunction(() => document.getElementById("sentence").textContent.startsWith("load 10 waited"));
	await page.ready();
	return page.evaluate(() => ({
		title: document.title,
		sentence: document.getElementById("sentence").textContent,
		missing: document.getElementById("missing").textContent,
		tables: document.getElementById("tables").textContent,
		rows: globalThis.traceView.view.shown.map(node => node.label)
	}));
}

test("the page from a disk shows what the server's page shows, and asks for nothing", async () => {
	const asked = [];
	const own = await openPage(browser, `file://${FOLDER}/story.html`, { offline: true });

	own.on("request", request => asked.push(request.url()));
	await own.reload();
	await own.ready();
	const served = await openPage(browser, server.url);

	await served.waitForFunction(() => document.getElementById("tables").textContent);
	await own.waitForFunction(wanted => document.getElementById("tables").textContent === wanted, (await shown(served)).tables);
	assert.deepStrictEqual(await shown(own), await shown(served));
	assert.deepStrictEqual(own.said, []);
	assert.deepStrictEqual(
		asked.filter(url => !/^(blob|data):/.test(url)),
		[`file://${FOLDER}/story.html`]
	);
	await own.close();
	await served.close();
});

test("the page of a part says which part it is, and its tables are about that part", async () => {
	const page = await openPage(browser, `file://${FOLDER}/part.html`, { offline: true });

	await page.waitForFunction(() => document.getElementById("tables").textContent.includes("postgres 30"));
	assert.match(await page.text("#missing"), /This is the part from 20\.0 ms to 60\.0 ms of 100\.00 ms/);
	assert.match(await page.text("#span-title"), /^The whole part, 40\.00 ms$/);
	assert.equal(await page.view("view.duration"), 40 * 1e6);
	// postgres has the CPU 50..60 ms of it
	const row = page.locator("#tables tr", { hasText: "postgres 30" });

	assert.equal(await row.locator("td").nth(2).innerText(), "10.00 ms");
	await page.click("#tab-servers");
	await page.ready();
	assert.match(await page.text("#tables"), /for the whole trace only, and this is a part/);
	assert.deepStrictEqual(page.said, []);
	await page.close();
});

test("nothing but the page's own script may run", async () => {
	const page = await openPage(browser, `file://${FOLDER}/story.html`);
	const ran = await page.evaluate(() => {
		const script = document.createElement("script");

		script.textContent = "globalThis.ran = true";
		document.body.append(script);
		return [globalThis.ran ?? false, document.querySelectorAll("img").length];
	});

	assert.deepStrictEqual(ran, [false, 0]);
	await page.close();
});

test("an engine that cannot read the trace says so in the page", async () => {
	const file = path.join(FOLDER, "wrong.html"),
		page = fs.readFileSync(path.join(FOLDER, "story.html"), "utf8");

	fs.writeFileSync(file, page.replace(/(id="trace-data" hidden>).*?(<\/div>)/s, "$1H4sIAAAAAAAAA0suSk0sSQUAoDFbZgYAAAA=$2"));
	const context = await browser.newContext();
	const wrong = await context.newPage();

	await wrong.goto(`file://${file}`);
	await wrong.waitForFunction(() => document.getElementById("error").textContent.includes("cannot show this trace"));
	await context.close();
});

test("a page with two traces shows both, aligned at the begins of their commands", async () => {
	const asked = [];
	const page = await openPage(browser, `file://${FOLDER}/pair.html`, { offline: true });

	page.on("request", request => asked.push(request.url()));
	await page.waitForFunction(() => document.getElementById("compared").textContent);
	const views = () =>
		page.evaluate(() =>
			[...document.querySelectorAll("iframe")].map(({ contentWindow: { traceView, document } }) => ({
				from: traceView.view.from,
				to: traceView.view.to,
				command: traceView.view.about.command_from,
				sentence: document.getElementById("sentence").textContent
			}))
		);
	const [a, b] = await views();

	assert.equal(b.command - a.command, 7e6);
	assert.equal(b.from - a.from, 7e6); // the same place, counted from the begin of each trace
	assert.equal(b.to - a.to, 7e6);
	for (const { sentence } of [a, b]) assert.match(sentence, /^load 10 waited/);
	assert.match(await page.textContent("#compared"), /1\.07 times as long/);
	await page.frames()[1].locator("#timeline").focus();
	await page.keyboard.press("l"); // the theme of one is that of both
	await page.keyboard.press("w");
	const themes = await page.evaluate(() =>
		[document, ...[...document.querySelectorAll("iframe")].map(frame => frame.contentDocument)].map(
			each => each.documentElement.dataset.theme
		)
	);
	const [c, d] = await views();

	assert.deepStrictEqual(new Set(themes).size, 1);
	assert.equal(d.from - c.from, 7e6);
	assert.ok(c.to - c.from < a.to - a.from);
	assert.deepStrictEqual(page.said, []);
	assert.deepStrictEqual(
		asked.filter(url => !/^(blob|data|about):/.test(url)),
		[]
	);
	await page.close();
});
