// SPDX-License-Identifier: LGPL-2.1-or-later
// units.mjs - the parts of the page that need no browser, under node: shares, columns, times, rows, places, names, colours.
import assert from "node:assert";
import { test } from "node:test";
import { pageModule } from "./modules.mjs";

const { CLASSES, NR_CLASSES, ORDER, ABSENT, UNKNOWN, USER, WAIT_CPU, PROCESS, THEMES, contrast, inkOn, makePixels } =
	await pageModule("classes");
const { CLIENT, CLIENT_CLASSES, CLIENT_ORDER, NO_CLIENT, NR_NUMBERS } = await pageModule("classes");
const { columnShares, decodeShares, divideColumn, layRow, sumShares, wideRuns } = await pageModule("shares");
const { bytesText, countText, durationText, numberText, partText, percentText, pointText, tickDistance, wallDigits, wallText } =
	await pageModule("time");
const { makeTree, nrAbsent, openTo, shownIndex, shownNodes, wantedRows } = await pageModule("rows");
const { missingSentences, namedIn } = await pageModule("verdict");
const { moreText } = await pageModule("search");
const { rowsOfPath } = await pageModule("walk");
const { clockDistance, commandDistance, comparison, limitsOf } = await pageModule("pair");
const { costsOf, countUntilDone } = await pageModule("books");
const { addTimes, rangeOf, timesText } = await pageModule("histogram");
const { readPlace, writePlace } = await pageModule("place");
const { boxText, classLabel, clean, objectText, spanSentence, takeClients, wokenText } = await pageModule("words");
const { ask, askBytes, newest, question } = await pageModule("ask");
const { growthText, moveRows, movedRows, takeDuration } = await pageModule("live");
const { chosenSpan, makeView, nameRows, openSubject, pan, showSpan, timeAt, xAt, zoom } = await pageModule("view");

function varint(value) {
	const bytes = [];

	for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
	return [...bytes, value];
}

const whole = (count, number) => [...varint(count * 2 + 1), number];
const mixed = columns => [
	...varint(columns.length * 2),
	...columns.flatMap(parts => [parts.length, ...parts.flatMap(([number, ns]) => [number, ...varint(ns)])])
];

function answer(rows, from, to, columns) {
	const head = new DataView(new ArrayBuffer(32)),
		bytes = [];

	head.setUint32(0, 0x31485356, true);
	head.setUint32(4, rows.length, true);
	head.setUint32(8, columns, true);
	head.setBigUint64(16, BigInt(from), true);
	head.setBigUint64(24, BigInt(to), true);
	for (const [id, runs] of rows) {
		const row = new DataView(new ArrayBuffer(8));

		row.setUint32(0, id, true);
		row.setUint32(4, runs.length, true);
		bytes.push(...new Uint8Array(row.buffer), ...runs);
	}
	return new Uint8Array([...new Uint8Array(head.buffer), ...bytes]).buffer;
}

function random(seed) {
	// xorshift: the same sequence in each run
	let x = seed;

	return below => {
		x ^= x << 13;
		x ^= x >>> 17;
		x ^= x << 5;
		return (x >>> 0) % below;
	};
}

test("shares are decoded as they were written", () => {
	const runs = [
		...whole(3, USER),
		...mixed([
			[
				[USER, 300],
				[WAIT_CPU, 700]
			],
			[[PROCESS, 2 ** 40]]
		]),
		...whole(200, ABSENT)
	];
	const decoded = decodeShares(
		answer(
			[
				[7, runs],
				[9, whole(205, UNKNOWN)]
			],
			5,
			2 ** 52,
			205
		)
	);

	assert.deepStrictEqual([decoded.from, decoded.to, decoded.columns], [5, 2 ** 52, 205]);
	assert.deepStrictEqual([...decoded.rows.keys()], [7, 9]);
	assert.deepStrictEqual([...decoded.rows.get(7)], runs);
	assert.equal(columnShares(decoded.rows.get(7), 205, 3, 1000)[WAIT_CPU], 700);
	assert.equal(columnShares(decoded.rows.get(7), 205, 4, 1000)[PROCESS], 2 ** 40);
	assert.equal(columnShares(decoded.rows.get(7), 205, 0, 1000)[USER], 1000);
});

test("damaged shares are refused", () => {
	const good = new Uint8Array(answer([[7, whole(10, USER)]], 0, 100, 10));

	assert.throws(() => decodeShares(good.slice(0, 20).buffer));
	assert.throws(() => decodeShares(good.slice(0, good.length - 1).buffer), /is cut/);
	assert.throws(() => decodeShares(good.map((byte, i) => (i === 0 ? byte ^ 1 : byte)).buffer));
	for (const runs of [[], whole(11, USER), [...whole(9, USER), 128], [0, 0], mixed([[[USER, 3]]]).slice(0, -1)])
		assert.throws(() => layRow(new Uint8Array(runs), 10, 16), `${runs}`);
});

