// SPDX-License-Identifier: LGPL-2.1-or-later
// dom.js - makes elements. Texts are only ever set as text, because names come from traced programs.

/** An element with attributes and listeners (keys that begin with "on"), and children: elements and texts. */
export function el(tag, attributes = {}, ...children) {
	const element = document.createElement(tag);

	for (const [key, value] of Object.entries(attributes)) {
		if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
		else if (value !== null && value !== undefined && value !== false)
			element.setAttribute(key, value === true ? "" : value);
	}
	element.append(...children.flat().filter(child => child !== null && child !== undefined));
	return element;
}

export function byId(id) {
	return document.getElementById(id);
}

/** A name in a text: its direction does not change that of the text around it. */
export function nameElement(text) {
	return el("bdi", {}, text);
}

/** A link in a text that does something here. It is no button, so that a long one breaks into lines. */
export function linkButton(text, action, ...before) {
	const act = event => {
		event.preventDefault();
		event.stopPropagation();
		action();
	};

	return el(
		"a",
		{
			role: "button",
			tabindex: 0,
			class: "link",
			onclick: act,
			onkeydown: event => [" ", "Enter"].includes(event.key) && act(event)
		},
		...before,
		nameElement(text)
	);
}

/** Tells the readers of screen readers what has changed. */
export function announce(text) {
	byId("announcement").textContent = text;
}
