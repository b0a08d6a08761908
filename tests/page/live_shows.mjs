// SPDX-License-Identifier: LGPL-2.1-or-later
// live_shows.mjs - the page of a trace that grows, in a browser: of a file that gets its second half, PAGE_OTHER, and of a
// recording in progress, PAGE_RECORDING: the process PAGE_RECORDER makes it, until the page has followed it.
import assert from "node:assert";
import fs from "node:fs";
import { after, before, test } from "node:test";
import { endServers, openPage, startBrowser, startServer } from "./browser.mjs";

const STORY = process.env.PAGE_OTHER,
	RECORDING = process.env.PAGE_RECORDING;
let browser;

before(async () => {
	browser = await startBrowser();
});

after(async () => {
	await browser?.close();
	endServers();
});

function isShown(page, pattern) {
	return page.waitForFunction(text => new RegExp(text).test(document.getElementById("file").textContent), pattern);
}

/** What a page says of the trace: the same for all pages of it. */
function contentOf(page) {
	return page.evaluate(async () => {
		const { view, ask } = globalThis.traceView,
			about = await ask("about");

		return {
			duration: view.duration,
			rows: [...view.rows.values()],
			shown: view.shown.map(node => node.key),
			sentence: document.getElementById("sentence").textContent,
			answers: [about, await ask("sums"), await ask("clients"), await ask("servers"), await ask("lanes")].map(
				answer => JSON.stringify({ ...answer, version: 0 })
			)
		};
	});
}

async function isLikeANewOne(page, trace) {
	const server = await startServer(trace),
		other = await openPage(browser, server.url);

	await other.waitForFunction(() => !globalThis.traceView.view.about.billing);
	await other.ready();
	await page.waitForFunction(() => !globalThis.traceView.view.about.billing);
	await page.ready();
	assert.deepStrictEqual(await contentOf(page), await contentOf(other));
	await other.context().close();
	await server.end();
}

test("a trace that gets its second half is shown whole, by itself", { skip: !STORY }, async () => {
	const bytes = fs.readFileSync(STORY),
		file = `${STORY}.growing`,
		middle = Math.floor(bytes.length / 2);

	fs.writeFileSync(file, bytes.subarray(0, middle));
	const server = await startServer(file),
		page = await openPage(browser, server.url),
		few = await page.view("view.about.events");

	fs.appendFileSync(file, bytes.subarray(middle));
	await page.waitForFunction(nr => globalThis.traceView.view.about.events > nr, few);
	await page.ready();
	await isLikeANewOne(page, file);
	assert.deepStrictEqual(page.said, []);
	await page.context().close();
	await server.end();
});

test("one of two traces under each other gets its second half, and both show the longer span", { skip: !STORY }, async () => {
	const bytes = fs.readFileSync(STORY),
		file = `${STORY}.second`,
		middle = Math.floor(bytes.length / 2);

	fs.writeFileSync(file, bytes.subarray(0, middle));
	const server = await startServer(process.env.PAGE_STORY, file),
		page = await openPage(browser, server.url, { bypassCSP: true });
	const views = expression =>
		page.evaluate(
			text =>
				[...document.querySelectorAll("iframe")].map(frame =>
					new Function("view", `return ${text}`)(frame.contentWindow.traceView.view)
				),
			expression
		);
	const [, few] = await views("view.about.events");

	assert.deepStrictEqual(...(await views("[view.from, view.to]")));
	fs.appendFileSync(file, bytes.subarray(middle));
	await page.waitForFunction(
		nr => document.querySelectorAll("iframe")[1].contentWindow.traceView.view.about.events > nr,
		few
	);
	const longest = Math.max(...(await views("view.about.duration_ns")));

	await page.waitForFunction(
		to => [...document.querySelectorAll("iframe")].every(frame => frame.contentWindow.traceView.view.to === to),
		longest
	);
	assert.deepStrictEqual(await views("[view.from, view.to, view.least, view.most]"), [
		[0, longest, 0, longest],
		[0, longest, 0, longest]
	]);
	assert.deepStrictEqual(page.said, []);
	await page.context().close();
	await server.end();
});

test("a recording goes on in the page, at the same place, until it ends", { skip: !RECORDING }, async () => {
	const server = await startServer(RECORDING),
		page = await openPage(browser, server.url);

	await isShown(page, "is being recorded, and is read again by itself");
	const place = await page.evaluate(() => {
		const { view, showSpan } = globalThis.traceView,
			node = view.shown.find(shown => shown.row?.kind === "thread" && shown.row.from === 0);

		showSpan(view, 0, view.duration / 2);
		location.hash = `#v=0-${Math.ceil(view.to)}&r=${node.id}&t=0`;
		return { to: Math.ceil(view.to), pid: node.row.pid, version: view.about.version, duration: view.duration };
	});

	await page.waitForFunction(() => globalThis.traceView.view.span);
	await page.waitForFunction(version => globalThis.traceView.view.about.version > version, place.version);
	await page.ready();
	const now = await page.view(
		"({ from: view.from, to: view.to, pid: view.rows.get(view.row)?.pid, t: view.span?.from, duration: view.duration })"
	);

	assert.ok(now.duration > place.duration);
	assert.deepStrictEqual([now.from, now.to, now.pid, now.t], [0, place.to, place.pid, 0]);
	await page.press("Escape", "Escape", "f");
	process.kill(Number(process.env.PAGE_RECORDER), "SIGINT");
	await isShown(page, "The recording has ended: \\d+ s more than at");
	await page.ready();
	assert.equal(await page.view("view.to"), await page.view("view.duration"));
	await isLikeANewOne(page, RECORDING);
	assert.deepStrictEqual(page.said, []);
	await page.context().close();
	await server.end();
});
