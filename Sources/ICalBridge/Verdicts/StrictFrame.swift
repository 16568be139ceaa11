// SPDX-License-Identifier: Apache-2.0

/// A component that python's ical is reading.
struct StrictFrame {
    let component: StrictComponent
    /// Its name in lower case.
    let name: String
    let line: Int
    /// The properties that were there, by their index.
    var seen: Set<Int> = []
    /// Whether it is a zone with a STANDARD or DAYLIGHT, and the line of the first one that cannot be expanded.
    private(set) var hasParts = false
    private var unusable: Int?

    private var start: StrictValue.Clock?
    private var end: (clock: StrictValue.Clock, fault: StrictFault)?
    private var until: (clock: StrictValue.Clock, fault: StrictFault)?
    private var duration: (seconds: Int, fault: StrictFault)?
    private var periods: StrictFault?
    /// Times of EXDATE and RDATE without a zone.
    private var floating: StrictFault?
    private var action = ""
    private var tzid = ""
    /// Whether it is a part of a zone with an RDATE that is a date, or with a rule that is too rapid.
    private var isEndless = false

    init(component: StrictComponent, name: String, line: Int) {
        (self.component, self.name, self.line) = (component, name, line)
    }

    private func has(_ property: String) -> Bool {
        component.field(PackedName(property)).map { seen.contains($0.index) } ?? false
    }

    func require(_ property: String, in scope: inout StrictScope) {
        if !has(property) { scope.missing(property, in: self) }
    }

    /// Reads one property that has a type.
    mutating func read(
        _ line: StrictLine, _ field: StrictField, in scope: inout StrictScope, knows: (String) -> Bool
    ) {
        let isGood =
            switch field.kind {
            case .any: true
            case .text: readText(line, in: &scope)
            case .uri: isText(line) && StrictValue.isURI(line.value)
            case .moment, .addition: readTimes(line, field, in: &scope, knows)
            case .instant: readInstant(line, in: &scope, knows)
            case .trigger:
                time(line, line.value, mayBeDate: false, in: &scope, knows) != nil
                    || line.type != "DATE-TIME" && line.type != "DATE" && StrictValue.duration(line.value) != nil
            case .period:
                line.value.split(separator: 44, omittingEmptySubsequences: false).allSatisfy {
                    isPeriod(line, $0, in: &scope, knows, isUTC: true)
                }
            case .duration: readDuration(line)
            case .rule: readRule(line)
            case .status: component.statuses.contains { line.value.elementsEqual($0.utf8) }
            case .integer: StrictValue.integer(line.value) != nil
            case .priority: StrictValue.integer(line.value).map { (0...9).contains($0) } ?? false
            case .offset: StrictValue.isOffset(line.value)
            case .place: line.type == nil && StrictValue.isPlace(line.value)
            case .result: StrictValue.isResult(line.value)
            case .address: isAddress(line)
            case .attachment: isAttachment(line)
            case .conference: isSingle(line, ["LABEL", "LANGUAGE"]) && StrictValue.isURI(line.value)
            case .relation: line.type == nil && line.parameters.allSatisfy { $0.values.count == 1 }
            }
        if !isGood { scope.fault(.init(.value, line)) }
    }

    private mutating func readText(_ line: StrictLine, in scope: inout StrictScope) -> Bool {
        switch (component, line.title) {
        case (.alarm, "ACTION"): action = TextValue.decoded(line.value)
        case (.zone, "TZID"): tzid = TextValue.decoded(line.value)
        case (.calendar, "X-WR-TIMEZONE"): scope.standard = String(fromOutside: line.value)
        default: break
        }
        return isText(line)
    }

    private func isText(_ line: StrictLine) -> Bool {
        switch line.type {
        case "BOOLEAN", "DATE", "DATE-TIME", "DURATION", "FLOAT", "INTEGER", "PERIOD", "RECUR", "UTC-OFFSET",
            "CAL-ADDRESS":
            false
        default: true
        }
    }

    private func isSingle(_ line: StrictLine, _ names: [String]) -> Bool {
        names.allSatisfy { (line[$0]?.count ?? 1) == 1 }
    }

