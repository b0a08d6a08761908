// SPDX-License-Identifier: LGPL-2.1-or-later
// page_shows.mjs - the page in a browser, on the trace of page_story.c: PAGE_STORY names it.
import assert from "node:assert";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { MODULES, clickRow, endServers, openPage, placeOf, startBrowser, startServer } from "./browser.mjs";
import { pageModule } from "./modules.mjs";

const LONG = Boolean(process.env.TRACE_TEST_LONG),
	HOSTILE = "<img src=x a=1>",
	TABS = ["processes", "threads", "waits", "calls", "files", "locks", "servers", "scopes", "costs", "lanes", "clients", "events", "spans"],
	MS = 1e6,
	STORY = process.env.PAGE_STORY;
const { CLASSES, UNKNOWN, USER, makePixels, PROCESS, THEMES } = await pageModule("classes");
const { decodeShares, layRow } = await pageModule("shares");
let browser, server, page;

before(async () => {
	server = process.env.PAGE_URL ? { url: process.env.PAGE_URL, end: () => {} } : await startServer(STORY);
	browser = await startBrowser();
	page = await openPage(browser, server.url);
});

after(async () => {
	await browser?.close();
	await server?.end();
	endServers();
});

/** Back to the whole trace, with nothing selected. */
async function fresh() {
	await page.press("Escape", "Escape", "Escape", "Escape", "f");
	await page.evaluate(() => {
		const { view } = globalThis.traceView;

		view.open.clear();
		view.pinned = [];
		view.row = null;
		view.emit("selection");
	});
	await page.ready();
}

function labels() {
	return page.view("view.shown.map(node => node.label)");
}

test("the page opens with an answer, a title and what is missing, and says nothing on the console", async () => {
	assert.match(await page.text("#sentence"), /load/);
	assert.match(await page.title(), /tracevisualizer$/);
	assert.match(await page.text("#missing"), /17 events were lost/);
	assert.ok((await labels()).includes(HOSTILE));
	assert.deepStrictEqual(page.said, []);
});

test("the pixels are the shares that the engine gives", async () => {
	const { ids, columns, height, from, to } = await page.evaluate(() => {
		const { view, timeline } = globalThis.traceView;

		return {
			ids: view.shown.map(node => node.id).filter(id => id !== null),
			columns: timeline.picture.columns,
			height: timeline.picture.height,
			from: view.from,
			to: view.to
		};
	});
	const answer = await fetch(
		`${server.url}ask/shares?rows=${ids.join(",")}&from=${from}&to=${to}&columns=${columns}`
	);
	const { rows } = decodeShares(await answer.arrayBuffer()),
		palette = makePixels("light", THEMES.light.background);
	const nodes = await page.view("view.shown.map(node => node.id)");

	for (const [id, bytes] of rows) {
		const picture = layRow(bytes, columns, height),
			top = 2 + nodes.indexOf(id) * 20;
		const expected = Array.from(
			picture,
			(number, i) => palette[(number << 6) | (((top + Math.floor(i / columns)) & 7) << 3) | ((i % columns) & 7)]
		);

		assert.equal(
			await page.evaluate(
				([from, to]) => {
					// FNV-1a: millions of pixels are slow to send
					return globalThis.traceView.timeline.pixels
						.subarray(from, to)
						.reduce((hash, pixel) => Math.imul(hash ^ pixel, 16777619), 1);
				},
				[top * columns, (top + height) * columns]
			),
			expected.reduce((hash, pixel) => Math.imul(hash ^ pixel, 16777619), 1),
			`row ${id}`
		);
	}
	assert.equal(rows.size, ids.length);
});

test("the canvas has the colour of the state where the story has it", async () => {
	const colourAt = async (label, t) => {
		const { x, y } = await placeOf(page, label, t);

		return page.evaluate(
			([left, top]) => {
				// above the text of the box
				const canvas = document.getElementById("canvas"),
					box = canvas.getBoundingClientRect();
				const [r, g, b] = canvas
					.getContext("2d")
					.getImageData(Math.round(left - box.left), Math.round(top - box.top) - 7, 1, 1).data;

				return "#" + [r, g, b].map(c => c.toString(16).padStart(2, "0")).join("");
			},
			[x, y]
		);
	};

	assert.equal(await colourAt("load", 45 * MS), CLASSES[PROCESS].light);
	assert.equal(await colourAt("load", 90 * MS), CLASSES[USER].light);
	assert.equal(await colourAt(HOSTILE, 45 * MS), CLASSES[PROCESS].light);
	assert.equal(await colourAt(HOSTILE, 75 * MS), CLASSES[USER].light);
});

