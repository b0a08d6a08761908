// SPDX-License-Identifier: LGPL-2.1-or-later
// browser.mjs - opens a trace in the view, in a headless browser, for the tests of the page.
//
// Everything waits for a state of the page, never for a time.
import { spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const SOURCE = process.env.TRACE_SOURCE ?? path.join(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const BUILD = process.env.TRACE_BUILD ?? path.join(SOURCE, "build/release");
export const MODULES = process.env.TRACE_NPM ?? path.join(SOURCE, "build/npm");
const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const WAIT_MS = 120000; // a machine may stand still

/** What is missing for these tests, as a sentence; "": nothing. */
export function missing() {
	if (!BROWSERS.some(file => fs.existsSync(file))) return "chromium is not installed";
	const module = ["playwright-core", "axe-core"].find(
		name => !fs.existsSync(path.join(MODULES, "node_modules", name))
	);

	return module ? `${module} is not installed: ./packages page` : "";
}

export function modules(name) {
	return createRequire(path.join(MODULES, "node_modules/"))(name);
}

const programs = new Set();

/** Ends all servers that are still there, so that node ends even after a test that failed. */
export function endServers() {
	for (const program of programs) program.kill("SIGKILL");
}

/** Starts the server for one trace or two. Returns {url, end()}. */
export async function startServer(...traces) {
	const program = spawn(path.join(BUILD, "bin/tracevisualizer"), ["--view", "--no-browser", ...traces], {
		stdio: ["ignore", "pipe", "pipe"]
	});
	let said = "";

	programs.add(program);
	program.once("exit", () => programs.delete(program));
	return new Promise((resolve, reject) => {
		for (const stream of [program.stdout, program.stderr])
			stream.on("data", data => {
				said += data;
				const url = /http:\/\/127\.0\.0\.1:\d+\/\w+\//.exec(said)?.[0];

				if (url)
					resolve({
						url,
						end: () =>
							new Promise(ended => {
								if (!programs.has(program)) return ended();
								program.once("exit", ended);
								program.kill("SIGINT");
							})
					});
			});
		program.once("error", reject);
		program.once("exit", code => reject(new Error(`tracevisualizer ended with ${code}: ${said}`)));
	});
}

export function startBrowser() {
	return modules("playwright-core").chromium.launch({
		executablePath: BROWSERS.find(file => fs.existsSync(file)),
		args: ["--no-sandbox"]
	});
}

/** An empty page. It gets: said (its console and errors), ready(): waits until nothing is under way, press(), text(). */
export async function newPage(browser, options = {}) {
	const context = await browser.newContext({
		viewport: { width: 1280, height: 800 },
		colorScheme: "light",
		...options
	});
	const page = await context.newPage();

	page.said = [];
	page.setDefaultTimeout(WAIT_MS);
	page.on("console", message => page.said.push(message.text()));
	page.on("pageerror", error => page.said.push(error.stack));
	page.ready = () => page.waitForFunction(() => document.documentElement.dataset.state === "ready");
	page.press = async (...keys) => {
		for (const key of keys) {
			await page.keyboard.press(key);
			await page.ready();
		}
	};
	page.text = async selector => (await page.locator(selector).innerText()).trim();
	page.view = expression => page.evaluate(`(view => ${expression})(globalThis.traceView.view)`);
	return page;
}

/** newPage() that shows @url */
export async function openPage(browser, url, options = {}) {
	const page = await newPage(browser, options);

	await page.goto(url);
	await page.ready();
	return page;
}

/** The middle of the bar of the row that is called @label, at @t ns, in pixels of the window. */
export function placeOf(page, label, t) {
	return page.evaluate(
		([name, time]) => {
			const { view } = globalThis.traceView,
				index = view.shown.findIndex(node => node.label === name),
				box = document.getElementById("canvas").getBoundingClientRect();

			return {
				x:
					box.left +
					(time === null ? 60 : view.labelWidth + ((time - view.from) * view.width) / (view.to - view.from)),
				y: box.top + 38 + index * 20 - view.scroll + 10
			};
		},
		[label, t ?? null]
	);
}

export async function clickRow(page, label, t) {
	const { x, y } = await placeOf(page, label, t);

	await page.mouse.click(x, y);
	await page.ready();
}
