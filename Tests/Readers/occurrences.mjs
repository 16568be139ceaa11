// SPDX-License-Identifier: Apache-2.0
// Expands calendars with ical.js, which Thunderbird and Nextcloud read with.
//
// Usage: node occurrences.mjs PACKAGE FIRST END
// PACKAGE is the folder of the npm package ical.js. Reads and prints what occurrences.py does.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [place, first, end] = process.argv.slice(2);
const module = ["dist/ical.js", "lib/ical/module.js"].map((name) => resolve(place, name)).find(existsSync);
const loaded = await import(pathToFileURL(module));
const ICAL = loaded.default ?? loaded.ICAL;
ICAL.design.strict = false;
// The library reports a doubtful zone on the console.
for (const name of ["log", "warn", "error"]) console[name] = () => {};

function text(time) {
    if (time.isDate || time.zone === ICAL.Timezone.localTimezone) return time.toString();
    return time.convertToZone(ICAL.Timezone.utcTimezone).toString();
}

const uid = (event) => String(event.getFirstPropertyValue("uid") ?? "");

function* occurrences(calendar) {
    const events = calendar.getAllSubcomponents("vevent").filter((event) => event.hasProperty("dtstart"));
    const series = new Set(events.filter((event) => !event.hasProperty("recurrence-id")).map(uid));
    for (const component of events) {
        const isException = component.hasProperty("recurrence-id");
        if (isException && series.has(uid(component))) continue;
        const exceptions = events.filter(
            (other) => !isException && other.hasProperty("recurrence-id") && uid(other) === uid(component));
        const event = new ICAL.Event(component, { exceptions });
        if (isException || !event.isRecurring()) {
            yield [uid(component), text(event.startDate), text(event.endDate)];
            continue;
        }
        const walk = event.iterator();
        // Exceptions may move an occurrence across the end of the years, so a few more are looked at.
        for (let time = walk.next(), late = 0; time && late < 40; time = walk.next()) {
            // An RDATE may be a period with an end of its own.
            const start = time.start ?? time;
            const details = event.getOccurrenceDetails(start);
            const ends = time.start && details.item === event ? time.getEnd() : details.endDate;
            yield [uid(component), text(details.startDate), text(ends)];
            if (text(start) >= end) late += 1;
        }
    }
}

function expand(content) {
    ICAL.TimezoneService.reset();
    const parsed = ICAL.parse(content);
    return (Array.isArray(parsed[0]) ? parsed : [parsed]).flatMap((one) => {
        const calendar = new ICAL.Component(one);
        for (const zone of calendar.getAllSubcomponents("vtimezone")) ICAL.TimezoneService.register(zone);
        return [...occurrences(calendar)].filter(([, start]) => first <= start && start < end);
    });
}

for await (const line of createInterface({ input: process.stdin })) {
    const [name, content] = line.split("\t");
    let found;
    try {
        found = expand(Buffer.from(content, "base64").toString("utf8")).map((row) => [name, ...row]);
    } catch {
        found = [[name]];
    }
    for (const row of found) process.stdout.write(JSON.stringify(row) + "\n");
}
