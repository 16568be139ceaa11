// SPDX-License-Identifier: Apache-2.0

extension Series {
    /// Makes separate series of overrides that repeat by themselves, if the series that they replace is missing.
    ///
    /// Lotus Notes sends a rescheduled series this way: RECURRENCE-ID;RANGE=THISANDFUTURE, and all of the dates as
    /// RDATEs. No calendar app shows more than one day of that. The first such override becomes the series and keeps
    /// the UID. A later one gets a UID derived from it, the same each time, and takes its dates from the earlier ones.
    /// An override of a single occurrence goes with the series that has the occurrence.
    ///
    /// - Parameter events: components with the same kind and UID; if the series is among them, they stay as they are.
    /// - Returns: each series with the overrides of its occurrences, the series itself first.
    public static func settled(_ events: [Event]) -> [[Event]] {
        guard events.contains(where: \.repeatsAsOverride), !events.contains(where: { $0.recurrenceID == nil }) else {
            return [events]
        }
        let newest = Series(master: nil, overrides: events).overrides.map { (position: $0.position, event: $0) }
        let repeating = newest.filter(\.event.repeatsAsOverride).enumerated()
            .sorted { ($0.element.position, $0.offset) < ($1.element.position, $1.offset) }.map(\.element)
        var groups: [(position: Int, events: [Event])] = []
        /// The dates of later series, by instant.
        var taken: Set<Int> = []
        for (index, (position, event)) in repeating.enumerated().reversed() {
            let next = index + 1 < repeating.count ? repeating[index + 1] : nil
            let isCut = event.appliesToFuture && next?.event.appliesToFuture == true
            guard let series = event.asSeries(before: isCut ? next?.position : nil, without: taken) else { continue }
            taken.formUnion(series.dates)
            groups.insert((position, [series.event]), at: 0)
        }
        var uids: Set<ByteString> = []
        for index in groups.indices {
            let uid = groups[index].events[0].uid
            let id = Instant(seconds: groups[index].position).basic
            var own = index == 0 ? uid : "\(uid)-\(id)"
            while !uids.insert(own).inserted { own += "-\(index)" }
            groups[index].events[0].uid = own
        }
        for (position, event) in newest where !event.repeatsAsOverride {
            let owner = max(groups.firstFitting { $0.position > position } - 1, 0)
            var event = event
            if let series = groups.isEmpty ? nil : groups[owner].events[0] {
                event.uid = series.uid
                event.nameOccurrence(like: series)
            } else {
                groups.append((position, []))
            }
            groups[owner].events.append(event)
        }
        return groups.map(\.events)
    }

    /// Settles the series of a whole file, and leaves all other components in their order.
    ///
    /// An override that names a day of a series with times names the occurrence on that day instead, so that one
    /// occurrence has one name.
    ///
    /// - Returns: the components, each with the place in `events` of the component that it comes from, and those that
    ///   are no longer there, because a newer version or a later series has all of their dates. Settled series come
    ///   where the first of their components was.
    public static func settled(file events: [Event]) -> (kept: [(event: Event, position: Int)], gone: [Int]) {
        var (kept, gone) = separated(events)
        let days = Set(
            kept.lazy.filter { $0.event.recurrenceID?.isDate ?? false }.map { ByteString($0.event.uid) })
        guard !days.isEmpty else { return (kept, gone) }
        var masters: [ByteString: Event] = [:]
        for (event, _) in kept where event.recurrenceID == nil && days.contains(ByteString(event.uid)) {
            masters[ByteString(event.uid)] = event
        }
        for index in kept.indices where kept[index].event.recurrenceID?.isDate ?? false {
            guard let master = masters[ByteString(kept[index].event.uid)] else { continue }
            kept[index].event.nameOccurrence(like: master)
        }
        return (kept, gone)
    }

