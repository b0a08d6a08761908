// SPDX-License-Identifier: LGPL-2.1-or-later
// tables_agree.mjs - each table of the page has the figures of `--json --from --to` of the same span, in a browser: on the
// traces of page_story.c, page_servers.c and page_scopes.c, and on the file that PAGE_REAL names, if it does.
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import path from "node:path";
import { after, before, test } from "node:test";
import { BUILD, endServers, openPage, startBrowser, startServer } from "./browser.mjs";
import { pageModule } from "./modules.mjs";

const { bytesText, countText, durationText } = await pageModule("time"),
	{ clean, processText } = await pageModule("words");
const TRACES = [process.env.PAGE_STORY, process.env.PAGE_SERVERS, process.env.PAGE_SCOPES, process.env.PAGE_REAL].filter(Boolean);
let browser;

before(async () => {
	browser = await startBrowser();
});

after(async () => {
	await browser?.close();
	endServers();
});

function report(trace, ...options) {
	const text = execFileSync(path.join(BUILD, "bin/tracevisualizer"), [...options, trace], { encoding: "utf8", maxBuffer: 1 << 28 });

	return options.includes("-d") ? text.split("\n").filter(Boolean).map(line => JSON.parse(line)) : JSON.parse(text);
}

async function measure(page, span) {
	await page.evaluate(range => {
		const { view } = globalThis.traceView;

		view.range = range;
		view.emit("range");
	}, span);
	await page.ready();
}

/** All rows of a table, of events the first hundred: their cells as texts, by the titles of the columns. */
async function rowsOf(page, tab) {
	await page.click(`#tab-${tab}`);
	await page.ready();
	for (const more = page.locator("#tables button", { hasText: /^Show .* more$/ }); tab !== "events" && (await more.count()); ) {
		await more.click();
		await page.ready();
	}
	return page.evaluate(() => {
		const titles = [...document.querySelectorAll("#tables th")].map(cell => cell.textContent);

		return [...document.querySelectorAll("#tables tbody tr")].map(row =>
			Object.fromEntries([...row.cells].map((cell, i) => [titles[i], cell.textContent.trim()]))
		);
	});
}

const time = ns => (ns ? durationText(ns) : "-"),
	nr = n => (n ? countText(n) : "-"),
	sum = (list, value) => list.reduce((total, item) => total + value(item), 0),
	sorted = rows => rows.map(row => JSON.stringify(row)).sort();

/** The figures of a process or thread in the words of the page. */
function states(found) {
	const idle = sum(found.waits, wait => (wait.idle ? wait.ns : 0)),
		unknown = sum(found.waits, wait => (wait.kind === "unknown" && !wait.idle ? wait.ns : 0)),
		blocked = sum(found.waits, wait => wait.ns) - idle - unknown;

	return {
		"On a CPU": time(found.user_ns + found.system_ns + found.interrupted_ns),
		"Own code": time(found.user_ns),
		Kernel: time(found.system_ns),
		"Waits for a CPU": time(found.wait_cpu_ns),
		Waits: time(blocked),
		"At rest": time(idle),
		Unknown: time(unknown)
	};
}

const isBusy = found => found.elapsed_ns > sum(found.waits, wait => (wait.idle ? wait.ns : 0));

function pick(row, titles) {
	return Object.fromEntries(titles.map(title => [title, row[title]]));
}

/** Rows that the page adds up over all processes. */
function added(processes, list, name, keys) {
	const sums = new Map();

	for (const item of processes.flatMap(process => process[list])) {
		const row = sums.get(item[name]) ?? sums.set(item[name], { name: item[name], max_ns: 0 }).get(item[name]);

		for (const key of keys) row[key] = (row[key] ?? 0) + item[key];
		row.max_ns = Math.max(row.max_ns, item.max_ns ?? 0);
	}
	return [...sums.values()];
}

/** What the tables of a span have to be, by tab: rows with the titles that are compared. */
function wanted(books) {
	const { processes } = books,
		threads = processes.flatMap(process => process.threads),
		titles = Object.keys(states({ waits: [] }));

	return {
		processes: { titles, rows: processes.filter(isBusy).map(states) },
		threads: { titles, rows: threads.filter(isBusy).map(states) },
		calls: {
			titles: ["Call", "Calls", "Errors", "Time in it", "CPU", "Waits for a CPU", "Waits", "Longest"],
			rows: added(processes, "syscalls", "name", ["calls", "errors", "elapsed_ns", "cpu_ns", "wait_cpu_ns", "wait_ns"]).map(call => ({
				Call: clean(call.name),
				Calls: nr(call.calls),
				Errors: nr(call.errors),
				"Time in it": time(call.elapsed_ns),
				CPU: time(call.cpu_ns),
				"Waits for a CPU": time(call.wait_cpu_ns),
				Waits: time(call.wait_ns),
				Longest: time(call.max_ns)
			}))
		},
		files: {
			titles: ["Path", "Reads", "Read", "Writes", "Written", "Waits for it"],
			rows: added(processes, "files", "path", ["reads", "read_bytes", "writes", "written_bytes", "wait_ns"]).map(file => ({
				Path: clean(file.name, 200) || "(path unknown)",
				Reads: nr(file.reads),
				Read: file.read_bytes ? bytesText(file.read_bytes) : "-",
				Writes: nr(file.writes),
				Written: file.written_bytes ? bytesText(file.written_bytes) : "-",
				"Waits for it": time(file.wait_ns)
			}))
		},
		locks: {
			titles: ["Thread", "Held by", "Count", "Time"],
			rows: books.locks.map(lock => ({
				Thread: processText({ name: lock.thread, pid: lock.tid }),
				"Held by": lock.holder_tid ? processText({ name: lock.holder_thread, pid: lock.holder_tid }) : "unknown",
				Count: nr(lock.count),
				Time: time(lock.ns)
			}))
		},
		scopes: {
			titles: ["Name", "Kind", "Count", "Time", "Median", "p99", "Longest", "CPU", "Waits for a CPU", "Waits"],
			rows: books.spans.map(scope => ({
				Name: clean(scope.name),
				Kind: scope.kind,
				Count: nr(scope.count),
				Time: time(scope.sum_ns),
				Median: time(scope.p50_ns),
				p99: time(scope.p99_ns),
				Longest: time(scope.max_ns),
				CPU: time(scope.cpu_ns),
				"Waits for a CPU": time(scope.wait_cpu_ns),
				Waits: time(scope.blocked_ns)
			}))
		}
	};
}