test("the pixels of a column add up, each within one pixel of its share", () => {
	const below = random(42),
		pixels = new Int32Array(NR_CLASSES);

	for (let i = 0; i < 3000; i++) {
		const height = 1 + below(40),
			classes = ORDER.filter(() => below(3) === 0),
			ns = classes.map(() => (below(2) ? below(100) : below(1e9)));
		const sum = ns.reduce((s, n) => s + n, 0);

		divideColumn(classes, ns, classes.length, height, pixels);
		assert.equal(
			pixels.reduce((s, n) => s + n, 0),
			height
		);
		classes.forEach(
			(number, j) =>
				sum &&
				assert.ok(
					Math.abs(pixels[number] - (ns[j] * height) / sum) < 1,
					`${pixels[number]} pixels for ${ns[j]} of ${sum}`
				)
		);
	}
});

test("a class that has most of a column is drawn in it, and one without time is not", () => {
	const picture = layRow(
		new Uint8Array([
			...mixed([
				[
					[USER, 1],
					[WAIT_CPU, 999]
				]
			]),
			...whole(1, PROCESS)
		]),
		2,
		16
	);

	assert.deepStrictEqual([...new Set(picture.filter((_, i) => i % 2 === 0))], [WAIT_CPU]);
	assert.deepStrictEqual([...new Set(picture.filter((_, i) => i % 2 === 1))], [PROCESS]);
});

test("columns have their classes in one order, what runs is below", () => {
	const picture = layRow(
		new Uint8Array(
			mixed([
				[
					[USER, 50],
					[WAIT_CPU, 25],
					[PROCESS, 25]
				]
			])
		),
		1,
		8
	);

	assert.deepStrictEqual([...picture], [PROCESS, PROCESS, WAIT_CPU, WAIT_CPU, USER, USER, USER, USER]);
	assert.deepStrictEqual(
		[...ORDER].sort((a, b) => a - b),
		[...CLASSES.keys()]
	);
});

test("the sums of columns are those of the row", () => {
	const sums = sumShares(
		new Uint8Array([
			...whole(2, USER),
			...mixed([
				[
					[USER, 1],
					[WAIT_CPU, 2]
				]
			])
		]),
		3,
		0,
		10
	);

	assert.equal(sums[USER], 6 + 1);
	assert.equal(sums[WAIT_CPU], 2);
});

test("wide runs of one class are found", () => {
	const runs = new Uint8Array([
		...whole(30, USER),
		...mixed([
			[
				[USER, 1],
				[WAIT_CPU, 2]
			]
		]),
		...whole(5, USER),
		...whole(40, ABSENT),
		...whole(24, WAIT_CPU)
	]);

	assert.deepStrictEqual(wideRuns(runs, 100, 20), [
		{ column: 0, count: 30, number: USER },
		{ column: 76, count: 24, number: WAIT_CPU }
	]);
});

test("times are written as tracevisualizer writes them", () => {
	assert.deepStrictEqual(
		[614, 999, 1000, 999994, 999995, 1030000, 999994999, 999995000, 55.219e9].map(durationText),
		["614 ns", "999 ns", "1.00 us", "999.99 us", "1.00 ms", "1.03 ms", "999.99 ms", "1.000 s", "55.219 s"]
	);
	assert.deepStrictEqual([countText(761840), countText(12), countText(1234567)], ["761,840", "12", "1,234,567"]);
	assert.deepStrictEqual([bytesText(812), bytesText(1258291)], ["812 B", "1.2 MiB"]);
	assert.deepStrictEqual(
		[percentText(83, 100), percentText(4, 1000), percentText(1, 1e6), percentText(0, 9), percentText(1, 0)],
		["83 %", "0.4 %", "< 0.1 %", "0 %", "0 %"]
	);
});

test("one thing is not several, and a part has its place in the whole", () => {
	assert.equal(numberText(1, "CPU"), "1 CPU");
	assert.equal(numberText(0, "event"), "0 events");
	assert.equal(numberText(27550, "event"), "27,550 events");
	assert.equal(
		partText({ part: { from_ns: 1200000000, of_ns: 10e9 }, duration_ns: 250000000 }),
		"the part from 1.200 s to 1.450 s of 10.000 s"
	);
});

test("ticks are 1, 2 or 5 times a power of ten, and their texts differ", () => {
	for (const span of [7, 200, 999, 12345, 5e8, 509748119, 3.6e12]) {
		const distance = tickDistance(span, 10);

		assert.match(String(distance), /^[125]0*$/, `${span}`);
		assert.ok(span / distance <= 10.01 || distance === 1);
		const texts = [0, 1, 2, 3].map(i => pointText(1e9 + i * distance, distance));

		assert.equal(new Set(texts).size, 4, texts.join());
	}
});

test("the wall clock is that of the trace, in UTC", () => {
	const start = 1764120653106086000n; // 2025-11-26 01:30:53.106086

	assert.equal(wallText(0, start, 6), "01:30:53.106086");
	assert.equal(wallText(893914000, start, 3), "01:30:54.000");
	assert.equal(wallText(0, start, 0), "01:30:53");
	assert.deepStrictEqual([1, 1000, 1e6, 5e8, 1e9, 6e10].map(wallDigits), [9, 6, 3, 1, 0, 0]);
});

