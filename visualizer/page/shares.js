// SPDX-License-Identifier: LGPL-2.1-or-later
// shares.js - decodes the answer of `shares`, and lays columns out in pixels.
//
// A column of a row has the ns that the row spent in each class. Its pixels are those shares in the
// order of ORDER: each class gets the whole pixels of its share, and the pixels that remain go to
// the largest remainders, so that the heights always add up.

import { ABSENT, CLIENT_ORDER, NO_CLIENT, NR_NUMBERS, ORDER } from "./classes.js";

const MAGIC = 0x31485356; // "VSH1"
const RANK = new Uint8Array(256);
CLIENT_ORDER.forEach((number, rank) => (RANK[number] = rank));

/** Reads the head: {from, to, columns, rows: Map from id to Uint8Array of runs}. Throws on damage. */
export function decodeShares(buffer) {
	const data = new DataView(buffer);

	if (buffer.byteLength < 32 || data.getUint32(0, true) !== MAGIC) throw new Error("The answer has no shares.");
	const rows = new Map();
	let at = 32;

	for (let i = data.getUint32(4, true); i > 0; i--) {
		const id = data.getUint32(at, true),
			bytes = data.getUint32(at + 4, true);

		if (at + 8 + bytes > buffer.byteLength) throw new Error("The answer with shares is cut.");
		rows.set(id, new Uint8Array(buffer, at + 8, bytes));
		at += 8 + bytes;
	}
	return {
		from: Number(data.getBigUint64(16, true)),
		to: Number(data.getBigUint64(24, true)),
		columns: data.getUint32(8, true),
		rows
	};
}

/** Reads runs one by one: whole(column, count, class) or mixed(column, classes, ns, k). */
function forRuns(bytes, columns, whole, mixed) {
	const classes = new Uint8Array(256),
		ns = new Float64Array(256);
	let at = 0,
		column = 0;
	const varint = () => {
		let value = 0,
			factor = 1,
			byte;

		do {
			if (at >= bytes.length) throw new Error("A row of shares is cut.");
			byte = bytes[at++];
			value += (byte & 127) * factor;
			factor *= 128;
		} while (byte & 128);
		return value;
	};

	while (column < columns) {
		const head = varint(),
			count = Math.floor(head / 2);

		if (count === 0 || column + count > columns) throw new Error("A row of shares has too many columns.");
		if (head % 2) {
			whole(column, count, bytes[at++]);
			column += count;
			continue;
		}
		for (const end = column + count; column < end; column++) {
			const k = bytes[at++];

			for (let i = 0; i < k; i++) {
				classes[i] = bytes[at++];
				ns[i] = varint();
			}
			mixed(column, classes, ns, k);
		}
	}
}

const share = new Float64Array(NR_NUMBERS),
	pixels = new Int32Array(NR_NUMBERS);

/** Divides @height pixels among the classes of a column by the largest remainder; into @ret_pixels. */
export function divideColumn(classes, ns, k, height, ret_pixels) {
	let sum = 0,
		left = height;

	ret_pixels.fill(0);
	for (let i = 0; i < k; i++) sum += ns[i];
	if (sum === 0) {
		ret_pixels[ABSENT] = height;
		return;
	}
	for (let i = 0; i < k; i++) {
		const exact = (ns[i] * height) / sum,
			full = Math.floor(exact);

		ret_pixels[classes[i]] = full;
		share[classes[i]] = exact - full;
		left -= full;
	}
	for (; left > 0; left--) {
		let best = 0;

		for (let i = 1; i < k; i++) {
			const difference = share[classes[i]] - share[classes[best]];

			if (difference > 0 || (difference === 0 && RANK[classes[i]] > RANK[classes[best]])) best = i;
		}
		ret_pixels[classes[best]]++;
		share[classes[best]] = -1;
	}
}

/** The picture of a row: height x columns classes, from the top. */
export function layRow(bytes, columns, height) {
	const picture = new Uint8Array(columns * height).fill(ABSENT);

	forRuns(
		bytes,
		columns,
		(column, count, number) => {
			for (let y = 0; y < height; y++) picture.fill(number, y * columns + column, y * columns + column + count);
		},
		(column, classes, ns, k) => {
			let place = column,
				byClient = false;

			for (let i = 0; i < k; i++) byClient ||= classes[i] >= NO_CLIENT;
			divideColumn(classes, ns, k, height, pixels);
			for (const number of byClient ? CLIENT_ORDER : ORDER)
				for (let n = pixels[number]; n > 0; n--, place += columns) picture[place] = number;
		}
	);
	return picture;
}

/** The ns of each class in one column. */
export function columnShares(bytes, columns, wanted, width) {
	const found = new Float64Array(NR_NUMBERS);

	forRuns(
		bytes,
		columns,
		(column, count, number) => {
			if (wanted >= column && wanted < column + count) found[number] = width;
		},
		(column, classes, ns, k) => {
			if (column === wanted) for (let i = 0; i < k; i++) found[classes[i]] += ns[i];
		}
	);
	return found;
}

/** The runs of at least @least columns of one class that is not absent: [{column, count, number}]. */
export function wideRuns(bytes, columns, least) {
	const runs = [];

	forRuns(
		bytes,
		columns,
		(column, count, number) => {
			if (count >= least && number !== ABSENT) runs.push({ column, count, number });
		},
		() => {}
	);
	return runs;
}

/** The ns of each class in all columns together. */
export function sumShares(bytes, columns, from, to) {
	const sums = new Float64Array(NR_NUMBERS);
	const edge = column => Math.floor(((to - from) * column) / columns);

	forRuns(
		bytes,
		columns,
		(column, count, number) => {
			sums[number] += edge(column + count) - edge(column);
		},
		(column, classes, ns, k) => {
			for (let i = 0; i < k; i++) sums[classes[i]] += ns[i];
		}
	);
	return sums;
}