/** [tid, kind, idle, ns, count] of the waits of all threads in --json. */
function waitsOf(books) {
	return books.processes
		.flatMap(process => process.threads)
		.flatMap(thread => thread.waits.map(wait => [thread.tid, wait.kind, Boolean(wait.idle), wait.ns, wait.count]));
}

/** Their sums; the page has them by call, too. Time that is unknown has no number: a gap cuts it into any pieces. */
function addedWaits(list) {
	const sums = new Map();

	for (const [tid, kind, idle, ns, count] of list) {
		const key = `${tid} ${kind} ${idle}`,
			row = sums.get(key) ?? sums.set(key, [0, 0]).get(key);

		row[0] += ns;
		row[1] += kind === "unknown" ? 0 : count;
	}
	return [...sums].sort();
}

async function compare(page, trace, span, label) {
	const isWhole = span === null,
		books = report(trace, "--json", ...(isWhole ? [] : [`--from=${span.from}ns`, `--to=${span.to}ns`]));

	for (const [tab, { titles, rows }] of Object.entries(wanted(books))) {
		const found = (await rowsOf(page, tab)).map(row => pick(row, titles));

		assert.deepStrictEqual(sorted(found), sorted(rows.map(row => pick(row, titles))), `${label}: ${tab}`);
	}
	return books;
}

async function compareEvents(page, trace, span, label) {
	const events = report(trace, "-d", "--json", `--from=${span.from}ns`, `--to=${span.to}ns`),
		found = await rowsOf(page, "events");

	assert.deepStrictEqual(
		found.map(row => [row.CPU, row.Event]),
		events.slice(0, found.length).map(event => [String(event.cpu), event.event]),
		`${label}: events`
	);
	assert.ok(found.length === events.length || found.length >= 100, `${label}: ${found.length} of ${events.length} events`);
}

/** The table of waits has a row for each of the answer, whose sums are those of --json. */
async function compareWaits(page, url, span, books, label) {
	const question = span ? `?from=${span.from}&to=${span.to}` : `?from=0&to=${await page.view("view.duration")}`,
		{ waits, rest_ns: rest } = await (await page.request.get(`${url}ask/waits${question}`)).json(),
		found = await rowsOf(page, "waits");

	assert.deepStrictEqual(
		sorted(found.map(row => [row.Time, row.Count, row["At rest"]])),
		sorted(waits.map(wait => [time(wait.ns), nr(wait.count), wait.idle ? "yes" : ""])),
		`${label}: waits`
	);
	if (rest) return;
	const blocked = waits.filter(wait => wait.kind !== "cpu");

	assert.equal(
		sum(blocked, wait => wait.ns),
		sum(books.processes, process => sum(process.waits, wait => wait.ns)),
		`${label}: all waits`
	);
	assert.deepStrictEqual(
		addedWaits(blocked.map(wait => [wait.thread.tid, wait.kind, Boolean(wait.idle), wait.ns, wait.count])),
		addedWaits(waitsOf(books)),
		`${label}: waits of threads`
	);
}

for (const trace of TRACES)
	test(`the tables of ${path.basename(trace)} are those of --json --from --to`, async () => {
		const server = await startServer(trace),
			page = await openPage(browser, server.url);

		await page.waitForFunction(() => globalThis.traceView?.view.about.complete && !globalThis.traceView.view.about.billing);
		const duration = await page.view("view.duration"),
			part = (a, b) => ({ from: Math.floor(duration * a), to: Math.floor(duration * b) });

		for (const span of [null, part(0.1, 0.55), part(0.4, 0.95), part(0.3, 0.31)]) {
			const label = span ? `${span.from} to ${span.to}` : "whole";

			await measure(page, span);
			const books = await compare(page, trace, span, label);

			await compareWaits(page, server.url, span, books, label);
			if (span) await compareEvents(page, trace, span, label);
		}
		assert.deepStrictEqual(page.said, []);
		await page.context().close();
		await server.end();
	});
