// SPDX-License-Identifier: LGPL-2.1-or-later
// pictures.mjs - takes the pictures of the documents: docs/view.png and docs/pair.png.
//
//     node tests/page/pictures.mjs t.trace r.trace
//
// The traces are the first and the last one of docs/TUTORIAL.md, recorded on a machine that does nothing else. Look at the
// pictures before they are committed: a recording has also what the machine did meanwhile.
import path from "node:path";
import { fileURLToPath } from "node:url";
import { endServers, openPage, startBrowser, startServer } from "./browser.mjs";

const DOCS = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../docs"),
	COMMAND = "orders",
	MS = 1e6;

/** In the page: the fourth wait of the command for another process, and the span that is shown around it. */
async function selectWait({ name, length }) {
	const { view, ask, question } = globalThis.traceView,
		row = [...view.rows.values()].find(found => found.kind === "thread" && found.name === name && found.tid === found.pid),
		{ spans } = await ask(question("spans", { row: row.id, from: 0, to: view.duration, max: 5000 })),
		waits = spans.filter(span => span.kind === "process" && span.to - span.from > 15e6),
		wait = waits[Math.min(4, waits.length - 1)],
		from = Math.max(0, (wait.from + wait.to) / 2 - length / 2);

	location.hash = `#v=${Math.floor(from)}-${Math.ceil(from + length)}&r=${row.id}&t=${Math.floor(wait.from)}&o=${row.parent}`;
}

async function takeView(browser, trace) {
	const server = await startServer(trace),
		page = await openPage(browser, server.url, { viewport: { width: 1280, height: 580 } });

	await page.waitForFunction(() => globalThis.traceView.view.about.complete && !globalThis.traceView.view.about.billing);
	await page.evaluate(selectWait, { name: COMMAND, length: 120 * MS });
	await page.waitForFunction(() => globalThis.traceView.view.span);
	await page.ready();
	await page.press("Enter", "Enter");
	await page.click("#tab-waits");
	await page.check("#only-row");
	await page.mouse.move(0, 0);
	await page.ready();
	await page.screenshot({ path: path.join(DOCS, "view.png") });
	await server.end();
}

async function takePair(browser, before, after) {
	const server = await startServer(before, after),
		page = await openPage(browser, server.url, { viewport: { width: 1280, height: 720 }, bypassCSP: true }),
		frames = page.frames().filter(frame => frame !== page.mainFrame());

	for (const frame of [...frames].reverse()) {
		// the last one that is used has its tables
		await frame.waitForFunction(() => document.documentElement.dataset.state === "ready");
		await frame.fill("#filter", COMMAND);
		await frame.press("#filter", "Enter");
	}
	await frames[0].click("#tab-calls");
	await frames[0].evaluate(from => {
		const { view, showSpan } = globalThis.traceView;

		showSpan(view, (view.about.command_from ?? 0) - from, (view.about.command_from ?? 0) + 150e6);
	}, 15 * MS);
	for (const frame of frames) await frame.waitForFunction(() => document.documentElement.dataset.state === "ready");
	await page.screenshot({ path: path.join(DOCS, "pair.png") });
	await server.end();
}

const [before, after] = process.argv.slice(2),
	browser = await startBrowser();

try {
	await takeView(browser, before);
	if (after) await takePair(browser, before, after);
} finally {
	await browser.close();
	endServers();
}
