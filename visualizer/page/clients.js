// SPDX-License-Identifier: LGPL-2.1-or-later
// clients.js - servers in the colours of their clients: the switch, the legend, and the table of a span.

import { ask, question } from "./ask.js";
import { CLIENT, MOST_CLIENTS, NO_CLIENT, clientLetter } from "./classes.js";
import { announce, byId, el, linkButton, nameElement } from "./dom.js";
import { swatch } from "./swatch.js";
import { makeTable, time } from "./table.js";
import { durationText, percentText, pointText } from "./time.js";
import { goTo, rowText, selectSpan } from "./walk.js";
import { clean, processText, takeClients } from "./words.js";

const MOST_BILLED = 200;

function clientText({ process, address }) {
	return process ? processText(process) : clean(address) || "another host";
}

/** "For A curl 4364 (exact).", "1.20 ms shared by A curl 4364, B curl 4406: for each at least 0, at most 1.20 ms." */
export function billedText({ from, to, exact, clients }) {
	const names = clients.map(client => `${clientLetter(client.client)} ${clientText(client)}`);

	const bounds = `at least ${durationText(clients[0].least_ns)}, at most ${durationText(clients[0].most_ns)}`;

	if (names.length === 1) return `For ${names[0]} (${exact ? "exact" : `shared: ${bounds}`}).`;
	return `${durationText(to - from)} shared by ${names.slice(0, 4).join(", ")}${names.length > 4 ? " and others" : ""}: for each ${bounds}.`;
}

function showLegend({ view, goTo: go }, box) {
	const { list, nr } = view.clients;

	box.replaceChildren(
		...list.map(client =>
			el(
				"span",
				{},
				swatch(CLIENT + 2 * client.client),
				swatch(CLIENT + 2 * client.client + 1),
				` ${clientLetter(client.client)} `,
				client.client === MOST_CLIENTS - 1 && nr > MOST_CLIENTS
					? `${nr - MOST_CLIENTS + 1} other clients`
					: client.process?.row === undefined
						? nameElement(clientText(client))
						: linkButton(clientText(client), () => go(client.process.row))
			)
		),
		el("span", {}, swatch(NO_CLIENT), " for no known client"),
		el("span", { class: "dim" }, "Plain: exact. Striped: shared, it may be less. Pale: the server waits.")
	);
}

function apply(walk) {
	const { view } = walk,
		isOn = view.byClient && view.clients !== null;

	byId("by-client").hidden = view.clients === null;
	byId("by-client").setAttribute("aria-pressed", isOn);
	byId("clients").hidden = !isOn;
	if (isOn) showLegend({ view, goTo: row => goTo(walk, row) }, byId("clients"));
	view.emit("paint");
}

async function load(walk) {
	const { view } = walk;

	if (!view.about.complete || view.about.billing || view.clients?.version === view.about.version) return;
	const answer = await ask("clients");

	view.cut.clients = answer.cut;
	view.emit("cut");
	if (!answer.kept || answer.servers.length === 0) return;
	const servers = new Set(answer.servers.map(server => server.process.row)),
		others = answer.nr_clients > MOST_CLIENTS;

	takeClients(
		answer.clients.map(client =>
			others && client.client === MOST_CLIENTS - 1 ? "other clients" : clientText(client)
		)
	);
	view.clients = {
		version: view.about.version,
		list: answer.clients,
		nr: answer.nr_clients,
		rows: new Set(
			[...view.rows.values()].filter(row => servers.has(row.id) || servers.has(row.parent)).map(row => row.id)
		)
	};
	apply(walk);
}

/** Asks for the clients when the bills are known, and follows the switch. */
export function followClients(walk) {
	const { view } = walk,
		later = () => {
			view.busy(1);
			load(walk)
				.catch(() => {}) // the picture is complete without them
				.finally(() => view.busy(-1));
		};

	view.on("read", later);
	view.on("clients", () => apply(walk));
	later();
}