test("a click selects a wait, Enter follows it to the thread that ended it, Backspace returns", async () => {
	await fresh();
	await clickRow(page, "load", 45 * MS);
	assert.match(await page.text("#selection h2"), /^load 10 .*69\.90 ms/);
	await page.press("Enter");
	assert.match(await page.text("#selection h2"), new RegExp(HOSTILE));
	assert.equal(await page.view("view.chain.length"), 1);
	await page.locator("#tab-processes").focus(); // a tab needs Left and Right only
	await page.press("Enter"); // it ran: to its longest wait meanwhile
	assert.match(await page.text("#selection h2"), /49\.90 ms.*postgres/);
	await page.press("Enter", "Enter");
	assert.match(await page.text("#selection h2"), /^postgres 30 .*file/);
	await page.press("Backspace", "Backspace", "Backspace", "Backspace");
	assert.match(await page.text("#selection h2"), /^load 10 /);
	assert.equal(await page.view("view.chain.length"), 0);
});

test("a wait for a CPU leads to the thread that had it", async () => {
	await fresh();
	await clickRow(page, "postgres");
	await page.press(" ");
	await page.evaluate(async t => {
		const { view } = globalThis.traceView,
			{ showAround } = await import("./view.js");

		showAround(view, 0, t);
		view.emit("paint");
	}, 10 * MS);
	await page.ready();
	const { id } = await page.view(
		"({ id: view.tree.byRow.get([...view.rows.values()].find(row => row.tid === 30).id).leaf })"
	);

	await page.evaluate(row => (location.hash = `#r=${row}&t=5000000`), id);
	await page.waitForFunction(() => /postgres 30 waited/.test(document.getElementById("selection").textContent));
	assert.match(await page.text("#selection"), /Follow to load 10, which had the CPU/);
	await page.press("Enter");
	assert.match(await page.text("#selection h2"), /^load 10 ran/);
});

test("the box at the pointer says the state and who had the CPU", async () => {
	await fresh();
	const { x, y } = await placeOf(page, "load", 45 * MS);

	await page.mouse.move(x, y);
	await page.ready();
	assert.match(await page.text("#hover"), /load 10[^]*69\.90 ms/);
	await clickRow(page, "postgres");
	await page.press(" ");
	const waiting = await page.view("view.shown.findIndex(node => node.number === 30 && node.leaf !== null)"),
		other = await placeOf(page, "postgres", 5 * MS);

	await page.mouse.move(other.x, other.y + 20 * (waiting - (await page.view("view.shown.findIndex(node => node.label === 'postgres')"))));
	await page.waitForFunction(() => /The CPU was used by/.test(document.getElementById("hover").textContent));
	await page.ready();
	assert.match(await page.text("#hover"), /The CPU was used by\s*load 10 10\.00 ms/);
	await page.mouse.move(60, 10);
});

test("hostile names are text: no element comes from them", async () => {
	await fresh();
	await clickRow(page, "postgres");
	await page.press(" ");
	await clickRow(page, HOSTILE, 45 * MS);
	for (const tab of TABS) {
		await page.click(`#tab-${tab}`);
		await page.ready();
		assert.equal(await page.locator("#tables .error").count(), 0, tab);
	}
	await page.click("#tab-files");
	await page.ready();
	assert.match(await page.text("#tables"), /<script>alert\(1\)/);
	assert.equal(await page.locator("img, script:not([src]), b:has-text('quickly')").count(), 0);
	const hidden = /[\u0001-\u0008\u000b-\u001f\u202a-\u202e]/;

	assert.doesNotMatch(await page.text("body"), hidden);
	assert.doesNotMatch(await page.view("view.shown.map(node => node.label).join()"), hidden);
	await page.click("#tab-processes");
	await page.ready();
});

