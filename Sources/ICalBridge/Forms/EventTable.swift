// SPDX-License-Identifier: Apache-2.0

/// Calendar components as rows of a table.
enum EventTable {
    enum Column: String, CaseIterable {
        case uid
        case recurrenceId
        case summary
        case start
        case end
        case allDay
        case timeZone
        case location
        case description
        case status
        case rrule
        case categories
        case sequence
        case lastModified
    }
}

extension ICalendar {
    /// The calendar as a CSV table (RFC 4180) with a header row and one row for each component except free/busy blocks.
    ///
    /// Times are ISO 8601 on the clock of the row's `timeZone`, or end in Z; `end` is exclusive, also when it is a
    /// date. Times in a zone other than the row's, or in a zone that only the calendar defines, are in UTC. `rrule`
    /// holds the rules, with EXDATE and RDATE on separate lines. A cell that a spreadsheet would run as a formula
    /// begins with an apostrophe, which the reader removes. Alarms, links and everything else that has no column are
    /// not written.
    public func csv() -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(256 + events.count * 192)
        CSVTable.write(EventTable.Column.allCases.map(\.rawValue), to: &out)
        for event in events where event.kind != .freeBusy {
            let row = EventTable.Writer(event)
            CSVTable.write(EventTable.Column.allCases.map(row.cell), to: &out)
        }
        return out
    }
}

extension EventTable {
    /// Makes the cells of one component.
    struct Writer {
        private let event: Event
        private let end: EventTime?
        private let zone: TimeZoneReference?

        init(_ event: Event) {
            self.event = event
            end = event.end == nil ? nil : event.effectiveEnd
            // A zone that only the file defines would lose its meaning without the file.
            zone = [event.start?.zone, end?.zone].compactMap { $0 }.first { $0.definition == nil }
        }

        func cell(_ column: Column) -> String {
            switch column {
            case .uid: event.uid
            case .recurrenceId: event.recurrenceID.map(iso) ?? ""
            case .summary: event.summary?.withoutHiddenCharacters ?? ""
            case .start: event.start.map(iso) ?? ""
            case .end: endCell
            case .allDay: event.isAllDay ? "TRUE" : "FALSE"
            case .timeZone: zone?.identifier ?? (isUTC ? "UTC" : "")
            case .location: event.location?.withoutHiddenCharacters ?? ""
            case .description: event.description?.withoutHiddenCharacters ?? ""
            case .status: event.status ?? ""
            case .rrule: recurrence
            case .categories:
                event.categories.map {
                    String(fromOutside: TextValue.encoded($0.withoutHiddenCharacters.utf8))
                }.joined(separator: ",")
            case .sequence: String(event.sequence)
            case .lastModified: event.lastModified?.description ?? ""
            }
        }

        private var isUTC: Bool {
            switch event.start ?? end {
            case .utc, .zoned: true
            case .date, .floating, nil: false
            }
        }

        /// The cell of the end. A length that ends in the second pass of an hour that occurs twice has no wall-clock
        /// time of its own.
        private var endCell: String {
            guard let end else { return "" }
            if case .duration(let length) = event.end, case .zoned(let wall, let zone) = event.start {
                let instant = zone.rules.instant(of: wall.adding(seconds: length.days * 86_400))
                    .adding(seconds: length.seconds)
                if zone.rules.instant(of: end.civil) != instant { return instant.description }
            }
            return iso(end)
        }

        private func iso(_ time: EventTime) -> String {
            switch time {
            case .date(let date): date.description
            case .floating(let wall): wall.description
            case .utc(let instant): instant.description
            case .zoned(let wall, let own):
                own == zone ? wall.description : own.rules.instant(of: wall).description
            }
        }

        private func basic(_ time: EventTime) -> String {
            guard case .zoned(let wall, let own) = time, own != zone else { return time.basicValue }
            return own.rules.instant(of: wall).basic
        }

        private var recurrence: String {
            var lines = event.recurrence.rules.map(\.description)
            let additions = event.recurrence.additions.map { addition in
                switch addition.end {
                case nil: basic(addition.start)
                case .time(let end): basic(addition.start) + "/" + basic(end)
                case .duration(let length): basic(addition.start) + "/" + length.description
                }
            }
            if !additions.isEmpty { lines.append("RDATE:" + additions.joined(separator: ",")) }
            let exclusions = event.recurrence.exclusions.map(basic)
            if !exclusions.isEmpty { lines.append("EXDATE:" + exclusions.joined(separator: ",")) }
            lines += event.recurrence.exclusionRules.map { "EXRULE:" + $0.description }
            return lines.joined(separator: "\n")
        }
    }
}