const ROWS = [
	{ id: 0, kind: "cpu", parent: null, name: "CPU 0", cpu: 0, busy_ns: 5 },
	{ id: 1, kind: "process", parent: null, name: "load", title: "load", pid: 10, busy_ns: 9, command: true },
	{ id: 2, kind: "thread", parent: 1, name: "load", pid: 10, tid: 10, busy_ns: 9, command: true },
	{ id: 3, kind: "process", parent: null, name: "postgres", title: "postgres: walwriter", pid: 20, busy_ns: 8 },
	{ id: 4, kind: "thread", parent: 3, name: "postgres", title: "postgres: walwriter", pid: 20, tid: 20, busy_ns: 7 },
	{ id: 5, kind: "thread", parent: 3, name: "worker", pid: 20, tid: 21, busy_ns: 1 },
	{ id: 6, kind: "process", parent: null, name: "cron", title: "cron", pid: 30, busy_ns: 0 },
	{ id: 7, kind: "thread", parent: 6, name: "cron", pid: 30, tid: 30, busy_ns: 0 },
	{ id: 8, kind: "process", parent: null, name: "kworker", title: "kworker", pid: 40, busy_ns: 3, kernel: true },
	{ id: 9, kind: "thread", parent: 8, name: "kworker", pid: 40, tid: 40, busy_ns: 3, kernel: true }
];
const choice = extra => ({ all: true, open: new Set(), pinned: [], filter: "", only: null, ...extra });
const labels = nodes => nodes.map(node => node.label);

test("rows are CPUs, processes, and what rests and the kernel's threads folded", () => {
	const tree = makeTree(ROWS);

	assert.deepStrictEqual(labels(shownNodes(tree, choice())), [
		"CPU 0",
		"load",
		"postgres: walwriter",
		"1 process at rest",
		"1 kernel thread"
	]);
	assert.deepStrictEqual(labels(shownNodes(tree, choice({ open: new Set(["3", "kernel"]) }))), [
		"CPU 0",
		"load",
		"postgres: walwriter",
		"postgres",
		"worker",
		"1 process at rest",
		"1 kernel thread",
		"kworker"
	]);
	assert.equal(tree.byRow.get(1), tree.byRow.get(2)); // a process with one thread is one row
	assert.equal(tree.byRow.get(3).leaf, null);
});

test("processes that never ran and only wait are folded, unless they are of the command or the answer names them", () => {
	const shell = { kind: "process", parent: null, name: "sh", busy_ns: 9, active_ns: 0 },
		rows = [...ROWS, { ...shell, id: 10, pid: 50 }, { ...shell, id: 11, pid: 51 }, { ...shell, id: 12, pid: 52, active_ns: 1 }],
		shown = (list, named) => labels(shownNodes(makeTree(list, named), choice()));

	assert.deepStrictEqual(shown(rows), ["CPU 0", "load", "postgres: walwriter", "sh", "2 processes only waiting", "1 process at rest", "1 kernel thread"]);
	assert.deepStrictEqual(shown(rows, [11]).slice(0, 6), ["CPU 0", "sh", "load", "postgres: walwriter", "sh", "1 process only waiting"]);
	assert.ok(!shown(rows.map(row => ({ ...row, command: true }))).some(label => /waiting/.test(label)));
	assert.deepStrictEqual(labels(shownNodes(makeTree(rows), choice({ open: new Set(["waiting"]) }))).slice(4, 7), ["2 processes only waiting", "sh", "sh"]);
});

test("processes that the answer names come first, in its order", () => {
	const order = named => labels(shownNodes(makeTree(ROWS, named), choice()));
	const rest = ["1 process at rest", "1 kernel thread"];

	assert.deepStrictEqual(order([3, 1]), ["CPU 0", "postgres: walwriter", "load", ...rest]);
	assert.deepStrictEqual(order([3]), ["CPU 0", "postgres: walwriter", "load", ...rest]);
	assert.deepStrictEqual(order([6, 8, 99]), ["CPU 0", "load", "postgres: walwriter", ...rest], "folded, unknown");
	const view = makeView({ duration_ns: 1000 });

	view.rows = new Map(ROWS.map(row => [row.id, row]));
	view.all = true;
	nameRows(view, [5, 4, 2]);
	assert.equal(view.subject, 5);
	assert.deepStrictEqual(view.named, [3, 1], "a process is named by its threads");
	assert.deepStrictEqual(labels(view.shown), ["CPU 0", "postgres: walwriter", "load", ...rest]);
	nameRows(view, []);
	assert.equal(view.subject, null);
	assert.deepStrictEqual(labels(view.shown).slice(1, 3), ["load", "postgres: walwriter"]);
});

test("filter, pins and paths choose rows", () => {
	const tree = makeTree(ROWS);

	assert.deepStrictEqual(labels(shownNodes(tree, choice({ filter: "KWORK" }))), ["1 kernel thread", "kworker"]);
	assert.deepStrictEqual(labels(shownNodes(tree, choice({ filter: "21" }))), ["postgres: walwriter"]);
	assert.deepStrictEqual(labels(shownNodes(tree, choice({ filter: "worker", open: new Set(["3"]) }))), [
		"postgres: walwriter",
		"worker",
		"1 kernel thread",
		"kworker"
	]);
	assert.deepStrictEqual(labels(shownNodes(tree, choice({ filter: "walw", open: new Set(["3"]) }))), [
		"postgres: walwriter",
		"postgres",
		"worker"
	]);
	assert.deepStrictEqual(labels(shownNodes(tree, choice({ pinned: ["5", "gone"], filter: "load" }))), [
		"worker",
		"load"
	]);
	const alone = shownNodes(tree, choice({ only: [9, 2, 9, 4, 77] }));

	assert.deepStrictEqual(labels(alone), ["kworker", "load", "postgres: walwriter"], "a thread has its title");
	assert.ok(alone.every(node => node.depth === 0));
});

