// SPDX-License-Identifier: Apache-2.0
// Reads a calendar file with ical.js and says how long that took. Usage: icaljs_read.mjs FILE.ics
// The package is the one that KALENDS_ICALJS names, or .tools/node_modules/ical.js.

import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const place = process.env.KALENDS_ICALJS || ".tools/node_modules/ical.js";
if (!fs.existsSync(place)) {
  console.log("ical.js is not here");
  process.exit(0);
}
const about = JSON.parse(fs.readFileSync(path.join(place, "package.json")));
const source = ["dist/ical.js", "lib/ical/module.js"].map((name) => path.resolve(place, name)).find(fs.existsSync);
const loaded = await import(pathToFileURL(source));
const ICAL = loaded.default ?? loaded;
const text = fs.readFileSync(process.argv[2], "utf8");
const start = performance.now();
let count = 0;
for (const event of new ICAL.Component(ICAL.parse(text)).getAllSubcomponents("vevent")) {
  // Values are made when they are asked for.
  if (event.getFirstPropertyValue("dtstart") && event.getFirstPropertyValue("summary")) count++;
}
const spent = (performance.now() - start).toFixed(0);
console.log(`ical.js ${about.version}: ${count} events with their starts`.padEnd(58) + `${spent} ms`);