    private func isAddress(_ line: StrictLine) -> Bool {
        let single = ["CN", "CUTYPE", "DIR", "PARTSTAT", "ROLE", "RSVP", "SENT-BY", "LANGUAGE"]
        let answers = ["true", "false", "t", "f", "yes", "no", "y", "n", "on", "off", "1", "0"]
        return (line.type == nil || line.type == "CAL-ADDRESS") && isSingle(line, single)
            && (line["RSVP"]?.first.map {
                answers.contains(String(fromOutside: $0).lowercased())
            } ?? true)
            && StrictValue.isURI(line.value)
    }

    private func isAttachment(_ line: StrictLine) -> Bool {
        guard isSingle(line, ["FMTTYPE", "ENCODING", "ALTREP", "DISPLAY"]) else { return false }
        let isBinary = line.type == "BINARY" || line["ENCODING"]?.first?.elementsEqual("BASE64".utf8) == true
        return isBinary ? StrictValue.isBase64(line.value) : StrictValue.isURI(line.value)
    }

    // MARK: Times

    /// Reads a time; nil if the text is not a time. The zone's name is noted, because its definition may follow.
    private func time(
        _ line: StrictLine, _ value: ArraySlice<UInt8>, mayBeDate: Bool, in scope: inout StrictScope,
        _ knows: (String) -> Bool
    ) -> StrictValue.Clock? {
        let type = line.type
        if type == "DATE" { return StrictValue.isDate(value) ? .date : nil }
        if type != nil, type != "DATE-TIME" {
            // Any other type is read as a text, and the text as Python's fromisoformat reads it.
            guard mayBeDate else { return nil }
            let plain = value.filter { $0 != 45 && $0 != 58 }[...]
            if StrictValue.isTime(plain) { return plain.last == 90 ? .utc : .floating }
            return plain.count == 8 && StrictValue.isDate(plain) ? .date : nil
        }
        let tzid = line["TZID"]?.first.map { String(fromOutside: $0) }
        if let tzid, !tzid.isEmpty, StrictValue.looksLikeTime(value) { use(tzid, line, in: &scope, knows) }
        if StrictValue.isTime(value) {
            guard let tzid else { return value.last == 90 ? .utc : .floating }
            return tzid.isEmpty ? .floating : .zoned(tzid)
        }
        return mayBeDate && type == nil && StrictValue.isDate(value) ? .date : nil
    }

    private func use(_ tzid: String, _ line: StrictLine, in scope: inout StrictScope, _ knows: (String) -> Bool) {
        switch component {
        // The start of a to-do is left out if its zone is unknown.
        case .toDo where line.name == .start: break
        case .event, .toDo, .journal, .freeBusy:
            if scope.uses[ByteString(tzid)] == nil { scope.uses[ByteString(tzid)] = line.number }
        // Zones of the file are known only in those.
        default:
            if !knows(tzid) { scope.fault(StrictFault(kind: .zone, line: line.number, text: tzid)) }
        }
    }

    private mutating func readTimes(
        _ line: StrictLine, _ field: StrictField, in scope: inout StrictScope, _ knows: (String) -> Bool
    ) -> Bool {
        guard field.isList else {
            let clock = time(line, line.value, mayBeDate: true, in: &scope, knows)
            scope.note(clock)
            switch line.name {
            case .start: start = clock
            case .dtend where component == .event, .due: end = clock.map { ($0, .init(.clocks, line)) }
            default: break
            }
            return clock != nil
        }
        for value in line.value.split(separator: 44, omittingEmptySubsequences: false) {
            if field.kind == .addition, line.type == nil && value.contains(47) || line.type == "PERIOD" {
                guard isPeriod(line, value, in: &scope, knows, isUTC: false) else { return false }
                periods = periods ?? .init(.periods, line)
            } else {
                guard let clock = time(line, value, mayBeDate: true, in: &scope, knows) else { return false }
                scope.note(clock)
                if clock == .floating { floating = floating ?? .init(.clocks, line) }
                isEndless = isEndless || clock == .date
            }
        }
        return true
    }

    private func readInstant(_ line: StrictLine, in scope: inout StrictScope, _ knows: (String) -> Bool) -> Bool {
        let clock = time(line, line.value, mayBeDate: false, in: &scope, knows)
        if component == .observance {
            switch clock {
            case .utc: scope.fault(.init(.zoneStart, line))
            case .zoned(let zone) where knows(zone): scope.fault(.init(.zoneStart, line))
            default: break
            }
        }
        return clock != nil
    }

