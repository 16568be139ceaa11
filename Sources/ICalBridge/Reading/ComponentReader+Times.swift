// SPDX-License-Identifier: Apache-2.0

/// Dates and times of a component: checked here, then passed to libical in one form.
extension ComponentReader {
    /// Reads DTSTART, DTEND, DUE or RECURRENCE-ID; false when the property does not count.
    @discardableResult
    mutating func time(
        _ field: DecodedProperty.Field, _ property: Property, _ context: inout ReadingContext
    ) -> Bool {
        guard isFirst(field, property, &context) else { return false }
        var property = property
        Self.mendZone(&property, &context.log)
        guard var written = read(property.value, of: property, severity: .error, &context.log) else { return false }
        mendForm(&written, of: property, &context.log)
        draft.seen.insert(field)
        put(written, as: field, of: property, &context)
        return true
    }

    /// Reads DTSTAMP, CREATED or LAST-MODIFIED: instants whose loss does not matter when they are wrong.
    mutating func stamp(_ field: DecodedProperty.Field, _ property: Property, _ context: inout ReadingContext) {
        guard !draft.seen.contains(field),
            let written = read(property.value, of: property, severity: .warning, &context.log)
        else { return }
        draft.seen.insert(field)
        if written.zone == .none {
            context.log.add(
                .repaired, "timestamp-not-utc", line: property.line, text: property.text, .timeNotUTC,
                "\(property.name, .name) has to be a time in UTC and was read as one.")
        }
        let wall = written.time ?? CivilDateTime(startOf: written.date)
        var offset = 0
        if case .offset(let seconds) = written.zone { offset = seconds }
        if written.zone == .none, let tzid = Self.zoneName(property) {
            let number = context.zones.number(of: tzid, line: property.line, log: &context.log)
            if case .zone(let zone) = context.zones[number] {
                context.slice.property(field, zone.rules.instant(of: wall).basic.utf8)
                return
            }
        }
        context.slice.property(field, (wall.adding(seconds: -offset).basic + "Z").utf8)
    }

    mutating func duration(_ property: Property, _ context: inout ReadingContext) {
        guard isFirst(.duration, property, &context) else { return }
        let lenient = ICalDuration(text: property.trimmed, isLenient: true).flatMap { Self.duration($0.description) }
        guard let duration = Self.duration(property.trimmed) ?? lenient else {
            context.log.add(
                .error, "duration-unreadable", line: property.line, text: property.text, .durationUnreadable,
                "DURATION is not a length of time; the end is lost.")
            return
        }
        if Self.duration(property.trimmed) == nil {
            context.log.add(
                .repaired, "duration-format", line: property.line, text: property.text, .durationOrder,
                "DURATION has weeks or days after its T; the meaning is clear.")
        }
        draft.seen.insert(.duration)
        context.slice.property(.duration, duration.description.utf8)
    }

    /// Reads EXDATE or RDATE, one value per line: libical silently drops everything after 500 values.
    mutating func list(_ field: DecodedProperty.Field, _ property: Property, _ context: inout ReadingContext) {
        var property = property
        Self.mendZone(&property, &context.log)
        for value in property.value.split(whereSeparator: { $0 == 44 || $0 == 59 || $0 == 10 }) {
            let value = value.trimmingSpaces
            guard !value.isEmpty else { continue }
            draft.listedValues += 1
            guard draft.listedValues <= context.options.limits.listedValues else {
                context.log.add(
                    .error, "too-many-properties", line: property.line, text: property.name, .tooManyDates,
                    "The component has more dates than the limit; the others are lost.")
                return
            }
            if field == .addition, let slash = value.firstIndex(of: 47) {
                period(value[..<slash], value[(slash + 1)...], of: property, &context)
            } else if var written = read(value, of: property, severity: .error, &context.log) {
                mendForm(&written, of: property, &context.log)
                put(written, as: field, of: property, &context)
            }
        }
    }

    private func period(
        _ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>, of property: Property, _ context: inout ReadingContext
    ) {
        guard let start = read(first, of: property, severity: .error, &context.log) else { return }
        guard let wall = start.time else { return refusePeriod(of: property, &context.log) }
        let zone = zone(of: start, property, &context)
        let end: String
        if let duration = Self.duration(String(fromOutside: second)), !duration.isNegative {
            end = duration.description
        } else if let written = read(second, of: property, severity: .error, &context.log) {
            guard let time = written.time else { return refusePeriod(of: property, &context.log) }
            end = time.basic + (start.zone == .utc ? "Z" : "")
        } else {
            return
        }
        let value = wall.basic + (start.zone == .utc ? "Z" : "") + "/" + end
        context.slice.property(.addition, parameters: ";VALUE=PERIOD" + zone, value.utf8)
    }

    private func refusePeriod(of property: Property, _ log: inout ProblemLog) {
        log.add(
            .error, "date-unreadable", line: property.line, text: property.text, .periodOfDays,
            "\(property.name, .name) has a period between days where times are needed; it was left out.")
    }

    /// The maximum number of days and seconds of a duration: they fit in libical's 32-bit numbers.
    static let longestDays = 4_000_000
    static let longestSeconds = 2_000_000_000

