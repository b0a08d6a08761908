// SPDX-License-Identifier: LGPL-2.1-or-later
// modules.mjs - the modules of the page for node, which takes a .js for a module only beside a package.json that says so.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const PAGE = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../visualizer/page");
const copy = fs.mkdtempSync(path.join(os.tmpdir(), "trace-page-"));

process.on("exit", () => fs.rmSync(copy, { recursive: true, force: true }));
fs.cpSync(PAGE, copy, { recursive: true });
fs.writeFileSync(path.join(copy, "package.json"), '{"type": "module"}\n');
globalThis.document ??= { documentElement: { dataset: {} } };

export function pageModule(name) {
	return import(pathToFileURL(path.join(copy, `${name}.js`)));
}