export function toggleClients(view) {
	if (!view.clients) {
		announce(
			!view.about.complete
				? "The trace is not read to its end yet."
				: view.about.billing
					? "The bills of servers are not known yet: they come after the picture."
					: "No server of this trace worked for a client."
		);
		return;
	}
	view.byClient = !view.byClient;
	view.emit("clients");
	announce(
		view.byClient ? "Servers are in the colours of their clients." : "Servers are in the colours of what they do."
	);
}

function clientCell(walk, client) {
	const text = `${clientLetter(client.client)} ${clientText(client)}`,
		row = client.process?.row,
		picture = swatch(CLIENT + 2 * client.client);

	return row === undefined
		? [picture, " ", nameElement(text)]
		: [picture, " ", linkButton(text, () => goTo(walk, row))];
}

/** The intervals of a thread of a server, in words: what its row shows by client. */
async function intervals(walk, span, row) {
	const { view } = walk,
		id = view.tree.byRow.get(row)?.leaf ?? null;

	if (id === null || !view.clients?.rows.has(id))
		return [el("p", { class: "dim" }, "Select a thread of a server to see its intervals.")];
	const { billed, cut } = await ask(question("billed", { row: id, ...span, max: MOST_BILLED }));

	return [
		...makeTable(
			`Intervals of ${rowText(view, id)} for clients`,
			[
				{
					title: "Begins",
					cell: part => linkButton(pointText(part.from, 1), () => selectSpan(walk, id, part.from))
				},
				time("Length", part => part.to - part.from),
				{
					title: "For",
					text: part =>
						part.clients.map(client => `${clientLetter(client.client)} ${clientText(client)}`).join(", ")
				},
				{ title: "Proof", text: part => (part.exact ? "exact" : "shared") },
				time("Least", part => part.clients[0].least_ns),
				time("Most", part => part.clients[0].most_ns)
			],
			billed
		),
		cut ? el("p", { class: "dim" }, `The first ${MOST_BILLED}; zoom in for the others.`) : null
	];
}

/** CPU time for clients in any span, from the intervals of the bills. */
export async function clientsTable(walk, span, row) {
	if (!walk.view.about.complete || walk.view.about.billing)
		return [el("p", { class: "dim" }, "Bills are not known yet: they come after the picture.")];
	const { kept, cut, servers } = await ask(question("clients", span));

	if (!kept)
		return [
			el(
				"p",
				{ class: "dim" },
				cut
					? "The trace has more times for clients than the view keeps: --from and --to choose a part of it."
					: "No server of this trace worked for a client."
			)
		];
	if (row !== undefined) return intervals(walk, span, row);
	const pairs = servers.flatMap(server => {
		const billed = server.clients.reduce((sum, client) => sum + client.exact_ns + client.shared_ns, 0);

		return [
			...server.clients.map(client => ({ server, client, ns: client.exact_ns + client.shared_ns })),
			{ server, client: null, ns: server.cpu_ns - billed }
		];
	});

	return makeTable(
		"CPU for clients in this span",
		[
			{
				title: "Server",
				cell: ({ server: { process } }) =>
					process.row === undefined
						? nameElement(processText(process))
						: linkButton(processText(process), () => goTo(walk, process.row))
			},
			{
				title: "For",
				cell: ({ client }) =>
					client ? clientCell(walk, client) : [swatch(NO_CLIENT), " for no known client"]
			},
			time("CPU", pair => pair.ns),
			{
				title: "Of the server's CPU",
				value: ({ server, ns }) => (server.cpu_ns ? ns / server.cpu_ns : 0),
				text: ({ server, ns }) => (server.cpu_ns ? percentText(ns, server.cpu_ns) : "-")
			},
			time("Exact", ({ client }) => client?.exact_ns ?? 0),
			time("Shared", ({ client }) => client?.shared_ns ?? 0)
		],
		pairs.filter(pair => pair.ns > 0)
	);
}