test("keys, wheel and drag zoom and move; the address keeps the place", async () => {
	await fresh();
	const { x, y } = await placeOf(page, "load", 50 * MS);

	await page.mouse.move(x, y);
	await page.mouse.wheel(0, -400);
	await page.ready();
	const [from, to] = await page.view("[view.from, view.to]");

	assert.ok(from > 0 && to < 100 * MS && Math.abs((from + to) / 2 - 50 * MS) < MS);
	await page.press("w", "d", "ArrowRight", "a", "s");
	await page.mouse.down();
	await page.mouse.move(x + 50, y, { steps: 3 });
	await page.mouse.up();
	await clickRow(page, "load", 50 * MS);
	await page.press("p");
	await page.waitForFunction(() => /r=.*p=/.test(location.hash));
	const place = await page.view("[Math.floor(view.from), view.row, view.pinned.length]"),
		selected = await page.text("#selection h2");

	await page.reload();
	await page.ready();
	assert.deepStrictEqual(await page.view("[Math.floor(view.from), view.row, view.pinned.length]"), place);
	assert.equal(await page.text("#selection h2"), selected);
	await page.press("p", "f");
	assert.deepStrictEqual(await page.view("[view.from, view.to]"), [0, 100 * MS]);
});

/** A wheel event as a touchpad makes it: many small steps. */
function touch(x, y, delta, times = 10) {
	return page.evaluate(
		([clientX, clientY, change, n]) => {
			const canvas = document.getElementById("canvas");

			for (let i = 0; i < n; i++)
				canvas.dispatchEvent(new WheelEvent("wheel", { clientX, clientY, bubbles: true, cancelable: true, ...change }));
		},
		[x, y, delta, times]
	);
}

test("on a touchpad two fingers move in time, a pinch zooms at the pointer, and the names scroll", async () => {
	await fresh();
	const { x, y } = await placeOf(page, "load", 50 * MS),
		span = () => page.view("[view.from, view.to]");

	await touch(x, y, { deltaY: -8, ctrlKey: true }); // a pinch
	await page.ready();
	const [from, to] = await span();

	assert.ok(to - from > 35 * MS && to - from < 55 * MS && Math.abs((from + to) / 2 - 50 * MS) < MS, `${from} ${to}`);
	await touch(x, y, { deltaX: 6, deltaY: 1 });
	await page.ready();
	const [right, end] = await span(),
		nsOfPixels = ((to - from) * 60) / (await page.view("view.width"));

	assert.ok(Math.abs(right - from - nsOfPixels) < 10 && Math.abs(end - right - (to - from)) < 10);
	await touch(x, y, { deltaX: -6 });
	await page.ready();
	assert.ok(Math.abs((await span())[0] - from) < 10);
	assert.equal(await page.evaluate(() => visualViewport.scale), 1); // the page itself is not zoomed
	await touch(x, y, { deltaY: 8, ctrlKey: true }, 40);
	await page.ready();
	assert.deepStrictEqual(await span(), [0, 100 * MS]);
	await page.evaluate(() => Object.assign(globalThis.traceView.view, { height: 80 })); // two rows
	await touch(60, y, { deltaY: 4 });
	assert.equal(await page.view("view.scroll"), 40);
	assert.deepStrictEqual(await span(), [0, 100 * MS]);
	await page.setViewportSize({ width: 1281, height: 800 });
	await page.setViewportSize({ width: 1280, height: 800 });
	await page.view("view.scroll = 0");
	await page.ready();
});

test("an address that leads nowhere is harmless", async () => {
	await page.goto(`${server.url}#v=5-1&r=999999&t=5&o=77,<b>&p=88&f=%00`);
	await page.reload();
	await page.ready();
	assert.deepStrictEqual(page.said, []);
	await page.goto(server.url);
	await page.ready();
});

test("another file of the trace's name is told, and read at a key", { skip: Boolean(process.env.PAGE_URL) }, async () => {
	const shown = `${STORY}.shown`;

	fs.copyFileSync(STORY, shown);
	const other = await startServer(shown),
		own = await openPage(browser, other.url);

	assert.equal(await own.locator("#file").isHidden(), true);
	fs.copyFileSync(STORY, `${shown}.new`);
	fs.renameSync(`${shown}.new`, shown);
	await own.reload();
	await own.ready();
	assert.match(await own.text("#file"), /Another file has the name of this trace now.*Read it again/);
	await own.keyboard.press("u");
	await own.waitForFunction(() => document.getElementById("file")?.hidden && globalThis.traceView);
	await own.ready();
	assert.deepStrictEqual(own.said, []);
	await own.context().close();
	await other.end();
});

test("the critical path shows its rows only, and Escape leaves it", async () => {
	await fresh();
	const all = await labels();

	await clickRow(page, "load");
	await page.press("c");
	const rows = await labels();

	assert.ok(
		rows.includes("load") && rows.includes(HOSTILE) && rows.includes("postgres") && !rows.includes("CPU 0"),
		rows.join()
	);
	assert.match(await page.text("#selection h2"), /Critical path of load 10/);
	assert.equal(await page.view("view.path.segments.reduce((s, part) => s + part.to - part.from, 0)"), 100 * MS);
	await page.press("Escape");
	assert.deepStrictEqual(await labels(), all);
});