    /// Reads a duration that is not longer than that.
    static func duration(_ text: String) -> ICalDuration? {
        guard let duration = ICalDuration(text: text), abs(duration.days) <= longestDays,
            abs(duration.seconds) <= longestSeconds
        else { return nil }
        return duration
    }

    /// Reads a time, or reports why it cannot be read.
    func read(
        _ value: ArraySlice<UInt8>, of property: Property, severity: Problem.Severity, _ log: inout ProblemLog
    ) -> WrittenTime? {
        let code: Problem.Code
        let sentence: Sentence
        do throws(WrittenTime.Failure) {
            let written = try WrittenTime(value)
            if !written.isCanonical {
                log.add(
                    .repaired, "date-format", line: property.line, text: property.text, .timeFormat,
                    "\(property.name, .name) is not written as YYYYMMDDTHHMMSS; the meaning is clear.")
            }
            return written
        } catch .impossible {
            (code, sentence) = (
                "impossible-date",
                Sentence(
                    .timeImpossible,
                    "\(property.name, .name) names a day or a time that does not exist; it was left out.")
            )
        } catch {
            (code, sentence) = (
                "date-unreadable",
                Sentence(.timeUnreadable, "\(property.name, .name) is neither a date nor a time; it was left out.")
            )
        }
        log.add(
            severity, code, line: property.line, text: String(fromOutside: value.prefix(200)),
            sentence)
        return nil
    }

    /// Corrects and reports a time where VALUE says that it is a date, or a date without VALUE=DATE.
    private func mendForm(_ written: inout WrittenTime, of property: Property, _ log: inout ProblemLog) {
        let saysDate = property[parameter: "VALUE"]?.uppercased() == "DATE"
        if saysDate, written.time != nil {
            written.time = nil
            written.zone = .none
            log.add(
                .repaired, "date-with-time", line: property.line, text: property.text, .dateWithTime,
                "\(property.name, .name) says VALUE=DATE but has a time; only the day was read.")
        } else if !saysDate, written.time == nil {
            log.add(
                .repaired, "date-without-value", line: property.line, text: property.text, .dateUnmarked,
                "\(property.name, .name) is a day without VALUE=DATE and was read as one.")
        }
    }

    private func put(
        _ written: WrittenTime, as field: DecodedProperty.Field, of property: Property, _ context: inout ReadingContext
    ) {
        guard let time = written.time else {
            context.slice.property(field, parameters: ";VALUE=DATE", written.date.basic.utf8)
            return
        }
        if case .offset(let seconds) = written.zone {
            context.slice.property(field, (time.adding(seconds: -seconds).basic + "Z").utf8)
        } else {
            let zone = zone(of: written, property, &context)
            context.slice.property(field, parameters: zone, (time.basic + (written.zone == .utc ? "Z" : "")).utf8)
        }
    }

    /// `;TZID=Z1` for a time with a named zone, empty for others.
    private func zone(of written: WrittenTime, _ property: Property, _ context: inout ReadingContext) -> String {
        guard let tzid = Self.zoneName(property) else { return "" }
        let number = context.zones.number(of: tzid, line: property.line, log: &context.log)
        if written.zone == .none { return ";TZID=Z\(number)" }
        if context.zones[number] != .utc {
            context.log.add(
                .warning, "zone-with-utc", line: property.line, text: property.text, .zoneAndUTC,
                "\(property.name, .name) names a zone and ends with Z; it was read as UTC.")
        }
        return ""
    }

    static func zoneName(_ property: Property) -> String? {
        guard let values = property.parameters.first(where: { $0.name == "TZID" })?.values else { return nil }
        let name = values.joined(separator: ",")
        return name.allSatisfy(\.isWhitespace) ? nil : name
    }

    /// Restores a TZID that was split at a colon because it was not quoted (`TZID=(UTC+01:00) Berlin:20260101T…`), and one
    /// whose quotes close after the next parameter (`TZID="Berlin;VALUE=DATE-TIME"`).
    static func mendZone(_ property: inout Property, _ log: inout ProblemLog) {
        if let index = property.parameters.firstIndex(where: { $0.name == "TZID" }),
            let written = property.parameters[index].values.first, let end = written.firstIndex(of: ";"),
            written[end...].uppercased().hasPrefix(";VALUE=DATE")
        {
            property.parameters[index].values = [String(written[..<end])]
            log.add(
                .repaired, "parameter-quotes", line: property.line, text: written, .tzidQuotes,
                "The quotes of this TZID hold the next parameter too; it was left out of the name.")
        }
        guard let index = property.parameters.firstIndex(where: { $0.name == "TZID" }),
            let colon = property.value.lastIndex(of: 58),
            (try? WrittenTime(property.value.prefix { $0 != 44 && $0 != 47 })) == nil,
            (try? WrittenTime(property.value[(colon + 1)...].prefix { $0 != 44 && $0 != 47 })) != nil
        else { return }
        let name =
            property.parameters[index].values.joined(separator: ",")
            + ":" + String(fromOutside: property.value[..<colon])
        property.parameters[index].values = [name]
        property.value = property.value[(colon + 1)...]
        log.add(
            .repaired, "parameter-quotes", line: property.line, text: name, .tzidColon,
            "This TZID has a colon and should be in quotes.")
    }
}
