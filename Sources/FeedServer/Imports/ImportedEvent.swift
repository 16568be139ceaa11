// SPDX-License-Identifier: Apache-2.0

import Crypto
import FeedTokens
import FoundationEssentials
import ICalBridge
import Storage

/// An imported event with its row.
struct ImportedEvent: Sendable {
    var record: ImportedEventRecord
    var event: Event

    var uid: String { record.uid }
    var sequence: Int { record.sequence }
    var createdAt: Int { record.createdAt }
    var updatedAt: Int { record.updatedAt }

    init(_ record: ImportedEventRecord) throws {
        self.record = record
        self.event = try StoredEvent.event(record.content)
    }

    static func all(
        in circle: String, from: Int, to: Int, _ transaction: any ReadTransaction
    ) throws -> [ImportedEvent] {
        try transaction.importedEvents(in: circle, from: from, to: to).map(ImportedEvent.init)
    }

    /// The components of each series together, the series itself first, in order of time.
    static func bySeries(_ events: [ImportedEvent]) -> [[ImportedEvent]] {
        var places: [String: Int] = [:]
        var groups: [[ImportedEvent]] = []
        for event in events {
            if let place = places[event.uid] {
                groups[place].append(event)
            } else {
                places[event.uid] = groups.count
                groups.append([event])
            }
        }
        return groups.map { group in
            group.sorted { $0.record.recurrenceID < $1.record.recurrenceID }
        }
    }
}

extension Event {
    /// Whether its author wants nobody else to see it (RFC 5545 section 3.8.1.3).
    var isPrivate: Bool { classification == "PRIVATE" || classification == "CONFIDENTIAL" }

    /// What is kept of an event of a file: without its reminders, people and files, and without its revision, which
    /// the row keeps.
    var importable: Event {
        var copy = publishable
        copy.alarms = []
        copy.sequence = 0
        copy.timestamp = nil
        copy.lastModified = nil
        return copy
    }

    /// The key of one occurrence within its series, empty for the series itself.
    func recurrenceKey(floatingIn zone: any TimeZoneRules) -> String {
        switch recurrenceID {
        case nil: ""
        case .date(let date): date.basic
        case .some(let time): time.instant(floatingIn: zone).basic
        }
    }

    /// Equal for events that are the same to a person: start, end, title, place and repetition.
    ///
    /// Outlook makes new UIDs at every export; by this a second import is told from a second event.
    func fingerprint(floatingIn zone: any TimeZoneRules) -> String {
        func text(_ time: EventTime?) -> String {
            switch time {
            case nil: ""
            case .date(let date): date.basic
            case .some(let time): time.instant(floatingIn: zone).basic
            }
        }
        func plain(_ text: String?) -> String {
            (text ?? "").split(whereSeparator: \.isWhitespace).joined(separator: " ").lowercased()
        }
        let parts = [
            text(start), text(effectiveEnd), text(recurrenceID), plain(summary), plain(location),
            recurrence.rules.map(\.description).sorted().joined(separator: "|"),
        ]
        return Base64URL.encode(Array(SHA256.hash(data: Data(parts.joined(separator: "\u{1F}").utf8))))
    }

    /// Where the component lies in time, in milliseconds since 1970; the end is nil for a series without one.
    func span(floatingIn zone: any TimeZoneRules) -> (start: Int, end: Int?) {
        guard let start, let end = effectiveEnd else { return (0, 0) }
        let begins = start.instant(floatingIn: zone)
        if recurrence.isEmpty { return (begins.milliseconds, max(begins, end.instant(floatingIn: zone)).milliseconds) }
        switch Series(master: self, overrides: []).end(floatingIn: zone) {
        case .at(let last): return (begins.milliseconds, max(begins, last).milliseconds)
        case .never, .unknown: return (begins.milliseconds, nil)
        }
    }
}
