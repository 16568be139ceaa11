// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// Everything that is stored about a person, as the files of one archive, a few at a time.
///
/// Each read sees its own moment, so that an archive of any size holds nobody up: data that changes in the meantime may be in
/// it as it was before or after.
package struct PersonArchive: Sendable {
    private let data: PersonData
    private let user: String
    private let caller: Caller
    private let madeAt: Int
    private var position: Position? = .rows(table: 0, part: 1, after: nil)

    /// Where the next files begin.
    private enum Position {
        case rows(table: Int, part: Int, after: [SQLValue]?)
        case events(part: Int, PersonalEntries.Position)
    }

    fileprivate init(_ data: PersonData, of user: String, for caller: Caller) {
        (self.data, self.user, self.caller, madeAt) = (data, user, caller, data.acts.now())
    }

    /// Passes on the next bytes of the archive, if there are any; returns false after the last.
    ///
    /// Throws 404 once the caller may not read what is the person's, and 503 if others keep the memory for the person's
    /// calendar for too long.
    package mutating func next(_ give: ([UInt8]) throws -> Void) async throws -> Bool {
        let (user, identity, tables) = (user, caller.identity, PersonTable.all)
        switch position {
        case .rows(let table, let part, let key):
            let page = try await data.acts.readPage(for: caller) { transaction in
                _ = try Rights.own(of: user, for: identity, in: transaction)
                return try transaction.personRows(of: user, in: tables[table], after: key)
            }
            for file in try files(of: page, in: tables[table], part: part) { try self.give(file, to: give) }
            position =
                if let next = page.next {
                    .rows(table: table, part: part + 1, after: next)
                } else {
                    table + 1 < tables.count
                        ? .rows(table: table + 1, part: 1, after: nil) : .events(part: 1, .events(after: nil))
                }
            return true
        case .events(let part, let start):
            let room = try await data.room(forEventsOf: user)
            defer { withExtendedLifetime(room) {} }
            let (events, next) = try await data.acts.readPage(for: caller) { transaction in
                _ = try Rights.own(of: user, for: identity, in: transaction)
                return try PersonalEntries.part(of: user, from: start, in: transaction)
            }
            try write(events, part: part, to: give)
            if next == nil { try give(TarFile.end) }
            position = next.map { .events(part: part + (events.isEmpty ? 0 : 1), $0) }
            return true
        case nil: return false
        }
    }

    /// Passes on a file as it is in this archive.
    package func give(_ file: TarFile, to give: ([UInt8]) throws -> Void) rethrows {
        for bytes in file.packed(changedAt: madeAt) { try give(bytes) }
    }

    /// Seconds before and after the present for which time zones are written.
    private static let decade = 3660 * 86_400
    private var coverage: ClosedRange<Instant> {
        let present = Instant(milliseconds: madeAt)
        return present.adding(seconds: -Self.decade)...present.adding(seconds: Self.decade)
    }

    /// Returns a file with events; none without any.
    private func calendar(_ path: String, _ events: [Event]) -> [TarFile] {
        events.isEmpty ? [] : [TarFile(path, ICalendar(name: user, events: events).serialized(coverage: coverage))]
    }

    /// Passes on some of a person's own events as a file; none without any. A series with its changed occurrences may be
    /// too long for one text in memory.
    private func write(_ events: [Event], part: Int, to give: ([UInt8]) throws -> Void) throws {
        guard !events.isEmpty else { return }
        let (calendar, piece) = (ICalendar(name: user, events: events), 256 << 10)
        // The file's size comes before its text.
        var count = 0
        calendar.write(coverage: coverage, inPartsOf: piece) { count += $0.count }
        try give(TarFile.head("personal/events\(part == 1 ? "" : "-\(part)").ics", count, changedAt: madeAt))
        try calendar.write(coverage: coverage, inPartsOf: piece, give)
        try give(TarFile.filling(count))
    }

    private func files(of page: PersonRows, in table: PersonTable, part: Int) throws -> [TarFile] {
        guard !page.rows.isEmpty else { return [] }
        let name = "\(table.area.rawValue)/\(table.name)\(part == 1 ? "" : "-\(part)")"
        var files: [TarFile] = []
        // A UID is one event's within a file, and another's in another circle or from another source.
        var events: [(origin: [SQLValue], events: [Event])] = []
        var rows: [JSONValue] = []
        for row in page.rows {
            var object: [ByteString: JSONValue] = [:]
            for (column, value) in row {
                if column == "content", table.hasEvents, case .text(let text) = value {
                    let origin = row.filter { $0.column == "circle_id" || $0.column == "source" }.map(\.value)
                    let position = events.firstIndex { $0.origin == origin } ?? events.count
                    if position == events.count { events.append((origin, [])) }
                    events[position].events.append(try StoredEvent.event(text))
                } else if column == "text", case .text(let text) = value {
                    // A calendar's own text becomes a file of its own.
                    let path = "\(name)\(part == 1 ? "-1" : "")-\(files.count + 1).ics"
                    object["file"] = .string(path)
                    files.append(TarFile(path, Array(text.utf8)))
                } else {
                    object[ByteString(Self.camelCase(column))] = Self.json(value, of: column)
                }
            }
            rows.append(.object(object))
        }
        return [TarFile("\(name).json", try JSONValue.array(rows).serialized())] + files
            + events.enumerated().flatMap { position, one in
                calendar(
                    position == 0 ? "\(name).ics" : "\(name)\(part == 1 ? "-1" : "")-\(position + 1).ics", one.events)
            }
    }

    private static func camelCase(_ column: String) -> String {
        let words = column.split(separator: "_")
        return words.dropFirst().reduce(String(words.first ?? "")) {
            $0 + $1.prefix(1).uppercased() + String($1.dropFirst())
        }
    }

    /// The columns whose text is JSON.
    private static let texts: Set<ByteString> = [
        "config", "content", "decision", "detail", "earlier", "items", "recurrence", "report", "settings",
    ]

    private static func json(_ value: SQLValue, of column: String) -> JSONValue {
        switch value {
        case .null: .null
        case .integer(let number):
            // A time that is not set may be 0, and one that never comes is far beyond any calendar.
            column.hasSuffix("_at") && (1..<253_402_300_800_000).contains(number)
                ? JSONValue(milliseconds: number) : .integer(number)
        case .text(let text):
            texts.contains(ByteString(column)) ? (try? JSONValue(parsing: text.utf8)) ?? .string(text) : .string(text)
        }
    }
}

/// What is stored about a person, for the person and for the installation.
package struct PersonData: Acting, CircleReading {
    let acts: Acts
    let memory: MemoryBudgets

    /// Begins an archive of what is stored about a person; the audit trail notes it.
    ///
    /// Throws 404 unless the caller is the person or acts for the installation, and 403 in a session that did not begin a
    /// moment ago.
    package func archive(of user: String, for caller: Caller) async throws -> PersonArchive {
        let target = ActTarget.user(user, touchingNoCircle: "Reading changes nothing that a feed shows.")
        try await acts.act(on: target, for: caller) { act in
            try RecentSignIn(isNeeded: true).check(caller, in: act.transaction, now: act.now)
            return ActResult(noting: AuditNote(.userExported, user))
        }
        try await Audit(acts: acts).order()
        return PersonArchive(self, of: user, for: caller)
    }
}
