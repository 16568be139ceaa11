# SPDX-License-Identifier: Apache-2.0
"""What must hold of a history of the CalDAV door when everything is quiet."""

from collections import Counter

from door_clients import APPLE, DAV, components, content, instant, uid_of, value
from door_history import seconds
from door_model import ANY

COLLECTIONS = ("appointments", "shifts", "tasks", "follow-ups")
PROGRESS = {"NEEDS-ACTION": "open", None: "open", "IN-PROCESS": "open", "COMPLETED": "completed", "CANCELLED": "cancelled"}


def check(history):
    for app in (*history.apps, history.lost_app):
        app.password.check(history.broken)
        if not app.password.has_ended:
            app.synchronize()
            app.check()
            app.password.check(history.broken)
    if history.lost_app.password.has_ended:
        if (status := history.lost_app.send("PROPFIND", history.lost_app.home, Depth="0").status) != 401:
            history.broken(f"an app password that had ended was answered {status}")
        if history.chance.random() < 0.5:
            history.lost_app.password.make()
    shown = listed(history)
    check_items(history, shown)
    for app in history.apps:
        check_texts(history, app, shown)
    for user in history.users.values():
        check_own(history, next(app for app in history.apps if app.user == user))
    phone, laptop = history.apps[:2]
    if phone.copies != laptop.copies:
        history.broken("two devices of one person have different copies")
    history.moves.clear()


def listed(history):
    """What the API shows, by UID."""
    found = {}
    for collection in COLLECTIONS:
        cursor = ""
        while True:
            _, page = history.call("GET", f"/v1/circles/{history.name}/{collection}?limit=200{cursor}")
            for document in page["items"]:
                if document["uid"] in found:
                    history.broken(f"the API lists {document['uid']} twice")
                found[document["uid"]] = (collection, document)
            if not page["nextCursor"]:
                break
            cursor = f"&cursor={page['nextCursor']}"
    return found


def check_items(history, shown):
    """Every entry has values that somebody gave it last, and nothing is there that nobody made."""
    ids = {(collection, document["id"]): uid for uid, (collection, document) in shown.items()}
    for item in history.items.values():
        # One whose PUT got no answer is known by its id, and one that an app made by its UID.
        if item.uid is None:
            item.uid = ids.get((item.collection, item.identifier))
        what = f"{item.collection} {item.identifier} {item.uid}"
        there = item.uid in shown
        if not item.may_be("gone", not there):
            history.broken(f"{what} is {'there' if there else 'gone'}, and may be gone: {item.fields['gone']}")
        item.saw("gone", not there)
        if not there:
            for name in item.fields:
                if name.startswith("mark:"):
                    item.fields[name] = {ANY}
            continue
        document = shown[item.uid][1]
        item.identifier = document["id"]
        if item.fields.get("part"):
            check_part(history, item, document)
        for name, seen in history.values(item.collection, document).items():
            if not item.may_be(name, seen):
                history.broken(f"{what} has the {name} {seen}, and may have {item.fields.get(name)}")
            item.saw(name, seen)
    known = {item.uid for item in history.items.values()}
    if strangers := shown.keys() - known:
        history.broken(f"nobody made {[shown[uid] for uid in strangers]}")


def check_part(history, item, document):
    """An occurrence that an app moved is there, unless anything else was done to the series."""
    values = item.fields.pop("part")
    if len(values) == 1 and ANY not in values and None not in values and not item.was_contested:
        (start, end), = values
        if moved(document).get(start) != end:
            history.broken(f"the occurrence of {document} at {start} was moved to {end}")


def moved(document):
    return {seconds(one["originalStart"]): seconds(one["startAt"]) for one in document["occurrences"]}