test("the filter of rows chooses the rows of tables", () => {
	const tree = makeTree(ROWS),
		names = filter =>
			[...wantedRows(tree, filter)].map(id => ROWS.find(row => row.id === id)).map(row => row.pid ?? row.kind);

	assert.equal(wantedRows(tree, "  "), null);
	assert.deepStrictEqual(new Set(names("LOAD")), new Set([10]));
	assert.deepStrictEqual(names("nothing has this name"), []);
	const all = new Set(shownNodes(tree, choice({ filter: "walw", open: new Set(["3"]) })).map(node => node.id));

	for (const id of all) assert.ok(wantedRows(tree, "walw").has(id));
});

test("two traces are aligned by their begins or by the clock, and may show what both have", () => {
	const a = { duration: 100 },
		b = { duration: 30 };

	assert.deepStrictEqual(limitsOf(a, b, 0), [
		{ least: 0, most: 100 },
		{ least: 0, most: 100 }
	]);
	assert.deepStrictEqual(limitsOf(a, b, 90), [
		{ least: 0, most: 120 },
		{ least: -90, most: 30 }
	]);
	assert.deepStrictEqual(limitsOf(a, b, -50), [
		{ least: -50, most: 100 },
		{ least: 0, most: 150 }
	]);
	const about = (start, length) => ({ start_realtime_ns: start, duration_ns: length });

	assert.equal(commandDistance({ command_from: 5 }, { command_from: 12 }), -7);
	assert.equal(commandDistance({ command_from: 0 }, { command_from: 0 }), 0);
	assert.equal(commandDistance({ command_from: 5 }, {}), null);
	assert.equal(clockDistance(about("1700000000000000007", 5), about("1700000000000000009", 1)), 2);
	assert.equal(clockDistance(about("1700000000000000007", 2), about("1700000000000000009", 9)), null);
	assert.equal(clockDistance(about("1700000000000000009", 2), about("1700000000000000007", 2)), null);
	assert.equal(clockDistance(about("0", 100), about("9", 100)), null);
	const report = (pid, ns) => ({
		trace: { command_pid: pid, command_ran_ns: ns },
		processes: [{ pid: 7, title: "sort big" }]
	});

	assert.equal(
		comparison([report(7, 2e9), report(7, 5e8)]),
		"The command sort big ran for 2.000 s in A, sort big for 500.00 ms in B: 0.25 times as long."
	);
	assert.equal(comparison([report(7, 2e9), report(0, 0)]), "");
});

test("a view beside another trace goes beyond its own begin and end, and its tables do not", () => {
	const view = makeView({ duration_ns: 1000, gaps: [] });

	Object.assign(view, { least: -500, most: 4000 });
	showSpan(view, -500, 4000);
	assert.deepStrictEqual([view.from, view.to], [-500, 4000]);
	assert.deepStrictEqual(chosenSpan(view), { from: 0, to: 1000 });
	showSpan(view, 2000, 3000);
	assert.deepStrictEqual([view.from, view.to], [2000, 3000]);
	assert.deepStrictEqual(chosenSpan(view), { from: 999, to: 1000 });
	pan(view, -9000);
	assert.deepStrictEqual([view.from, view.to], [-500, 500]);
});

test("the times of calls are added up, range by range", () => {
	const sums = addTimes(new Map(), [
		[0, 1],
		[1024, 5]
	]);

	addTimes(sums, [
		[1024, 2],
		[4096, 1]
	]);
	addTimes(sums, undefined);
	assert.deepStrictEqual([...sums], [[0, 1], [1024, 7], [4096, 1]]);
	assert.deepStrictEqual(rangeOf([sums, new Map()]), { first: 0, last: 12 });
	assert.equal(rangeOf([new Map()]), null);
	assert.equal(timesText(new Map([[4096, 1], [1024, 1234]])), "1.02 us: 1,234, 4.10 us: 1");
});

test("rows that do not exist in the visible span are left out, and counted", () => {
	const tree = makeTree(ROWS.map(row => ({ ...row, from: row.pid === 10 ? 50 : 0, to: row.pid === 20 ? 50 : 100 })));
	const early = choice({ all: false, from: 10, to: 40 }),
		late = choice({ all: false, from: 50, to: 60 });

	assert.deepStrictEqual(labels(shownNodes(tree, early)), [
		"CPU 0",
		"postgres: walwriter",
		"1 process at rest",
		"1 kernel thread"
	]);
	assert.deepStrictEqual(labels(shownNodes(tree, late)), ["CPU 0", "load", "1 process at rest", "1 kernel thread"]);
	assert.deepStrictEqual([nrAbsent(tree, early), nrAbsent(tree, late), nrAbsent(tree, choice())], [1, 1, 0]);
	assert.equal(labels(shownNodes(tree, { ...early, filter: "load" })).join(), "load");
});