    private static func separated(_ events: [Event]) -> (kept: [(event: Event, position: Int)], gone: [Int]) {
        let whole = events.enumerated().map { (event: $1, position: $0) }
        var orphans = Set(events.lazy.filter { $0.kind == .event && $0.repeatsAsOverride }.map { ByteString($0.uid) })
        guard !orphans.isEmpty else { return (whole, []) }
        for event in events where event.recurrenceID == nil { orphans.remove(ByteString(event.uid)) }
        guard !orphans.isEmpty else { return (whole, []) }
        var groups: [ByteString: [Int]] = [:]
        for (event, position) in whole where event.kind == .event && orphans.contains(ByteString(event.uid)) {
            groups[ByteString(event.uid), default: []].append(position)
        }
        var (kept, gone): ([(event: Event, position: Int)], [Int]) = ([], [])
        kept.reserveCapacity(events.count)
        for (event, position) in whole {
            guard event.kind == .event, let group = groups[ByteString(event.uid)] else {
                kept.append((event, position))
                continue
            }
            guard group[0] == position else { continue }
            let settled = settled(group.map { events[$0] }).flatMap(\.self)
            for var event in settled {
                // Whenever its series arrives, that is the newer version.
                (event.sequence, event.lastModified) = (0, nil)
                kept.append((event, position))
            }
            gone += group.suffix(max(0, group.count - settled.count))
        }
        return (kept, gone)
    }
}

extension Event {
    /// Whether the event replaces an occurrence and has its own rules or dates.
    fileprivate var repeatsAsOverride: Bool {
        recurrenceID != nil && start != nil && !(recurrence.rules.isEmpty && recurrence.additions.isEmpty)
    }

    /// Gives the replaced occurrence on the clock of its series, because some readers compare only this form (RFC 5545
    /// section 3.8.4.4).
    fileprivate mutating func nameOccurrence(like series: Event) {
        if let start = series.start, !start.isDate, let id = recurrenceID, id.isDate {
            var wall = start.civil
            wall.date = id.civilDate
            recurrenceID = start.with(civil: wall)
            return
        }
        guard case .zoned(_, let zone)? = series.start, let id = recurrenceID, !id.isDate else { return }
        recurrenceID = .zoned(zone.rules.civil(at: id.instant(floatingIn: zone.rules)), zone)
    }

    /// The replaced occurrence's place on one time line, whatever zone its time has.
    fileprivate var position: Int { recurrenceID?.instant(floatingIn: FixedOffset.utc).seconds ?? 0 }

    /// The override as a series.
    ///
    /// - Parameters:
    ///   - end: the instant from which another series goes on, or nil.
    ///   - taken: the dates of other series.
    /// - Returns: the series with its dates by instant, without those of its rules; nil when no part of it is left.
    fileprivate func asSeries(before end: Int?, without taken: Set<Int>) -> (event: Event, dates: [Int])? {
        func instant(_ time: EventTime) -> Int { time.instant(floatingIn: FixedOffset.utc).seconds }
        func isOwn(_ time: EventTime) -> Bool { instant(time) < end ?? Int.max && !taken.contains(instant(time)) }
        guard let start else { return nil }
        var series = self
        series.recurrenceID = nil
        series.appliesToFuture = false
        series.recurrence.additions.removeAll { !isOwn($0.start) }
        if let end {
            series.recurrence.rules = recurrence.rules.map { $0.ended(before: end, from: start) }
        }
        if !series.recurrence.rules.isEmpty {
            series.recurrence.exclusions += taken.sorted().map {
                switch start {
                case .date: .date(Instant(seconds: $0).utc.date)
                // The instants of times without a zone are those of UTC's clock.
                case .floating: .floating(Instant(seconds: $0).utc)
                case .utc, .zoned: .utc(Instant(seconds: $0))
                }
            }
        }
        if !isOwn(start), series.recurrence.rules.isEmpty {
            guard let first = series.recurrence.additions.min(by: { instant($0.start) < instant($1.start) }) else {
                return nil
            }
            let length = OccurrenceLength(of: self, start: start)
            series.start = first.start
            series.end = first.end ?? .time(length.end(from: first.start))
        }
        let dates =
            series.recurrence.additions.map { instant($0.start) } + [series.start.map(instant)].compactMap(\.self)
        return (series, dates)
    }
}

extension RecurrenceRule {
    /// The rule without its times from an instant on.
    fileprivate func ended(before end: Int, from start: EventTime) -> RecurrenceRule {
        let last = Instant(seconds: end - 1)
        let limit = start.clockRules(floatingIn: FixedOffset.utc).civil(at: last)
        var budget = RecurrenceBudget(steps: RecurrenceBudget.perSeries)
        // A rule that ends sooner stays as it is.
        let later = times(startingAt: start, from: limit.adding(seconds: 1), maximum: 1, budget: &budget)
        if later.isComplete, later.walls.isEmpty { return self }
        var rule = self
        rule.count = nil
        switch start {
        case .date: rule.until = .date(limit.date)
        case .floating: rule.until = .floating(limit)
        case .utc, .zoned: rule.until = .utc(last)
        }
        return rule
    }
}