test("the panel is about the critical path while it is shown, also if a wait was selected", async () => {
	await fresh();
	await clickRow(page, "load");
	await page.evaluate(async () => {
		const { view, ask, question } = globalThis.traceView,
			row = [...view.rows.values()].find(found => found.kind === "thread" && found.tid === 10),
			{ spans } = await ask(question("spans", { row: row.id, from: 0, to: view.duration, max: 5000 })),
			wait = spans.find(span => span.kind);

		location.hash = `#v=0-${view.duration}&r=${row.id}&t=${Math.floor(wait.from)}`;
	});
	await page.waitForFunction(() => globalThis.traceView.view.span);
	await page.ready();
	await page.press("c");
	assert.match(await page.text("#selection h2"), /Critical path of load 10/);
	await page.press("Escape");
	assert.match(await page.text("#selection h2"), /load 10 waited/);
	await page.press("Escape");
});

test("the waits of the threads that the answer names are the first", async () => {
	await fresh();
	await page.click("#tab-waits");
	await page.ready();
	const threads = await page.evaluate(() => [...document.querySelectorAll("#tables tbody tr")].map(row => row.cells[4].textContent.trim())),
		other = threads.indexOf("tracedaemon 9");

	assert.ok(other > 0, threads.join());
	assert.ok(threads.slice(other).every(text => text === "tracedaemon 9"), threads.join());
	await page.click("#tab-processes");
	await page.ready();
});

test("without a selection the critical path is that of the process of the answer", async () => {
	await fresh();
	await page.press("c");
	assert.match(await page.text("#selection h2"), /Critical path of load 10/);
	await page.press("Escape");
});

test("search selects, filter chooses, Space opens", async () => {
	await fresh();
	await page.press("/");
	await page.keyboard.type("postgr");
	await page.waitForSelector("#results li");
	await page.ready();
	await page.press("Enter");
	assert.match(await page.text("#selection h2"), /postgres 30/);
	await page.press(" ");
	assert.ok((await labels()).includes("worker"));
	await page.press("r");
	await page.keyboard.type("load");
	await page.press("Enter");
	assert.deepStrictEqual(await labels(), ["load"]);
	await page.press("Escape", "Escape");
	assert.ok((await labels()).length > 3);
	await page.press("/");
	await page.locator("#search").fill("no such name");
	await page.waitForFunction(() => /^No process/.test(document.getElementById("results").innerText));
	assert.ok((await page.locator("#results").boundingBox()).x >= 0, "the results are in the window");
	await page.press("Escape");
});

test("a narrow window cuts no button, no name and no text that is typed", async () => {
	const narrow = await openPage(browser, server.url, { viewport: { width: 1000, height: 700 } }),
		heights = await narrow.$$eval("header button", buttons => buttons.map(button => button.offsetHeight)),
		lines = await narrow.$$eval("#tables td:first-child .link", links =>
			links.filter(link => link.textContent.length <= 15).map(link => link.getClientRects().length)
		);

	assert.ok(heights.length >= 6 && Math.max(...heights) < 32, `buttons of ${heights} pixels`);
	assert.ok(lines.length && Math.max(...lines) === 1, `names in ${lines} lines`);
	await narrow.keyboard.press("/");
	await narrow.keyboard.type("no such name");
	await narrow.waitForSelector("#results li");
	const [typed, results] = [await narrow.locator("#search").boundingBox(), await narrow.locator("#results").boundingBox()];

	assert.ok(results.y >= typed.y + typed.height, "the results are below the text");
	await narrow.context().close();
});

test("a wait that the answer names is selected by its clause", async () => {
	await fresh();
	await page.locator("#sentence a", { hasText: "for the file" }).click();
	await page.ready();
	assert.match(await page.text("#selection h2"), /^postgres 30 waited 30\.00 ms for file/);
	await page.press("Escape", "Escape", "f");
});

test("Enter follows the wait that a click on a link has selected", async () => {
	await fresh();
	await page.locator("#sentence a").nth(1).click(); // a name leads to what its thread did on the path
	await page.ready();
	assert.match(await page.text("#selection h2"), / 20 ran 20\.00 ms in its own code/);
	await page.click("#tab-waits");
	await page.ready();
	await page.locator("#tables tr", { hasText: "load 10" }).locator("td:nth-child(3) a").first().click();
	await page.ready();
	assert.match(await page.text("#selection h2"), /^load 10 waited /);
	await page.press("Enter");
	assert.equal(await page.view("view.chain.length"), 1);
	await page.locator("#sentence a").first().click(); // it leads to the row of the program, and to no single wait
	await page.ready();
	assert.match(await page.text("#selection h2"), /^load 10$/);
	await page.click("#tab-processes");
	await page.press("Escape", "Escape", "f");
});

