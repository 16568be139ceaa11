// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge
import TestSupport
import Testing

/// A calendar of sabre/vobject's tests and its expansion in UTC.
struct SabrePair: Sendable, CustomStringConvertible {
    var input: URL
    var expected: URL
    var zone: String
    var from: CivilDate
    var to: CivilDate

    var description: String { input.lastPathComponent }

    static let all: [SabrePair] = {
        guard let folder = Corpora.find("sabre-expand"),
            let index = try? String(contentsOf: folder.appending(path: "index.tsv"), encoding: .utf8)
        else { return [] }
        return index.split(whereSeparator: \.isNewline).dropFirst().compactMap { line in
            let fields = line.split(separator: "\t").map(String.init)
            guard fields.count == 5, let from = CivilDate(iso: fields[3]), let to = CivilDate(iso: fields[4]) else {
                return nil
            }
            return SabrePair(
                input: folder.appending(path: fields[0]), expected: folder.appending(path: fields[1]), zone: fields[2],
                from: from, to: to)
        }
    }()
}

@Suite("Recurrence: the expansions of sabre/vobject", .needsCorpora("sabre-expand"))
struct RecurrenceCorpus {
    @Test("A calendar expands to the occurrences that sabre/vobject writes", arguments: SabrePair.all)
    func expansion(_ pair: SabrePair) throws {
        let zone: any TimeZoneRules = try #require(TimeZoneReference(pair.zone)).rules
        let from = Instant(utc: CivilDateTime(startOf: pair.from))
        let to = Instant(utc: CivilDateTime(startOf: pair.to))
        func line(_ start: EventTime, _ end: EventTime?, _ event: Event, _ place: EventTime?) -> String {
            func text(_ time: EventTime?) -> String {
                guard let time else { return "-" }
                return time.isDate ? time.civilDate.basic : time.instant(floatingIn: zone).basic
            }
            return [event.uid, text(start), text(end), event.summary ?? "-", text(place)].joined(separator: " ")
        }
        let reader = CalendarReader()
        let expected = reader.read(Array(try Data(contentsOf: pair.expected))).events.compactMap { event in
            event.start.map { line($0, event.effectiveEnd, event, event.recurrenceID) }
        }
        let found = Series.group(reader.read(Array(try Data(contentsOf: pair.input))).events).flatMap { series in
            series.occurrences(from: from, to: to, floatingIn: zone).occurrences.map {
                line($0.start, $0.end, $0.event, $0.recurrenceID)
            }
        }
        #expect(found == expected)
    }
}
