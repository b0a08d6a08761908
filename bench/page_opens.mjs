// SPDX-License-Identifier: LGPL-2.1-or-later
// page_opens.mjs PAGE - how long a browser without a GPU takes to open a page of --html: seconds until the first picture,
// and until the states of the whole trace are shown; and ms from frame to frame while each frame zooms or moves in time.
// Prints {first, whole, median, slow: the 99th percentile}, or {missing: what is not installed}.
import path from "node:path";
import { missing, newPage, startBrowser } from "../tests/page/browser.mjs";

const FRAMES = 300,
	SIZE = { width: 1600, height: 960 };

/** In the page: zooms in, moves, and zooms out again, a step for each frame. Returns ms from frame to frame, sorted. */
function animate(frames) {
	const canvas = document.getElementById("canvas"),
		box = canvas.getBoundingClientRect(),
		times = [];
	const wheel = (deltaX, deltaY) =>
		canvas.dispatchEvent(
			new WheelEvent("wheel", {
				deltaX,
				deltaY,
				clientX: box.left + box.width * 0.6,
				clientY: box.top + 60,
				bubbles: true,
				cancelable: true
			})
		);

	return new Promise(resolve => {
		const step = now => {
			const third = Math.floor((times.length * 3) / frames);

			times.push(now);
			if (times.length > frames)
				resolve(times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b));
			else {
				wheel(third === 1 ? 12 : 0, third === 1 ? 0 : third ? 12 : -12);
				requestAnimationFrame(step);
			}
		};

		requestAnimationFrame(step);
	});
}

/** In the page: is a row of the timeline drawn? Below the axis, it has another colour than the space below all rows. */
function hasPicture() {
	const canvas = document.getElementById("canvas"),
		{ width, height } = canvas ?? {};

	if (!globalThis.traceView || !(height > 38)) return false;
	const pixels = new Uint32Array(
		canvas.getContext("2d").getImageData(width / 2, 38, 1, height - 38).data.buffer
	);

	return pixels.filter(pixel => pixel !== pixels.at(-1)).length > 4;
}

async function measure(file) {
	const browser = await startBrowser(),
		begin = performance.now(),
		seconds = () => (performance.now() - begin) / 1e3;

	try {
		const page = await newPage(browser, { offline: true, viewport: SIZE });

		await page.goto(`file://${path.resolve(file)}`, { waitUntil: "commit" });
		await page.waitForFunction(hasPicture, undefined, { polling: 50 });
		const first = seconds();

		await page.waitForFunction(() => globalThis.traceView?.view.about.complete, undefined, { polling: 50 });
		const whole = seconds();

		await page.ready();
		const times = await page.evaluate(animate, FRAMES);

		return { first, whole, median: times[FRAMES >> 1], slow: times[Math.floor(FRAMES * 0.99)] };
	} finally {
		await browser.close();
	}
}

const reason = missing();

console.log(JSON.stringify(reason ? { missing: reason } : await measure(process.argv[2])));