test("a measured span is what the tables are about, and their times are those of the books", async () => {
	await fresh();
	const a = await placeOf(page, "load", 20 * MS),
		b = await placeOf(page, "load", 60 * MS);

	await page.keyboard.down("Shift");
	await page.mouse.move(a.x, a.y);
	await page.mouse.down();
	await page.mouse.move(b.x, b.y, { steps: 4 });
	await page.mouse.up();
	await page.keyboard.up("Shift");
	await page.ready();
	assert.match(await page.text("#span-title"), /measured/);
	const { from, to } = await page.view("view.range");

	assert.ok(Math.abs(from - 20 * MS) < MS && Math.abs(to - 60 * MS) < MS);
	const books = await (await fetch(`${server.url}ask/books?from=${from}&to=${to}`)).json();
	const { durationText } = await pageModule("time");
	const postgres = books.processes.find(process => process.comm === "postgres"),
		row = page.locator("#tables tr", { hasText: "postgres 30" });

	assert.equal(await row.locator("td").nth(3).innerText(), durationText(postgres.user_ns));
	await page.press("m");
	assert.match(await page.text("#span-title"), /whole trace/);
});

test("the table of calls has the histograms of the books, and is sorted by any column", async () => {
	await fresh();
	await page.click("#tab-calls");
	await page.ready();
	const books = await (await fetch(`${server.url}ask/books`)).json(),
		{ durationText } = await pageModule("time");
	const sums = new Map();

	for (const call of books.processes.flatMap(process => process.syscalls))
		for (const [ns, calls] of call.times) {
			const times = sums.get(call.name) ?? sums.set(call.name, new Map()).get(call.name);

			times.set(ns, (times.get(ns) ?? 0) + calls);
		}
	for (const [name, times] of sums) {
		const label = await page
			.locator("#tables tr", { has: page.getByRole("cell", { name, exact: true }) })
			.locator(".histogram")
			.getAttribute("aria-label");

		assert.equal(
			label,
			[...times]
				.sort((a, b) => a[0] - b[0])
				.map(([ns, calls]) => `${durationText(ns)}: ${calls}`)
				.join(", ")
		);
	}
	const names = () => page.locator("#tables tbody td:first-child").allInnerTexts();

	await page.getByRole("button", { name: "Call", exact: true }).click();
	const up = await names();

	assert.deepStrictEqual(up, up.slice().sort());
	assert.equal(await page.locator("#tables th[aria-sort=ascending]").innerText(), "Call");
	await page.press("Enter"); // the title has kept the focus
	assert.deepStrictEqual(await names(), up.slice().reverse());
	await page.press("Escape");
});

test("the filter of rows is about the tables, too", async () => {
	await fresh();
	await page.click("#tab-processes");
	await page.press("r");
	await page.keyboard.type("postgres");
	await page.press("Enter");
	await page.waitForFunction(() => /Only rows with .postgres/.test(document.getElementById("span-title").textContent));
	await page.ready();
	assert.deepStrictEqual(await page.locator("#tables tbody td:first-child").allInnerTexts(), ["postgres 30"]);
	await page.click("#tab-waits");
	await page.ready();
	assert.ok((await page.locator("#tables tbody tr").count()) > 0);
	assert.doesNotMatch(await page.text("#tables tbody"), /load 10/);
	await page.press("Escape", "Escape");
	await page.ready();
	await page.click("#tab-processes");
	await page.ready();
	assert.ok((await page.locator("#tables tbody tr").count()) > 1);
});

test("the grid has the spans of the row, and keys move in it", async () => {
	await fresh();
	await page.click("#tab-spans");
	await page.ready();
	await clickRow(page, "load");
	const rows = await page.locator("#tables [role=grid] tbody tr").allInnerTexts();

	assert.ok(
		rows.some(text => /69\.90 ms/.test(text)),
		rows.join("\n")
	);
	await page.locator("#tables [role=grid] [tabindex='0']").focus();
	await page.press("ArrowDown", "ArrowDown", "ArrowRight", "Enter");
	assert.equal(await page.locator("#tables [role=grid] [tabindex='0']").count(), 1);
	assert.notEqual(await page.view("view.span"), null);
	await page.click("#tab-processes");
	await page.ready();
});

