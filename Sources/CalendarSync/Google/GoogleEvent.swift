// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// An event as Google returns it: its ids are checked, but not yet its contents.
struct GoogleEvent: Sendable {
    var id: String
    var etag: String?
    var isCancelled: Bool
    /// The id of the series, for an occurrence that differs from it or was deleted.
    var seriesID: String?
    var json: JSONValue

    private static let longestID = 1024
    private static let longestETag = 1024

    /// Returns nil for an event without an id that can be used in a request.
    init?(_ json: JSONValue) {
        guard let id = json["id"]?.string, Self.isPlain(id, longest: Self.longestID) else { return nil }
        self.id = id
        self.json = json
        etag = json["etag"]?.string.flatMap { Self.isPlain($0, longest: Self.longestETag) ? $0 : nil }
        isCancelled = json["status"]?.string == "cancelled"
        seriesID = json["recurringEventId"]?.string.flatMap { Self.isPlain($0, longest: Self.longestID) ? $0 : nil }
    }

    /// Accepts only visible ASCII characters: ids go into paths, etags into headers.
    private static func isPlain(_ text: String, longest: Int) -> Bool {
        (1...longest).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 32 && $0 < 127 }
    }

    /// The mark; nil for an event that is not ours.
    ///
    /// A copy that a person made has our properties, but another id: it belongs to the person.
    var mark: EventMark? {
        GoogleMark.read(json["extendedProperties"]?["private"]).flatMap { GoogleMark.eventID($0) == id ? $0 : nil }
    }
    /// Whether this is one of our series whose changed occurrences were not all written when it was created.
    var isUnfinished: Bool {
        let value = json["extendedProperties"]?["private"]?[GoogleMark.unfinishedName]
        return mark != nil && value != nil && value != .null
    }
    var updatedAt: Instant? { json["updated"]?.string.flatMap { Instant(rfc3339: $0) } }
    /// Whether somebody else is invited to it. An answer names all guests or says that it leaves some out, and the
    /// calendar's owner becomes one of them with the first.
    var hasGuests: Bool {
        json["attendeesOmitted"]?.bool == true || (json["attendees"]?.array ?? []).contains { $0["self"]?.bool != true }
    }
    var isSeries: Bool { !(json["recurrence"]?.array ?? []).isEmpty }
    var iCalUID: String? {
        json["iCalUID"]?.string.flatMap { (1...1024).contains($0.utf8.count) ? $0 : nil }
    }

    /// Returns the instant at which an occurrence would have begun.
    func originalStart() throws(GoogleNotExpressible) -> Instant {
        guard case .instant(let instant, _) = try GoogleTime(json["originalStartTime"]) else {
            throw GoogleNotExpressible.wholeDays
        }
        return instant
    }

    private static let longestText = 256 << 10
    private static let mostReminders = 100

    /// Returns the event without its occurrences.
    func entry() throws(GoogleNotExpressible) -> Entry {
        if let type = json["eventType"]?.string, type != "default" {
            throw GoogleNotExpressible("It is an event of a kind that only Google has.")
        }
        let span = try TimeSpan(google: json)
        var repetition: Repetition?
        if isSeries, let lines = json["recurrence"] {
            guard case .timed(let start, _, let zone) = span else {
                throw GoogleNotExpressible.wholeDays
            }
            guard let name = json["start"]?["timeZone"]?.string, name == zone, let zone = TimeZoneReference(name) else {
                throw GoogleNotExpressible("It repeats in an unknown time zone.")
            }
            repetition = try GoogleRecurrence.read(lines, start: start, zone: zone)
        }
        let texts = try texts()
        return Entry(
            title: texts.title, notes: texts.notes, location: texts.location, span: span, repetition: repetition,
            reminders: try reminders(), status: try status(),
            availability: json["transparency"]?.string == "transparent" ? .free : .busy)
    }

    /// Returns what replaces the series' own occurrence.
    func occurrence() throws(GoogleNotExpressible) -> Occurrence {
        guard !isCancelled else { return .cancelled }
        let texts = try texts()
        return .changed(
            Entry(
                title: texts.title, notes: texts.notes, location: texts.location, span: try TimeSpan(google: json),
                status: try status()))
    }

    private func texts() throws(GoogleNotExpressible) -> (title: String, notes: String, location: String) {
        (
            GoogleText.line(try text("summary")), GoogleText.read(try text("description")),
            GoogleText.line(try text("location"))
        )
    }

    private func text(_ name: String) throws(GoogleNotExpressible) -> String {
        switch json[name] {
        case nil, .null?: return ""
        case .string(let text)? where text.utf8.count <= Self.longestText: return text
        default: throw GoogleNotExpressible("One of its texts is too long, or is not text.")
        }
    }

    private func status() throws(GoogleNotExpressible) -> Entry.Status {
        switch json["status"]?.string {
        case nil, "confirmed": return .confirmed
        case "tentative": return .tentative
        default: throw GoogleNotExpressible("Its status is unknown.")
        }
    }

    /// Returns the event's own reminders. An event that uses the calendar's default reminders has none.
    private func reminders() throws(GoogleNotExpressible) -> [Int] {
        guard let reminders = json["reminders"], reminders["useDefault"]?.bool != true,
            let overrides = reminders["overrides"]?.array
        else { return [] }
        guard overrides.count <= Self.mostReminders else { throw GoogleNotExpressible("It has too many reminders.") }
        return overrides.compactMap { $0["minutes"]?.integer }.filter { (0...GoogleBody.longestReminder).contains($0) }
    }
}
