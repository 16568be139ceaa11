// SPDX-License-Identifier: Apache-2.0

import ICalBridge

extension Event {
    /// The event with some of its people and files, and otherwise only with what any reader may get and send, and only
    /// with legal values, because strict readers refuse a whole feed over others.
    ///
    /// - Parameter leftOut: counts what is missing from it, by property.
    func publishable(with extras: Set<EventExtra>, leftOut: inout LeftOut) -> Event {
        func isLeftOut(_ line: ContentLine) -> Bool {
            EventExtra(property: ByteString(line.name)).map { !extras.contains($0) } ?? line.isUnpublished
        }
        var copy = self
        if otherProperties.contains(where: isLeftOut) {
            copy.otherProperties.removeAll { line in
                guard isLeftOut(line) else { return false }
                leftOut.count(line)
                return true
            }
        }
        if !alarms.isEmpty { copy.alarms = alarms.map { $0.publishable(of: self, with: extras, leftOut: &leftOut) } }
        copy.takeLegalValues(&leftOut)
        return copy
    }

    /// The event without values that are not legal, and otherwise as it is.
    var withLegalValues: Event {
        var (copy, leftOut) = (self, LeftOut())
        if otherProperties.contains(where: { !$0.hasLegalValue }) {
            copy.otherProperties.removeAll { !$0.hasLegalValue }
        }
        copy.takeLegalValues(&leftOut)
        return copy
    }

    private mutating func takeLegalValues(_ leftOut: inout LeftOut) {
        if let status, !kind.statuses.contains(ByteString(status)) {
            self.status = nil
            leftOut["STATUS", default: 0] += 1
        }
        if hasUnknownClass {
            classification = "PRIVATE"
            leftOut["CLASS", default: 0] += 1
        }
        // A duration of zero is expressed by leaving out the end.
        let utc = FixedOffset.utc
        if kind == .event, case .time(let time) = end, let start, !time.isDate, !start.isDate,
            time.instant(floatingIn: utc) == start.instant(floatingIn: utc)
        {
            end = nil
        }
    }

    func publishable(with extras: Set<EventExtra>) -> Event {
        var leftOut: LeftOut = [:]
        return publishable(with: extras, leftOut: &leftOut)
    }

    /// The event without the files and addresses that no feed shows.
    var withAddressesForFeeds: Event {
        func isLeftOut(_ line: ContentLine) -> Bool { !line.isForFeeds }
        var copy = self
        if let url, !URIScheme.isForFeeds(url) { copy.url = nil }
        if let parameters = textParameters, parameters.values.contains(where: { $0.contains(where: \.isRisky) }) {
            copy.textParameters = parameters.mapValues { $0.filter { !$0.isRisky } }.filter { !$0.value.isEmpty }
        }
        if otherProperties.contains(where: isLeftOut) { copy.otherProperties.removeAll(where: isLeftOut) }
        for index in alarms.indices where alarms[index].otherProperties.contains(where: isLeftOut) {
            copy.alarms[index].otherProperties.removeAll(where: isLeftOut)
        }
        return copy
    }

    /// Whether `publishable` is private.
    var isPublishedAsPrivate: Bool { isPrivate || hasUnknownClass }

    /// Whether CLASS has a value that is not defined, which means private (RFC 5545 section 3.8.1.3).
    private var hasUnknownClass: Bool {
        classification.map { !["PUBLIC", "PRIVATE", "CONFIDENTIAL"].contains($0) } ?? false
    }

    /// Returns the event with times in the given zone where they name none, because Google reads such times as UTC, and
    /// with every exception in the form and zone of the series, because otherwise it appears beside the original (RFC
    /// 5545 sections 3.8.5.1 and 3.8.4.4).
    ///
    /// - Parameters:
    ///   - zone: the zone of an event that names none; within a series, such a time is on the clock of DTSTART.
    ///   - series: the anchored series in which this event replaces an occurrence; nil if it is not known.
    func anchored(in zone: TimeZoneReference, replacingIn series: Event? = nil) -> Event {
        func anchored(_ time: EventTime) -> EventTime { time.onClock(of: nil, or: zone) }
        func listed(_ time: EventTime) -> EventTime { time.onClock(of: start, or: zone) }
        var copy = self
        copy.start = start.map(anchored)
        if case .time(let end) = end { copy.end = .time(anchored(end)) }
        copy.recurrenceID = recurrenceID.map { $0.naming(occurrenceOf: series?.start, or: zone) }
        copy.dropEqualEnds()
        copy.recurrence.additions = copy.recurrence.additions.map { addition in
            var end = addition.end
            if case .time(let time) = end { end = .time(listed(time)) }
            return Recurrence.Addition(start: listed(addition.start), end: end)
        }
        copy.recurrence.rules = recurrence.rules.map { rule in
            guard case .floating = start, case .floating(let wall) = rule.until else { return rule }
            var rule = rule
            rule.until = .utc(zone.rules.instant(of: wall))
            return rule
        }
        copy.recurrence.exclusions = recurrence.exclusions.map {
            listed($0).aligned(to: copy.start, floatingIn: zone)
        }
        copy.sayInstants()
        for index in copy.recurrence.additions.indices where copy.recurrence.additions[index].end == nil {
            let addition = copy.recurrence.additions[index].start
            copy.recurrence.additions[index].start = addition.aligned(to: copy.start, floatingIn: zone)
        }
        return copy
    }

