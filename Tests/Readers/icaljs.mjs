// SPDX-License-Identifier: Apache-2.0
// Reads feeds with ical.js, which Thunderbird and Nextcloud read with, and prints what shape.py says.
//
// Usage: node icaljs.mjs PACKAGE FROM TO FILE...
// PACKAGE is the folder of the npm package ical.js, or a module file that exports ICAL.

import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [place, from, to, ...files] = process.argv.slice(2);
const module = statSync(place).isDirectory()
    ? ["dist/ical.js", "lib/ical/module.js"].map((name) => resolve(place, name)).find(existsSync)
    : resolve(place);
const loaded = await import(pathToFileURL(module));
const ICAL = loaded.default ?? loaded.ICAL;

// Occurrences of a series that are printed.
const most = 20;

// A day as it is, a time in UTC.
function instant(time) {
    if (!time) return "";
    if (time.isDate) return time.toString();
    if (time.zone === ICAL.Timezone.localTimezone) return time.toString() + " floating";
    return time.convertToZone(ICAL.Timezone.utcTimezone).toString();
}

const text = (component, name) => String(component.getFirstPropertyValue(name) ?? "");
const moment = (start) => (start.includes("T") ? start : start + "T00:00:00Z");

function occurrences(event) {
    const found = [];
    const walk = event.iterator();
    // Overrides may move an occurrence across the end of the window, so a few more are looked at.
    for (let time = walk.next(), late = 0; time && late < 40; time = walk.next()) {
        // An RDATE may be a period with an end of its own.
        const start = time.start ?? time;
        const details = event.getOccurrenceDetails(start);
        const end = time.start ? time.getEnd() : details.endDate;
        found.push([instant(details.startDate), instant(end), details.item.summary ?? ""]);
        if (moment(instant(start)) >= to) late += 1;
    }
    return found
        .filter(([start]) => from <= moment(start) && moment(start) < to)
        .sort((a, b) => (moment(a[0]) < moment(b[0]) ? -1 : moment(a[0]) > moment(b[0]) ? 1 : 0))
        .slice(0, most)
        .map(([start, end, summary]) => `${start}/${end} ${summary}`);
}

function read(content, say) {
    ICAL.TimezoneService.reset();
    const calendar = new ICAL.Component(ICAL.parse(content));
    // Only the zones that the feed itself explains.
    for (const zone of calendar.getAllSubcomponents("vtimezone")) ICAL.TimezoneService.register(zone);
    const components = ["vevent", "vtodo"].flatMap((name) => calendar.getAllSubcomponents(name));
    const exceptions = components.filter((component) => component.hasProperty("recurrence-id"));
    for (const component of components) {
        const isEvent = component.name === "vevent";
        const isException = component.hasProperty("recurrence-id");
        const event = isEvent
            ? new ICAL.Event(component, {
                  exceptions: isException
                      ? []
                      : exceptions.filter((other) => text(other, "uid") === text(component, "uid")),
              })
            : null;
        say({
            kind: component.name.toUpperCase(),
            uid: text(component, "uid"),
            recurrenceID: instant(component.getFirstPropertyValue("recurrence-id")),
            start: instant(component.getFirstPropertyValue("dtstart")),
            end: instant(isEvent ? event.endDate : component.getFirstPropertyValue("due")),
            summary: text(component, "summary"),
            description: text(component, "description"),
            location: text(component, "location"),
            status: text(component, "status"),
            occurrences: isEvent && !isException && event.isRecurring() ? occurrences(event) : [],
        });
    }
}

for (const file of files) {
    const feed = basename(file);
    const entries = [];
    const notices = [];
    // The library reports a doubtful zone on the console alone.
    for (const name of ["log", "warn", "error"]) console[name] = (...words) => notices.push(words.join(" "));
    try {
        read(readFileSync(file, "utf8"), (entry) => entries.push(entry));
    } catch (error) {
        entries.length = 0;
        notices.push(error.stack ?? String(error));
    }
    for (const complaint of notices) entries.push({ complaint });
    for (const entry of entries) process.stdout.write(JSON.stringify({ feed, ...entry }) + "\n");
}
