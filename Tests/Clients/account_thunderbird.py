# SPDX-License-Identifier: Apache-2.0
"""Thunderbird: a fresh profile, in which the calendars are found and subscribed to as by its window "New calendar"."""

import json
import re

from kalends import Failure
from thunderbird import Thunderbird

SCRIPT = """
    const values = [...arguments];
    const resolve = values.pop();
    (async () => {
        const { cal } = ChromeUtils.importESModule("resource:///modules/calendar/calUtils.sys.mjs");
        const last = calendar => decodeURIComponent(calendar.uri.spec.replace(/[/]$/, "").split("/").pop());
        const calendars = () => cal.manager.getCalendars().filter(calendar => calendar.type == "caldav");
        const find = async id => {
            for (const calendar of calendars()) {
                const item = await calendar.getItem(id);
                if (item) { return [calendar, item]; }
            }
            throw new Error("there is no item " + id);
        };
        const change = async (id, edit) => {
            const [calendar, old] = await find(id);
            // As its windows do not let its user begin.
            if (calendar.readOnly) { throw new Error("read-only"); }
            const item = old.clone();
            edit(item);
            await calendar.modifyItem(item, old);
        };
        const time = text => cal.createDateTime(text.replace(/[-:]/g, ""));
        const shift = (item, start) => {
            const length = item.endDate.subtractDate(item.startDate);
            const zone = item.startDate.timezone;
            const [first, end] = [time(start), time(start)];
            end.addDuration(length);
            item.startDate = first.getInTimezone(zone);
            item.endDate = end.getInTimezone(zone);
        };
        %s
    })().then(value => resolve({ value }), error => resolve({ error: String(error) }));
"""

FIND = SCRIPT % """
        const [user, password, address, server] = values;
        // The remote control has it save no passwords.
        Services.prefs.setBoolPref("signon.rememberSignons", true);
        const found = async place => {
            const calendars = await cal.provider.detection.detect(user, password, place, true, [], {});
            return calendars.get([...calendars.keys()].find(provider => provider.type == "caldav")) || [];
        };
        // Some give the server's name alone.
        const bare = await found(server);
        const all = await found(address);
        if (bare.length != all.length) { throw new Error(`${bare.length} calendars at ${server}, not ${all.length}`); }
        for (const calendar of all) {
            calendar.setProperty("cache.enabled", true);
            calendar.setProperty("refreshInterval", "60");
            cal.manager.registerCalendar(calendar);
        }
        return calendars().map(calendar => [last(calendar), calendar.name, calendar.readOnly]);
"""

REFRESH = SCRIPT % "calendars().forEach(calendar => calendar.refresh());"

LIST = SCRIPT % """
        const text = moment => !moment ? "" : moment.isDate
            ? moment.icalString.replace(/(....)(..)(..)/, "$1-$2-$3")
            : moment.getInTimezone(cal.dtz.UTC).icalString
                .replace(/(....)(..)(..)T(..)(..)(..)Z/, "$1-$2-$3T$4:$5:$6Z");
        const found = [];
        for (const calendar of calendars()) {
            for (const item of await calendar.getItemsAsArray(Ci.calICalendar.ITEM_FILTER_ALL_ITEMS, 0, null, null)) {
                const moment = item.isTodo() ? item.dueDate || item.entryDate : item.startDate;
                found.push([last(calendar), item.id, item.title, text(moment), item.isTodo() && item.isCompleted]);
            }
        }
        return found;
"""

MOVE = SCRIPT % "const [id, start] = values; await change(id, item => shift(item, start));"

MOVE_OCCURRENCE = SCRIPT % """
        const [id, original, start] = values;
        await change(id, item => {
            const occurrence = item.recurrenceInfo.getOccurrenceFor(time(original)).clone();
            shift(occurrence, start);
            item.recurrenceInfo.modifyException(occurrence, true);
        });
"""

DELETE_OCCURRENCE = SCRIPT % """
        const [id, start] = values;
        await change(id, item => {
            const moment = item.recurrenceInfo.getOccurrenceFor(time(start)).recurrenceId;
            item.recurrenceInfo.removeOccurrenceAt(moment);
        });
"""

# As copying and pasting does.
COPY = SCRIPT % """
        const [calendar, item] = await find(values[0]);
        const copy = item.clone();
        copy.id = values[1];
        await calendar.addItem(copy);
"""

# As a click on the box of a task does.
COMPLETE = SCRIPT % "const [id] = values; await change(id, item => { item.isCompleted = true; });"

MAKE_TASK = SCRIPT % """
        const [collection, id, title] = values;
        const { CalTodo } = ChromeUtils.importESModule("resource:///modules/CalTodo.sys.mjs");
        const task = new CalTodo();
        task.id = id;
        task.title = title;
        await calendars().find(calendar => last(calendar) == collection).addItem(task);
"""

DELETE = SCRIPT % "const [calendar, item] = await find(values[0]); await calendar.deleteItem(item);"


class ThunderbirdAccount(Thunderbird):
    def add(self, url, user, password):
        self.profile = self.home / "profile"
        self.profile.mkdir()
        (self.profile / "user.js").write_text("".join(
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in self._preferences().items()))
        self._start_display()
        self._start()
        found = self._control(FIND, user, password, url, url.removesuffix("/dav/"))
        if len(found) != 4 or sorted(is_fixed for _, _, is_fixed in found) != [False, False, True, True]:
            raise Failure(f"Thunderbird found {found}")

    def _calendars(self):
        return {}

    def refresh(self):
        if self.process.poll() is not None:
            raise Failure(f"Thunderbird ended with {self.process.returncode}: {self._last_words()}")
        self._control(REFRESH)

    def entries(self):
        # It asks for the password in a window for each calendar that is let in no more; the remote control closes them.
        for _ in range(10):
            try:
                return [tuple(fields) for fields in self._control(LIST)]
            except Failure as failure:
                if not re.search("dialog|hung up", str(failure)) or self.process.poll() is not None:
                    raise
        raise Failure("Thunderbird asks again and again")

    def move(self, uid, start):
        self._control(MOVE, uid, start)

    def move_occurrence(self, uid, original, start):
        self._control(MOVE_OCCURRENCE, uid, original, start)

    def delete_occurrence(self, uid, start):
        self._control(DELETE_OCCURRENCE, uid, start)

    def copy(self, uid, other):
        self._control(COPY, uid, other)

    def complete(self, uid):
        self._control(COMPLETE, uid)

    def make_task(self, collection, uid, title):
        self._control(MAKE_TASK, collection, uid, title)

    def delete(self, uid):
        self._control(DELETE, uid)

    def refused(self, uid, start):
        try:
            self._control(MOVE, uid, start)
        except Failure:
            return
        raise Failure("Thunderbird was refused nothing")

    def refresh_refused(self):
        self._control(REFRESH)