test("a row that is folded away is opened, or stood for by the row that folds it", () => {
	const tree = makeTree(ROWS),
		open = new Set();
	const placeOf5 = shown => shownIndex(tree, new Map(shown.map((node, index) => [node.key, index])), 5);

	assert.equal(placeOf5(shownNodes(tree, choice())), 2);
	assert.equal(openTo(tree, open, 5).label, "worker");
	assert.deepStrictEqual([...open], ["3"]);
	assert.equal(placeOf5(shownNodes(tree, choice({ open }))), 4);
	assert.equal(placeOf5([]), undefined);
	assert.equal(openTo(tree, open, 99), undefined);
});

test("the threads of the process that the answer is about are shown, if they are few", () => {
	const shownOf = (nr, id, isFresh = true) => {
		const view = makeView({ duration_ns: 1000 });
		const threads = Array.from({ length: nr }, (_, i) => ({
			id: i + 2,
			kind: "thread",
			name: "t",
			tid: 20 + i,
			parent: 1,
			from: 0,
			to: 1000
		}));

		view.tree = makeTree([{ id: 1, kind: "process", name: "p", pid: 20, from: 0, to: 1000 }, ...threads]);
		view.isFresh = isFresh;
		openSubject(view, id);
		return view.shown.length;
	};

	assert.equal(shownOf(3, 1), 4);
	assert.equal(shownOf(3, 2), 4, "the answer names one of them");
	assert.equal(shownOf(3, 1, false), 0, "the address had a place");
	assert.equal(shownOf(13, 1), 0, "too many");
	assert.equal(shownOf(1, 1), 0);
	assert.equal(shownOf(3, undefined), 0);
});

test("the open process follows the answer until a person opens a row or selects one", () => {
	const openAfter = change => {
		const view = makeView({ duration_ns: 1000 }),
			rows = [1, 11].flatMap(id => [
				{ id, kind: "process", name: "p", pid: id, from: 0, to: 1000 },
				...[1, 2].map(i => ({ id: id + i, kind: "thread", name: "t", tid: id + i, parent: id, from: 0, to: 1000 }))
			]);

		view.tree = makeTree(rows);
		view.isFresh = true;
		openSubject(view, 1);
		change(view);
		openSubject(view, 11);
		return [...view.open];
	};

	assert.deepStrictEqual(openAfter(() => {}), ["11"]);
	assert.deepStrictEqual(openAfter(view => view.open.add("kernel")), ["1", "kernel"]);
	assert.deepStrictEqual(openAfter(view => view.open.clear()), []);
	assert.deepStrictEqual(openAfter(view => (view.row = 2)), ["1"]);
});

test("an address keeps the place, and a bad one is harmless", () => {
	const place = {
		visible: { from: 5, to: 900 },
		range: { from: 7, to: 8 },
		row: 12,
		t: 77,
		open: ["3", "kernel"],
		pinned: ["4"],
		filter: "a&b=<c>#",
		all: true,
		byClient: true,
		counters: ["bytes read", "shop:a&b.c=d"],
		samples: true
	};

	assert.deepStrictEqual(readPlace(writePlace(place)), place);
	assert.equal(writePlace({ visible: null, range: null, row: null, t: null, open: [], pinned: [], filter: "" }), "#");
	assert.deepStrictEqual(readPlace("#v=9-5&s=x&r=-1&t=1e9&o=<img>,7&p=;&f="), {
		visible: null,
		range: null,
		row: null,
		t: null,
		open: ["7"],
		pinned: [],
		filter: "",
		all: false,
		byClient: false,
		counters: [],
		samples: false
	});
});

test("hostile names are made visible", () => {
	assert.equal(clean("a\u0007b\u202ec\nd"), "a\\x07b\\x202ec\\x0ad");
	assert.equal(clean("x".repeat(4096)).length, 301);
	assert.equal(clean(undefined), "");
});

test("a box says the shortest text that tells the span", () => {
	assert.equal(boxText({ class: 6, kind: "file", name: "read", target: "/etc/passwd" }), "read /etc/passwd");
	assert.equal(
		boxText({ class: 7, kind: "process", via: "unix", other: { name: "postgres", pid: 137 } }),
		"for postgres 137 via unix"
	);
	assert.equal(boxText({ class: 9, kind: "timeout" }), "timeout");
	assert.equal(boxText({ class: 4, cpu: 0 }), "waits for CPU 0");
	assert.equal(boxText({ class: 1, name: "write" }), "write");
	assert.equal(boxText({ class: 0, thread: { name: "sh", tid: 5 } }), "sh 5");
	assert.equal(objectText({ kind: "file", target: "vda" }), "file vda");
	assert.equal(
		spanSentence(
			{ class: 7, kind: "process", from: 0, to: 1030000, other: { name: "sh", pid: 1 }, via: "pipe" },
			"cat 7"
		),
		"cat 7 waits 1.03 ms for sh 1 via pipe."
	);
});

test("one question is in flight, and the newest one wins", async () => {
	const asked = [],
		answers = [];
	let counted = 0;
	const ask = newest(
		text =>
			new Promise(resolve => {
				asked.push(text);
				answers.push(() => resolve(`answer ${text}`));
			}),
		change => (counted += change)
	);
	const [a, b, c] = ["a", "b", "c"].map(text => ask(text));

	assert.deepStrictEqual(asked, ["a"]);
	answers[0]();
	assert.equal(await a, "answer a");
	assert.equal(await b, null);
	assert.deepStrictEqual(asked, ["a", "c"]);
	answers[1]();
	assert.equal(await c, "answer c");
	assert.equal(counted, 0);
	assert.equal(
		question("waits", { from: 0, to: 5, row: undefined, text: "a b&c" }),
		"waits?from=0&to=5&text=a%20b%26c"
	);
});

