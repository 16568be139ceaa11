// SPDX-License-Identifier: Apache-2.0
// What Thunderbird's subscriptions make of files: CalIcsParser over ical.js in its lenient mode.
//
// Usage: node thunderbird.mjs PACKAGE FILE...
// PACKAGE is the folder of the npm package ical.js. Prints a line for each file, `refuses|nothing|takes<TAB>FILE<TAB>reason`.
// It made the same of 529 files as Thunderbird 153 itself, asked over its remote control.

import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [place, ...files] = process.argv.slice(2);
const module = ["dist/ical.js", "lib/ical/module.js"].map((name) => resolve(place, name)).find(existsSync);
const loaded = await import(pathToFileURL(module));
const ICAL = loaded.default ?? loaded.ICAL;
ICAL.design.strict = false;
for (const name of ["log", "warn", "error"]) console[name] = () => {};

function outcome(text) {
    const root = ICAL.parse(text);
    // It asks for the name of what it takes for one component.
    if (typeof root[0] !== "string") return root.length ? "refuses" : "nothing";
    const calendar = new ICAL.Component(root);
    if (calendar.name !== "vcalendar") return "nothing";
    for (const entry of ["vevent", "vtodo"].flatMap((name) => calendar.getAllSubcomponents(name))) {
        for (const property of entry.getAllProperties()) {
            for (const value of property.getValues()) {
                // CalPeriod reads both ends as times.
                const ends = property.name === "rdate" && property.type === "period" ? value.toJSON() : [];
                for (const end of ends) if (end.length === 10) throw new Error(`not a time: ${end}`);
            }
        }
    }
    return "takes";
}

for (const file of files) {
    let line;
    try {
        line = [outcome(new TextDecoder().decode(readFileSync(file))), file, ""];
    } catch (error) {
        line = ["refuses", file, String(error.message ?? error).replace(/\s+/g, " ").slice(0, 200)];
    }
    process.stdout.write(line.join("\t") + "\n");
}
