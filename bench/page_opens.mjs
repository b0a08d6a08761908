// SPDX-License-Identifier: LGPL-2.1-or-later
// page_opens.mjs PAGE - how long a browser takes to open a page of --html: seconds until the first picture, and until the
// states of the whole trace are shown. Prints {first, whole}, or {missing: what is not installed}.
import path from "node:path";
import { missing, openPage, startBrowser } from "../tests/page/browser.mjs";

async function measure(file) {
	const browser = await startBrowser(),
		begin = performance.now(),
		seconds = () => (performance.now() - begin) / 1e3;

	try {
		const page = await openPage(browser, `file://${path.resolve(file)}`, { offline: true }),
			first = seconds();

		await page.waitForFunction(() => globalThis.traceView?.view.about.complete, undefined, { polling: 50 });
		return { first, whole: seconds() };
	} finally {
		await browser.close();
	}
}

const reason = missing();

console.log(JSON.stringify(reason ? { missing: reason } : await measure(process.argv[2])));