test("a worker inside the page answers as the server does", async () => {
	const asked = [];

	globalThis.traceWorker = {
		postMessage({ id, question: text }) {
			asked.unshift({ id, text });
		}
	};
	const [about, error, bytes] = [ask("about"), ask("rows"), askBytes("shares")];
	const says = { about: '{"file":"\u2713"}', rows: '{"error":"The trace is damaged."}', shares: "VSH1" };

	for (const { id, text } of asked)
		// the last one first: answers find their questions by the number
		globalThis.traceWorker.onmessage({ data: { id, bytes: new TextEncoder().encode(says[text]) } });
	assert.equal((await about).file, "\u2713");
	await assert.rejects(error, /^Error: The trace is damaged\.$/);
	assert.equal(Buffer.from(await bytes).toString(), "VSH1");
	delete globalThis.traceWorker;
});

test("zoom keeps the time below the pointer, and stays inside the trace", () => {
	const view = makeView({ duration_ns: 1000000 });

	view.labelWidth = 100;
	view.width = 1000;
	zoom(view, 0.5, 250000);
	assert.deepStrictEqual([view.from, view.to], [125000, 625000]);
	assert.equal(timeAt(view, xAt(view, 333333)), 333333);
	pan(view, -1e9);
	assert.deepStrictEqual([view.from, view.to], [0, 500000]);
	zoom(view, 1e9);
	assert.deepStrictEqual([view.from, view.to], [0, 1000000]);
	zoom(view, 1e-12);
	assert.ok(view.to - view.from >= 100);
	showSpan(view, 5e9, 6e9);
	assert.ok(view.from >= 0 && view.to <= 1000000 && view.to > view.from);
	view.range = { from: 10.5, to: 20.5 };
	assert.deepStrictEqual(chosenSpan(view), { from: 10, to: 21 });
});

/** What an eye without one kind of cones sees (Machado 2009, full strength); linear light. */
const BLINDNESS = {
	none: [1, 0, 0, 0, 1, 0, 0, 0, 1],
	protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
	deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
	tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039]
};

