// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// Changes the fields in which two entries differ in a server's own object, and leaves every other line unchanged.
struct ObjectEdit {
    let theirs: CalendarObject
    let from: Entry
    let to: Entry
    let stamp: ObjectStamp

    private struct Difference {
        var names: [String] = []
        var hasTimes = false
        /// Whether all occurrences keep their starts, in the form that they have there: only exceptions differ.
        var keepsStarts = false
        var hasReminders = false
    }

    /// Returns the object's new text; nil when our own object cannot be made.
    func text() -> [UInt8]? {
        guard var ours = ObjectTree(to.calendar(stamp).serialized()), !ours.events.isEmpty else { return nil }
        let keys = [nil] + to.occurrences.compactMap { $0.value == .cancelled ? nil : $0.key }.sorted()
        var difference = difference
        let start = index(of: nil).flatMap { theirs.tree.events[$0].line("DTSTART") }
        difference.keepsStarts = difference.keepsStarts && start == ours.events[0].line("DTSTART")
        var tree = theirs.tree
        var written: [Instant?] = []
        for (key, target) in zip(keys, ours.events) {
            if let index = index(of: key) {
                var component = theirs.tree.events[index]
                edit(&component, target, key, difference)
                renew(&component, target)
                tree.replaceEvent(index, by: component)
            } else {
                tree.components.append(target)
            }
            written.append(key)
        }
        let series = ours.events[0]
        let components = theirs.tree.events
        var gone: [Int] = []
        for (index, original) in theirs.originals.enumerated() where !written.contains(original) {
            guard let original else { continue }
            if isGone(original, difference) {
                gone.append(index)
            } else if !isCancellation(original) {
                var component = components[index]
                follow(&component, series, difference)
                guard component != components[index] else { continue }
                renew(&component, series)
                tree.replaceEvent(index, by: component)
            }
        }
        tree.removeEvents(gone)
        if difference.hasTimes || to.occurrences != from.occurrences {
            let zones = ours.components.filter { $0.name == "VTIMEZONE" }
            tree.components.removeAll { component in
                component.name == "VTIMEZONE"
                    && zones.contains { $0.line("TZID")?.value == component.line("TZID")?.value }
            }
            tree.components.insert(contentsOf: zones, at: 0)
        }
        ours.components = []
        return tree.text
    }

    private var difference: Difference {
        var found = Difference()
        if from.title != to.title { found.names.append("SUMMARY") }
        // Other forms of the same text would still show the old one.
        if from.notes != to.notes { found.names += ["DESCRIPTION", "X-ALT-DESC", "STYLED-DESCRIPTION"] }
        if from.location != to.location { found.names += ["LOCATION", "X-APPLE-STRUCTURED-LOCATION", "GEO"] }
        if from.status != to.status { found.names.append("STATUS") }
        // EXDATE and RECURRENCE-ID keep the form and zone of DTSTART (RFC 5545 section 3.8.5.1), so they are written
        // only together.
        found.keepsStarts =
            from.span == to.span && from.repetition?.rrule == to.repetition?.rrule
            && (from.repetition?.rdates ?? []) == (to.repetition?.rdates ?? [])
        found.hasTimes = !found.keepsStarts || from.exclusions != to.exclusions
        if found.hasTimes { found.names += Self.namesOfTimes }
        found.hasReminders = from.reminders != to.reminders
        return found
    }

    private static let namesOfTimes = ["DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE", "EXRULE"]

    private func index(of key: Instant?) -> Int? { theirs.originals.firstIndex { $0 == key } }

    /// Reports whether a component is removed that is not written: its occurrence equals the series again, is
    /// cancelled, or starts at a time that no longer exists.
    private func isGone(_ original: Instant, _ difference: Difference) -> Bool {
        if difference.hasTimes, !difference.keepsStarts { return true }
        // Without the component that cancels it, the occurrence would be back where no EXDATE is written.
        if isCancellation(original) { return difference.hasTimes }
        return from.occurrences[original] != nil || to.exclusions.contains(original)
    }

