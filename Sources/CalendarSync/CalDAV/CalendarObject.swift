// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// A server's calendar object: its lines, and what they mean.
struct CalendarObject {
    /// Why an object cannot be expressed as an entry, as a sentence.
    struct Unreadable: Error, Hashable {
        var message: String
        /// Whether the whole event is cancelled, which counts as gone.
        var isCancelled = false
    }

    let tree: ObjectTree
    let uid: String
    /// The value of our own property.
    let property: String?
    let entry: Result<Entry, Unreadable>
    /// The original starts of the components in the order of the text; nil for the series itself.
    let originals: [Instant?]
    /// The components in the order of the text.
    let events: [Event]

    /// The maximum size in bytes of an object.
    private static let sizeLimit = 2 << 20

    /// - Parameters:
    ///   - floatingZone: the zone for times without a zone.
    ///   - isTask: whether the object may be a to-do.
    /// - Throws: when nothing in the object can be read.
    init(_ bytes: [UInt8], floatingZone: String, isTask: Bool = false) throws(Unreadable) {
        guard bytes.count <= Self.sizeLimit else { throw Unreadable(message: "The event is too large to be read.") }
        guard let tree = ObjectTree(bytes) else { throw Unreadable(message: "The event is not iCalendar.") }
        var options = CalendarReader.Options(assumedTimeZone: SyncZone(floatingZone).name)
        options.mendsTexts = false
        options.limits.bytes = Self.sizeLimit
        options.threads = 1
        options.decoder = .swift
        let reading = CalendarReader(options: options).read(bytes)
        let events = reading.events.filter { isTask || $0.kind == .event }
        self.tree = tree
        self.events = events
        let parts = isTask ? tree.placed : tree.events
        let master = events.firstIndex { $0.recurrenceID == nil }
        uid = events.first?.uid ?? ""
        property = parts.compactMap { $0.line(CalDAVIdentity.property)?.value }.first
        guard reading.refusal == nil, reading.skipped == 0, parts.count == events.count, let master else {
            entry = .failure(
                Unreadable(message: events.isEmpty ? "It holds no event." : "A part of the event cannot be read."))
            originals = []
            return
        }
        let zone = SyncZone(EntryReading.zone(of: events[master], floatingZone: floatingZone))
        originals = events.map { EntryReading.original(of: $0, in: events[master], zone) }
        entry = EntryReading.entry(
            events, master: master, parts: parts, floatingZone: floatingZone, originals: originals)
    }

    /// The parts of the object that an entry cannot hold.
    var seen: CalDAVVersion.Seen {
        if tree.events.contains(where: { $0.line("ATTENDEE") != nil || $0.line("ORGANIZER") != nil }) { return .guests }
        guard case .success(let entry) = entry, tree.isPlain, hasNoOtherReminders(entry) else { return .more }
        return .plain(sequence: sequence)
    }

    /// The highest revision number in the object, limited to numbers that have a successor (RFC 5545 section 3.3.8).
    var sequence: Int {
        let found = tree.events.compactMap { $0.line("SEQUENCE").flatMap { Int($0.value) } }.max() ?? 0
        return min(max(found, 0), Int(Int32.max) - 1)
    }

    private func hasNoOtherReminders(_ entry: Entry) -> Bool {
        tree.events.allSatisfy { $0.components.count == entry.reminders.count }
    }
}

extension ObjectTree {
    var events: [ObjectTree] { components.filter { $0.name == "VEVENT" } }

    private static let calendarNames = ["VERSION", "PRODID", "CALSCALE"]
    private static let eventNames = [
        "UID", "DTSTAMP", "DTSTART", "DTEND", "SUMMARY", "DESCRIPTION", "LOCATION", "STATUS", "TRANSP", "SEQUENCE",
        "LAST-MODIFIED", "RRULE", "RDATE", "EXDATE", "RECURRENCE-ID", CalDAVIdentity.property,
    ]
    private static let alarmNames = ["ACTION", "TRIGGER", "DESCRIPTION"]

    /// Whether it has nothing but what we write.
    fileprivate var isPlain: Bool {
        has(only: Self.calendarNames)
            && components.allSatisfy { component in
                component.name == "VTIMEZONE"
                    || component.name == "VEVENT" && component.has(only: Self.eventNames)
                        && component.components.allSatisfy { $0.name == "VALARM" && $0.has(only: Self.alarmNames) }
            }
    }

    private func has(only names: [String]) -> Bool {
        lines.allSatisfy { line in
            let parameters = line.parameters
            return names.contains { $0 == line.name }
                && (parameters.isEmpty || parameters.hasPrefix(";TZID=") || parameters == ";VALUE=DATE"
                    || parameters == ";VALUE=DATE-TIME")
        }
    }
}