def check_texts(history, app, shown):
    """What a person's app has is what the API shows, and their own marks are theirs alone."""
    texts = {}
    for segment in (history.name, f"{history.name}~tasks"):
        for name, (_, text) in app.copies[segment].items():
            uid = uid_of(text)
            if uid in texts:
                history.broken(f"{app.label} has {uid} twice: {name}")
            texts[uid] = text
    if texts.keys() != shown.keys():
        history.broken(f"{app.label} lacks {[shown[uid] for uid in shown.keys() - texts.keys()]} and has "
                       f"{[texts[uid] for uid in texts.keys() - shown.keys()]}")
    items = {item.uid: item for item in history.items.values()}
    for uid, text in texts.items():
        collection, document = shown[uid]
        main = next(lines for lines in components(text) if value(lines, "RECURRENCE-ID") is None)

        def differs(what):
            history.broken(f"{app.label}: {what} differs between the API and the text:\n{document}\n{text}")

        def at(name):
            line = value(main, name)
            return None if line is None else instant(line)
        values = history.values(collection, document)
        if collection in ("tasks", "follow-ups"):
            if at("DUE") != values["start"]:
                differs("the due time")
            if PROGRESS[content(main, "STATUS")] != values["status"]:
                differs("the status")
        else:
            if (at("DTSTART"), at("DTEND")) != (values["start"], seconds(document["endAt"])):
                differs("the time")
        if "title" in values and values["title"] not in content(main, "SUMMARY"):
            differs("the title")
        if collection == "appointments":
            if content(main, "STATUS").lower() != values["status"]:
                differs("the status")
            if content(main, "RRULE") != values["rrule"]:
                differs("the rule")
            there = {instant(value(lines, "RECURRENCE-ID")): instant(value(lines, "DTSTART"))
                     for lines in components(text) if value(lines, "RECURRENCE-ID")}
            if there != moved(document) and values["status"] != "cancelled":
                differs("an occurrence")
        mark, field = content(main, "X-DOOR-MARK"), f"mark:{app.user}"
        if not items[uid].may_be(field, mark):
            history.broken(f"{app.label}: {uid} has the mark {mark}, and may have {items[uid].fields.get(field)}:\n{text}")
        if app is not history.apps[0]:
            items[uid].saw(field, mark)


def check_own(history, app):
    """A person's own calendars have every byte that was put last, at one place."""
    own = {segment: copy for segment, copy in app.copies.items() if not segment.startswith(history.name)}
    for (user, segment), cell in history.calendars.items():
        if user != app.user:
            continue
        if not cell.may_be("there", segment in own):
            history.broken(f"{app.label}: the calendar {segment} may be there: {cell.fields['there']}; it is {segment in own}")
        cell.saw("there", segment in own)
    count = Counter(uid_of(text) for copy in own.values() for _, text in copy.values())
    if twice := [uid for uid, times in count.items() if times > 1]:
        history.broken(f"{app.label} has twice: {twice}")
    for user, ((source, _), (target, changes)) in history.moves:
        if user != app.user:
            continue
        text = changes["text"]
        if all(cell.fields["text"] == {None, text} and not cell.was_contested for cell in (source, target)):
            if count[uid_of(text)] != 1:
                history.broken(f"{app.label}: {uid_of(text)} is lost after a MOVE without an answer")
    for (user, segment, name), cell in history.resources.items():
        if user != app.user:
            continue
        seen = own.get(segment, {}).get(name, (None, None))[1]
        if not cell.may_be("text", seen):
            history.broken(f"{app.label}: {segment}/{name} is\n{seen}\nand may be {cell.fields['text']}")
        cell.saw("text", seen)
    known = {(segment, name) for user, segment, name in history.resources if user == app.user}
    for segment, copy in own.items():
        if strange := [name for name in copy if (segment, name) not in known]:
            history.broken(f"{app.label}: nobody put {strange} into {segment}")
    check_looks(history, app)


def check_looks(history, app):
    body = ('<propfind xmlns="DAV:" xmlns:A="http://apple.com/ns/ical/"><prop><displayname/><A:calendar-color/></prop>'
            "</propfind>")
    found = {href: properties for href, _, properties in app.xml("PROPFIND", app.home, body, "1").responses()}
    tags = {"displayname": f"{DAV}displayname", "A:calendar-color": f"{APPLE}calendar-color"}
    for (user, segment, tag), cell in history.looks.items():
        if user != app.user:
            continue
        properties = found.get(f"{app.home}{segment}/")
        if properties is None:
            cell.saw("value", None)
            continue
        seen = properties[tags[tag]].text if tags[tag] in properties else None
        values = cell.fields["value"]
        if not cell.may_be("value", seen) and None not in values:
            history.broken(f"{app.label}: {tag} of {segment} is {seen}, and may be {values}")
        cell.saw("value", seen)