function lab(colour, matrix) {
	const linear = [1, 3, 5]
		.map(i => parseInt(colour.slice(i, i + 2), 16) / 255)
		.map(c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
	const [r, g, b] = [0, 3, 6].map(i =>
		Math.max(0, matrix[i] * linear[0] + matrix[i + 1] * linear[1] + matrix[i + 2] * linear[2])
	);
	const [x, y, z] = [
		(0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
		0.2126 * r + 0.7152 * g + 0.0722 * b,
		(0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089
	].map(v => (v > 0.008856 ? Math.cbrt(v) : 7.787 * v + 16 / 116));

	return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

test("classes with the same pattern have colours that every eye tells apart", () => {
	for (const theme of ["light", "dark"])
		for (const [blindness, matrix] of Object.entries(BLINDNESS))
			for (const [i, a] of CLASSES.entries())
				for (const b of CLASSES.slice(i + 1)) {
					const [p, q] = [a, b].map(c => lab(c[theme], matrix)),
						distance = Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);

					if (
						a.pattern === b.pattern &&
						a.letter &&
						b.letter &&
						![a.name, b.name].every(name => ["rest", "idle"].includes(name))
					)
						assert.ok(
							distance >= 12,
							`${theme}, ${blindness}: ${a.name} and ${b.name} are ${distance.toFixed(1)} apart`
						);
				}
});

test("clients with the same pattern have colours that every eye tells apart, and letters that are readable", () => {
	const exact = Array.from({ length: 8 }, (_, client) => CLIENT_CLASSES[CLIENT + 2 * client]);

	for (const theme of ["light", "dark"])
		for (const [blindness, matrix] of Object.entries(BLINDNESS))
			for (const [i, a] of exact.entries()) {
				assert.ok(contrast(inkOn(a[theme]), a[theme]) >= 4.5, a.letter);
				for (const b of exact.slice(i + 1)) {
					const [p, q] = [a, b].map(c => lab(c[theme], matrix)),
						distance = Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);

					assert.ok(
						distance >= 12,
						`${theme}, ${blindness}: ${a.letter} and ${b.letter} are ${distance.toFixed(1)} apart`
					);
				}
			}
});

test("every number of a client has a picture of its own", () => {
	const pixels = makePixels("light", "#ffffff", true),
		pictures = new Set();

	for (let number = NO_CLIENT; number < NR_NUMBERS; number++)
		pictures.add(pixels.subarray(number * 64, number * 64 + 64).join());
	assert.equal(pictures.size, NR_NUMBERS - NO_CLIENT);
	assert.deepStrictEqual([...CLIENT_ORDER].sort((a, b) => a - b).slice(-33), [...CLIENT_CLASSES.keys()].slice(-33));
});

test("a column by client is laid out with the first client at the bottom", () => {
	const bytes = Uint8Array.from([2, 3, 6, 50, CLIENT, 25, CLIENT + 3, 25]), // one column of 100 ns
		bar = layRow(bytes, 1, 4);

	assert.deepStrictEqual([...bar], [6, 6, CLIENT + 3, CLIENT]);
	assert.equal(columnShares(bytes, 1, 0, 100)[CLIENT + 3], 25);
	assert.equal(classLabel(NO_CLIENT), "for no known client");
	takeClients(["curl 1", "<b>"]);
	assert.equal(classLabel(CLIENT + 3), "for <b>, shared");
});

test("texts have a contrast of 4.5 on what they are written on", () => {
	for (const theme of ["light", "dark"]) {
		for (const c of CLASSES) assert.ok(contrast(inkOn(c[theme]), c[theme]) >= 4.5, c.name);
		for (const text of ["text", "dim", "accent", "strong"])
			for (const ground of ["background", "band"])
				assert.ok(contrast(THEMES[theme][text], THEMES[theme][ground]) >= 4.5, `${theme} ${text} on ${ground}`);
	}
});

test("unknown is hatched, unread is dotted, absent is the background", () => {
	const pixels = makePixels("light", "#ffffff"),
		colours = number => new Set(pixels.subarray(number * 64, number * 64 + 64));

	assert.equal(colours(UNKNOWN).size, 2);
	assert.equal(colours(20).size, 2);
	assert.deepStrictEqual([...colours(ABSENT)], [0xffffffff]);
	assert.equal(colours(USER).size, 1);
});

test("no two classes have the same letter", () => {
	const letters = CLASSES.map(c => c.letter).filter(Boolean);

	assert.equal(new Set(letters).size, letters.length);
});

test("rows that have other numbers after a reading keep their places in the page", () => {
	const row = (id, pid, tid, from = 0) => ({ id, kind: "thread", pid, tid, from }),
		before = [row(1, 10, 10), row(2, 20, 20, 5), row(3, 30, 30), row(4, 30, 31)],
		now = [row(1, 10, 10), row(2, 30, 30), row(3, 20, 20, 5), row(5, 20, 20, 9)];
	const moved = movedRows(before, now);

	assert.deepStrictEqual([...moved], [[2, 3], [3, 2], [4, null]]);
	const view = {
		row: 2,
		subject: 4,
		named: [1, 3, 4],
		open: new Set(["2", "resting"]),
		pinned: ["4", "3"],
		span: { row: 1, next: { row: 3, t: 5 } },
		path: { row: 1, segments: [{ row: 1, waiter: 1 }] },
		chain: [{ row: 1, next: { row: 1 } }]
	};

	moveRows(view, moved);
	assert.deepStrictEqual([view.row, view.subject, view.named, [...view.open], view.pinned], [3, null, [1, 2], ["3", "resting"], ["2"]]);
	assert.equal(view.span, null);
	assert.ok(view.path && view.chain.length === 1);
});

test("a view of the whole trace stays one when the trace grows, and another span stays", () => {
	const whole = { from: 0, to: 100, duration: 100, most: 100 },
		part = { from: 20, to: 100, duration: 100, most: 100 };

	takeDuration(whole, 150);
	takeDuration(part, 150);
	assert.deepStrictEqual([whole.from, whole.to, whole.most], [0, 150, 150]);
	assert.deepStrictEqual([part.from, part.to, part.most], [20, 100, 150]);
	assert.match(growthText({ duration_ns: 12.4e9, clean_end: false }, { ns: 0, time: "10:03:04" }), /being recorded.*: 12 s more than at 10:03:04\.$/);
	assert.match(growthText({ duration_ns: 12e9, clean_end: true }, { ns: 2e9, time: "10:03:04" }), /has ended: 10 s more/);
	assert.match(growthText({ duration_ns: 12e9, clean_end: false, rest_s: 80 }, { ns: 0, time: "10:03:04" }), /04\. It is long: the next reading is 80 s after/);
	assert.match(growthText({ duration_ns: 12e9, clean_end: false, unread: "t.trace: no memory" }, { ns: 0, time: "10:03:04" }), /not read again: t\.trace: no memory\. The key u/);
	assert.match(growthText({ duration_ns: 12e9, clean_end: false, rest_s: 2 }, { ns: 0, time: "10:03:04" }), /04\.$/);
});

test("costs are those of probes, by their hits, and those of programs' own events", () => {
	const probe = { name: "libc:read", pid: 7, comm: "shop", hits: 20, hit_ns: 300, hit_least_ns: 250, hit_most_ns: 400 },
		use = { name: "shop:paid", pid: 8, comm: "till", events: 5, cost_ns: 400 },
		costs = costsOf({ probes: [probe], event_costs: { event_ps: 80000, uses: [use] } });

	assert.deepEqual(
		costs.map(({ name, kind, pid, comm, count, ns }) => [name, kind, pid, comm, count, ns]),
		[
			["libc:read", "probe", 7, "shop", 20, 6000],
			["shop:paid", "tracepoint", 8, "till", 5, 400]
		]
	);
	assert.deepEqual(costsOf({ probes: [], event_costs: { uses: [] } }), []);
});

/** An engine that is at 0, 40 and 40 % and then has the report. Returns the questions and the texts of a wait for it. */
async function countWith(isOver) {
	const questions = [],
		texts = [],
		events = [0, 400, 400, 1000],
		before = globalThis.traceWorker;
	const worker = {
		postMessage({ id, question: asked }) {
			const nr = questions.push(asked) - 1,
				answered = { done: nr === events.length - 1, events: events[nr], of: 1000 };

			setTimeout(() => worker.onmessage({ data: { id, bytes: new TextEncoder().encode(JSON.stringify(answered)) } }));
		}
	};

	globalThis.traceWorker = worker;
	const isDone = await countUntilDone({ from: 3, to: 9 }, { isOver: () => isOver(questions.length), tell: text => texts.push(text) });

	globalThis.traceWorker = before;
	return { isDone, questions, texts };
}

test("a table asks until its report is counted, and says how far it is", async () => {
	const { isDone, questions, texts } = await countWith(() => false);

	assert.equal(isDone, true);
	assert.equal(questions.length, 4);
	assert.match(questions[0], /^count\?from=3&to=9&page=\d+$/);
	assert.deepEqual(new Set(questions).size, 1);
	assert.deepEqual(texts, [0, 40, 40].map(percent => `Counting the events of this span: ${percent} %`));
});

test("a table that is about something else now asks no more", async () => {
	const { isDone, questions, texts } = await countWith(nr => nr === 2);

	assert.equal(isDone, false);
	assert.equal(questions.length, 2);
	assert.equal(texts.length, 1);
});

test("what was not recorded is told once all of the trace is known", () => {
	const about = { sees_calls: false, sees_traps: true, sees_interrupts: false };

	assert.deepStrictEqual(missingSentences({ ...about, complete: true }), [
		"Not recorded: system calls, interrupts; their time is a part of the states that are shown."
	]);
	assert.deepStrictEqual(missingSentences({ ...about, complete: false }), []);
	assert.deepStrictEqual(missingSentences({ complete: true }), []);
});

test("a timer is not a function in which a wait was ended", () => {
	assert.equal(wokenText("read_orders 75 %"), "woken in read_orders 75 %");
	assert.equal(wokenText("(timer)"), "woken by a timer");
	assert.equal(wokenText("(interrupt) 80 %"), "woken by an interrupt 80 %");
	assert.equal(wokenText("(kernel)"), "woken in (kernel)");
});

test("what the view has no room for is told", () => {
	assert.deepStrictEqual(missingSentences({ complete: true }, { scopes: false, requests: false }), []);
	assert.deepStrictEqual(missingSentences({ complete: true }, { scopes: true, samples: true }), [
		"The trace has more scopes and requests of programs, and more samples than the view keeps: --from and --to choose a part of it."
	]);
	assert.deepStrictEqual(missingSentences({ damages: ["chunk 3 is damaged"], not_traced: ["the names of 14 addresses"] }), [
		"chunk 3 is damaged.",
		"Not traced: the names of 14 addresses."
	]);
	assert.match(missingSentences({}, { requests: true })[0], /^The trace has more requests of servers than the view keeps/);
	assert.match(missingSentences({}, { clients: true })[0], /^The trace has more times for clients than the view keeps/);
	assert.match(missingSentences({ lost: 9, gaps: [{}, {}], gaps_cut: true })[0], /lost; these times count as unknown, and the first 2 of them are hatched\.$/);
	assert.match(missingSentences({ lost: 9, gaps: [{}, {}], gaps_cut: false })[0], /lost; these times are hatched and count as unknown\.$/);
});

test("a search that has an end says that there are more", () => {
	assert.equal(moreText(7, false), "and 7 more");
	assert.equal(moreText(488, true), "and more than 488 more");
});

test("losses that only programs counted are told apart", () => {
	const claim_words = " (1 of them counted by programs only)";

	assert.match(missingSentences({ lost: 17, claim_words })[0], /^17 events \(1 of them counted by programs only\) were lost;/);
	assert.match(missingSentences({ lost: 1, claim_words: "" })[0], /^1 event was lost;/);
});

test("the answer names whom a wait was for", () => {
	const sentence = [{ text: "shop 7", row: 3 }, { text: " waited " }, { text: "for db 9", row: 3, other: { name: "db", pid: 9, row: 8 } }];

	assert.deepStrictEqual(namedIn({ sentence, waits: [{ row: 4, other: { row: 8 } }, { row: 5 }] }), [3, 3, 8, 4, 8, 5]);
});

test("the unknown time of a CPU has its reason", () => {
	const span = { class: UNKNOWN, from: 0, to: 4e6, cpu: 0 };

	assert.match(spanSentence(span, "CPU 0"), /does not tell the state of CPU 0 for 4\.00 ms/);
	assert.match(spanSentence({ ...span, lost: true }, "CPU 0"), /^Events were lost here: the state of CPU 0 is unknown for 4\.00 ms/);
	assert.match(
		spanSentence({ ...span, hidden: { name: "init", tid: 75 } }, "CPU 0"),
		/^CPU 0 switched to init 75, which is hidden.*until its next event, 4\.00 ms later, is unknown/
	);
});

test("the rows of a path are those that matter, and then the short ones, in the order of time", () => {
	const part = (row, ns) => ({ row, ns });

	assert.deepStrictEqual(
		rowsOfPath([part(4, 1), part(5, 1), part(2, 300), part(4, 1), part(7, 690), part(9, 7), part(2, 1)], 1),
		[1, 2, 7, 4, 5, 9]
	);
});