    /// Reports whether a component says that its occurrence is cancelled.
    private func isCancellation(_ original: Instant) -> Bool {
        guard case .success(let read) = theirs.entry else { return false }
        return read.occurrences[original] == nil
    }

    /// Changes an occurrence that equals the series, and that somebody gave something of its own, as the series
    /// changes. Reminders that are not those of the series are its own too.
    private func follow(_ component: inout ObjectTree, _ series: ObjectTree, _ difference: Difference) {
        for name in difference.names where !Self.namesOfTimes.contains(where: { $0 == name }) {
            component.replace([name], by: series)
        }
        if from.availability != to.availability { component.replace(["TRANSP"], by: series) }
        if difference.hasReminders, Set(component.components.compactMap(minutes)) == Set(from.reminders) {
            replaceReminders(&component, series)
        }
    }

    private func renew(_ component: inout ObjectTree, _ target: ObjectTree) {
        component.replace(["DTSTAMP"], by: target)
        component.replace(["LAST-MODIFIED"], by: target)
        component.set(ObjectTree.Line("SEQUENCE", String(stamp.sequence)))
    }

    private func edit(
        _ component: inout ObjectTree, _ target: ObjectTree, _ key: Instant?, _ difference: Difference
    ) {
        if let key {
            for name in names(ofOccurrence: key) { component.replace([name], by: target) }
            if difference.hasTimes { component.replace(["RECURRENCE-ID"], by: target) }
        } else {
            for name in difference.names { component.replace([name], by: target) }
            component.set(ObjectTree.Line(CalDAVIdentity.property, CalDAVIdentity.text(stamp.mark)))
        }
        if from.availability != to.availability { component.replace(["TRANSP"], by: target) }
        if difference.hasReminders { replaceReminders(&component, target) }
    }

    private func names(ofOccurrence key: Instant) -> [String] {
        guard case .changed(let new)? = to.occurrences[key] else { return [] }
        var names: [String] = []
        let old: Entry? = if case .changed(let old)? = from.occurrences[key] { old } else { nil }
        if old?.title != new.title { names.append("SUMMARY") }
        if old?.notes != new.notes { names += ["DESCRIPTION", "X-ALT-DESC", "STYLED-DESCRIPTION"] }
        if old?.location != new.location { names += ["LOCATION", "X-APPLE-STRUCTURED-LOCATION", "GEO"] }
        if old?.span != new.span { names += ["DTSTART", "DTEND", "DURATION"] }
        if old?.status != new.status { names.append("STATUS") }
        return names
    }

    /// Replaces the alarms that are reminders of an entry, and leaves the others.
    private func replaceReminders(_ component: inout ObjectTree, _ target: ObjectTree) {
        component.components.removeAll { minutes($0) != nil }
        component.components += target.components.filter { $0.name == "VALARM" }
    }

    /// Returns the minutes before the start of an alarm that is a reminder of an entry; nil for any other component.
    private func minutes(_ alarm: ObjectTree) -> Int? {
        guard alarm.name == "VALARM" else { return nil }
        var event = ObjectTree(name: "VEVENT")
        event.lines = [.init("UID", "x"), .init("DTSTAMP", "20260101T000000Z"), .init("DTSTART", "20260101T000000Z")]
        event.components = [alarm]
        var calendar = ObjectTree(name: "VCALENDAR")
        calendar.lines = [.init("VERSION", "2.0"), .init("PRODID", "-")]
        calendar.components = [event]
        let alarms = CalendarReader().read(calendar.text).events.first?.alarms ?? []
        return alarms.lazy.compactMap(EntryReading.minutes).first
    }
}

extension ObjectTree {
    private func index(ofEvent position: Int) -> Int? {
        components.indices.filter { components[$0].name == "VEVENT" }.dropFirst(position).first
    }

    fileprivate mutating func replaceEvent(_ position: Int, by component: ObjectTree) {
        if let index = index(ofEvent: position) { components[index] = component }
    }

    fileprivate mutating func removeEvents(_ positions: [Int]) {
        for index in positions.compactMap({ index(ofEvent: $0) }).sorted(by: >) { components.remove(at: index) }
    }
}