test("lost events are hatched where the books say unknown", async () => {
	const ns = await page.evaluate(async t => {
		const { view } = globalThis.traceView,
			row = view.shown.find(node => node.label === "<img src=x a=1>").id;
		const answer = await fetch(`ask/sums?from=${t}&to=${t + 1000000}`);

		return (await answer.json()).rows.find(found => found.id === row).ns;
	}, 85 * MS);

	assert.equal(ns[UNKNOWN], MS);
	assert.deepStrictEqual(page.said, []);
});

async function violations(tested) {
	const { violations: found } = await tested.evaluate(() => globalThis.axe.run());

	return found.map(
		({ id, nodes }) =>
			`${id}: ${nodes
				.map(node => node.html)
				.join(" ")
				.slice(0, 300)}`
	);
}

test("axe finds nothing, in light and dark, with a selection and with help", async () => {
	await fresh();
	await clickRow(page, "load", 45 * MS);
	await page.press("Enter");
	await page.evaluate(fs.readFileSync(path.join(MODULES, "node_modules/axe-core/axe.min.js"), "utf8"));
	for (const tab of LONG ? TABS : ["spans"])
		for (const theme of ["dark", "light"]) {
			await page.click(`#tab-${tab}`);
			await page.press("l");
			assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), theme);
			assert.deepStrictEqual(await violations(page), [], `${theme} ${tab}`);
		}
	await page.press("?");
	assert.deepStrictEqual(await violations(page), [], "help");
	await page.keyboard.press("Escape");
	await page.waitForSelector("#help", { state: "hidden" });
});

test("each size of window and each density has a complete picture", async () => {
	const sizes = LONG
		? [
				[1280, 720, 1],
				[2560, 1440, 1],
				[3840, 2160, 1],
				[1280, 800, 2],
				[1440, 900, 1.5]
			]
		: [[1280, 800, 2]];

	for (const [width, height, deviceScaleFactor] of sizes) {
		const tested = await openPage(browser, server.url, { viewport: { width, height }, deviceScaleFactor });
		const [canvas, error] = await tested.evaluate(() => [
			document.getElementById("canvas").width,
			globalThis.traceView.timeline.picture.error
		]);

		assert.equal(canvas, width * deviceScaleFactor);
		assert.equal(error, "");
		assert.ok(await tested.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
		assert.deepStrictEqual(tested.said, []);
		await tested.context().close();
	}
});

test("a trace that is being read says how far, and has its answer at the end", async () => {
	const context = await browser.newContext(),
		reading = await context.newPage();
	let isDone = false;

	await context.route("**/ask/about", async route => {
		const about = await (await route.fetch()).json();

		await route.fulfill({ json: { ...about, done_ns: isDone ? about.duration_ns : 20 * MS, complete: isDone } });
	});
	await context.route("**/ask/progress", route =>
		route.fulfill({ json: { done_ns: isDone ? 100 * MS : 20 * MS, duration_ns: 100 * MS, complete: isDone } })
	);
	await reading.goto(server.url);
	await reading.waitForSelector("#missing progress");
	assert.match(await reading.locator("#sentence").innerText(), /being read/);
	assert.match(await reading.locator("#missing").innerText(), /Read 20 % of the trace/);
	isDone = true;
	await reading.waitForFunction(() => /load/.test(document.getElementById("sentence").textContent));
	assert.equal(await reading.locator("#missing progress").count(), 0);
	await context.close();
});

test("a trace without events opens, and says so", { skip: Boolean(process.env.PAGE_URL) }, async () => {
	const other = await startServer(process.env.PAGE_EMPTY),
		empty = await openPage(browser, other.url);

	assert.match(await empty.text("#sentence"), /^The trace is empty/);
	assert.equal(await empty.text("#facts"), "0 events");
	assert.ok(await empty.locator(".tools").isHidden()); // there is nothing to search or to zoom
	assert.ok(await empty.locator("#timeline").isHidden());
	assert.deepStrictEqual(empty.said, []);
	await empty.context().close();
	await other.end();
});

test("a server that is gone is told in one sentence", { skip: Boolean(process.env.PAGE_URL) }, async () => {
	await server.end();
	server = null;
	await clickRow(page, "load", 5 * MS);
	await page.waitForSelector("#error:not([hidden])");
	assert.match(await page.text("#error"), /does not answer/);
});