    /// Returns this series and its changed occurrences, said so that most readers show the same.
    func settled(with overrides: [Event], in zone: TimeZoneReference) -> [Event] {
        var series = self
        // Apple lists a day with an event of its own as left out too, and some readers then leave it out.
        let replaced = Set(overrides.lazy.filter { !$0.isCancelled }.compactMap(\.recurrenceID))
        series.recurrence.exclusions.removeAll(where: replaced.contains)
        let named = Set(overrides.lazy.compactMap(\.recurrenceID))
        let periods = series.takePeriods(in: zone).filter { $0.recurrenceID.map { !named.contains($0) } ?? false }
        // Two that name one occurrence in different ways are versions of the same override.
        return [series] + Series(master: series, overrides: overrides + periods).overrides
    }

    /// Takes the ends off added dates, and returns the occurrences that have them as changes of this series: Home
    /// Assistant shows no event of a calendar that has such a date, and few readers support one.
    private mutating func takePeriods(in zone: TimeZoneReference) -> [Event] {
        var changes: [Event] = []
        for index in recurrence.additions.indices {
            let addition = recurrence.additions[index]
            guard let end = addition.end, addition.start.isDate == start?.isDate else { continue }
            var change = self
            change.recurrence = Recurrence()
            change.start = addition.start.aligned(to: start, floatingIn: zone)
            change.recurrenceID = change.start
            change.end = end
            changes.append(change)
            recurrence.additions[index] = Recurrence.Addition(start: change.start ?? addition.start)
        }
        return changes
    }

    /// Removes the ends of added dates that last as long as the event, because few readers support dates with an end.
    mutating func dropEqualEnds() {
        let utc = FixedOffset.utc
        func seconds(_ start: EventTime, _ end: EventTime) -> Int {
            end.instant(floatingIn: utc).seconds - start.instant(floatingIn: utc).seconds
        }
        guard let start, let end = effectiveEnd, recurrence.additions.contains(where: { $0.end != nil }) else { return }
        let length = seconds(start, end)
        for index in recurrence.additions.indices {
            let addition = recurrence.additions[index]
            let own: EventTime? =
                switch addition.end {
                case .time(let time): time
                case .duration(let duration): addition.start.adding(duration)
                case nil: nil
                }
            if let own, addition.start.isDate == start.isDate, seconds(addition.start, own) == length {
                recurrence.additions[index].end = nil
            }
        }
    }

    /// Writes times of a single event in UTC that the zone's clock shows twice or never, because readers interpret these
    /// differently.
    mutating func sayInstants() {
        guard recurrence.isEmpty, recurrenceID == nil else { return }
        func isPlain(_ time: EventTime) -> Bool {
            if case .zoned(let wall, let zone) = time { zone.rules.isPlain(wall) } else { true }
        }
        func utc(_ time: EventTime) -> EventTime {
            time.isDate ? time : .utc(time.instant(floatingIn: FixedOffset.utc))
        }
        var times = [start].compactMap { $0 }
        if case .time(let time) = end { times.append(time) }
        guard !times.allSatisfy(isPlain) else { return }
        start = start.map(utc)
        if case .time(let time) = end { end = .time(utc(time)) }
    }
}

extension EventTime {
    /// Returns the time with a zone, if it names none: that of a start, or else the given one.
    fileprivate func onClock(of start: EventTime?, or zone: TimeZoneReference) -> EventTime {
        guard case .floating(let wall) = self else { return self }
        return switch start {
        case .utc: .utc(Instant(utc: wall))
        case .zoned(_, let own): .zoned(wall, own)
        case .date, .floating, nil: .zoned(wall, zone)
        }
    }

    /// Returns a RECURRENCE-ID in the form and zone of the series' start; a day means the occurrence on that day.
    fileprivate func naming(occurrenceOf start: EventTime?, or zone: TimeZoneReference) -> EventTime {
        let time = onClock(of: start, or: zone)
        guard let start, time.isDate, !start.isDate else { return time.aligned(to: start, floatingIn: zone) }
        var wall = start.civil
        wall.date = time.civilDate
        return start.with(civil: wall)
    }

    /// Returns the same instant in the form and zone of a series' start; it becomes a date if the start is one, and a
    /// date stays a date.
    fileprivate func aligned(to start: EventTime?, floatingIn zone: TimeZoneReference) -> EventTime {
        switch start {
        case .date: .date(civilDate)
        case .zoned(_, let own) where !isDate:
            .zoned(own.rules.civil(at: instant(floatingIn: zone.rules)), own)
        case .utc where !isDate: .utc(instant(floatingIn: zone.rules))
        default: self
        }
    }
}

extension Event.Kind {
    /// The values of STATUS that a component may have (RFC 5545 section 3.8.1.11).
    fileprivate var statuses: Set<ByteString> {
        switch self {
        case .event: ["CONFIRMED", "TENTATIVE", "CANCELLED"]
        case .toDo: ["NEEDS-ACTION", "IN-PROCESS", "COMPLETED", "CANCELLED"]
        case .journal: ["DRAFT", "FINAL", "CANCELLED"]
        case .freeBusy: []
        }
    }
}

extension ContentLine {
    /// Whether no reader must get it. libical's notes on another program's file are not part of an event.
    var isUnpublished: Bool { name == "REQUEST-STATUS" || name.hasPrefix("X-LIC-") || !hasLegalValue }

    /// Whether a property with a fixed set of values has one of them.
    fileprivate var hasLegalValue: Bool {
        switch name {
        case "STATUS", "CLASS", "TRANSP": false
        case "PRIORITY": Int(value).map((0...9).contains) ?? false
        case "GEO":
            value.split(separator: ";", omittingEmptySubsequences: false).map { Double($0) != nil } == [true, true]
        case "PERCENT-COMPLETE": Int(value).map((0...100).contains) ?? false
        default: true
        }
    }
}