    private func isPeriod(
        _ line: StrictLine, _ value: ArraySlice<UInt8>, in scope: inout StrictScope, _ knows: (String) -> Bool,
        isUTC: Bool
    ) -> Bool {
        let parts = value.split(separator: 47, omittingEmptySubsequences: false)
        guard parts.count == 2, StrictValue.isTime(parts[0]), !isUTC || parts[0].last == 90 && line["TZID"] == nil
        else { return false }
        if let tzid = line["TZID"]?.first, !tzid.isEmpty {
            use(String(fromOutside: tzid), line, in: &scope, knows)
        }
        let types = ["FREE", "BUSY", "BUSY-UNAVAILABLE", "BUSY-TENTATIVE"]
        let isKnown = line["FBTYPE"].map { given in
            given.count == 1 && types.contains { given[0].elementsEqual($0.utf8) }
        }
        return isKnown ?? true && (StrictValue.isTime(parts[1]) || StrictValue.duration(parts[1]) != nil)
    }

    private mutating func readDuration(_ line: StrictLine) -> Bool {
        guard let seconds = StrictValue.duration(line.value) else { return false }
        duration = (seconds, .init(.duration, line))
        return true
    }

    private mutating func readRule(_ line: StrictLine) -> Bool {
        guard let rule = StrictValue.rule(line.value) else { return false }
        until = rule.until.map { ($0, .init(.clocks, line)) }
        isEndless = isEndless || rule.isRapid
        return true
    }

    /// Checks what the times of an event, a to-do or a journal entry have to do with one another.
    func checkTimes(in scope: inout StrictScope) {
        if let duration, duration.seconds != 0 {
            let isWrong =
                switch (component, start) {
                case (.toDo, nil): true
                case (.toDo, _) where end != nil: true
                // DTEND prevails over DURATION.
                case (_, _) where end != nil: false
                case (_, .date): duration.seconds < 0 || duration.seconds % 86_400 != 0
                default: duration.seconds < 0
                }
            if isWrong { scope.fault(duration.fault) }
        }
        guard let start else { return }
        if let periods, has("RRULE") { scope.fault(periods) }
        guard start != .date else { return }
        if let end, end.clock != .date, end.clock != start {
            scope.pairs.append(.init(start: start, other: end.clock, kind: .end, fault: end.fault))
        }
        if let until { scope.pairs.append(.init(start: start, other: until.clock, kind: .until, fault: until.fault)) }
        if let floating, has("RRULE") {
            scope.pairs.append(.init(start: start, other: .floating, kind: .listed, fault: floating))
        }
    }

    /// Takes over what matters about a part of this zone.
    mutating func add(part: StrictFrame) {
        hasParts = true
        // Its rules need a DTSTART on the same clock as UNTIL.
        guard !part.has("DTSTART") || part.until?.clock == .utc || part.isEndless else { return }
        unusable = unusable ?? part.line
    }

    func checkZone(in scope: inout StrictScope) {
        require("TZID", in: &scope)
        if !hasParts { scope.missing("STANDARD", in: self) }
        scope.declared.insert(ByteString(tzid))
        if let unusable { scope.unusable[ByteString(tzid)] = unusable }
    }

    /// Checks that an alarm has what its action needs.
    func checkAlarm(in scope: inout StrictScope) {
        require("ACTION", in: &scope)
        require("TRIGGER", in: &scope)
        if action == "DISPLAY" || action == "EMAIL" { require("DESCRIPTION", in: &scope) }
        if action == "EMAIL" { require("SUMMARY", in: &scope) }
        if has("DURATION") != has("REPEAT") {
            scope.missing(has("DURATION") ? "REPEAT" : "DURATION", in: self)
        }
    }
}

extension StrictLine {
    /// The parameter VALUE.
    var type: String? { self["VALUE"]?.first.map { String(fromOutside: $0) } }
}

extension PackedName {
    fileprivate static let start = PackedName("DTSTART")
    fileprivate static let dtend = PackedName("DTEND")
    fileprivate static let due = PackedName("DUE")
}
