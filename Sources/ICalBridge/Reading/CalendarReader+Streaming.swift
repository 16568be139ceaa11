// SPDX-License-Identifier: Apache-2.0

/// Some neighbouring events of a file, with the problems in them.
public struct CalendarSlice: Sendable {
    /// The index of the calendar within the file, from 0.
    public var calendar: Int
    public var events: [Event]
    /// The lines of each event in the file, from BEGIN to END.
    public var lines: [ClosedRange<Int>]
    /// The problems found since the last slice, by line within each component; those of the whole file are in the first
    /// slice.
    public var problems: [Problem]

    public init(calendar: Int, events: [Event], lines: [ClosedRange<Int>], problems: [Problem]) {
        self.calendar = calendar
        self.events = events
        self.lines = lines
        self.problems = problems
    }
}

extension CalendarReader {
    /// Reads a file of any length slice by slice, with only a part of it in memory.
    ///
    /// What the end of a file may define for its beginning (time zones, the calendar's own properties, series whose
    /// overrides name a time) is collected first, so the source is read two or three times, and once more when it is
    /// Chinese. All slices together equal the result of `read(_:)`. Memory grows with the longest component, the
    /// definitions of zones, and the events without a UID; `options.limits` apply as they do there.
    ///
    /// - Parameters:
    ///   - open: starts reading the source from its beginning and returns a function that returns the next bytes, nil
    ///     at the end. It is called up to four times and has to supply the same bytes each time; its errors are passed
    ///     on.
    ///   - use: receives each slice, in the order of the file; an error stops the reading and is passed on.
    /// - Returns: what is reported about the whole file: its calendars without events, the zones, the number of skipped
    ///   components, the refusal, and the problems that are in no slice.
    public func stream(
        rereading open: () throws -> (() throws -> [UInt8]?), _ use: (CalendarSlice) throws -> Void
    ) throws -> CalendarReading {
        var log = ProblemLog(limit: options.limits.problemsOfAKind)
        var options = options
        var survey = try FileSurvey(options, open, log: &log)
        if let charset = survey.charset {
            // The charset is known only at the end, but applies from the beginning.
            options.guessed = charset
            log = ProblemLog(limit: options.limits.problemsOfAKind)
            survey = try FileSurvey(options, open, log: &log)
        }
        if let refused = survey.refusal(of: self, log) { return refused }
        let series = try survey.replacedSeries(options, open)
        var uids = MadeUIDs()
        var builders: [CalendarBuilder] = []
        /// The problems so far: until an event has been read, a refusal may have to name any of them.
        var early: [Problem] = []
        var summary = ReadingSummary()
        func enter(_ calendar: Int) {
            while builders.count <= calendar {
                if let last = builders.indices.last { log = builders[last].log.taken() }
                builders.append(survey.builder(builders.count, options, log: log.taken()))
            }
        }
        try FileSurvey.walk(options, open) { calendar, components, bytes in
            enter(calendar)
            builders[calendar].read(components, in: bytes, uids: &uids)
            if let series = series[calendar] { builders[calendar].settleReplacements(series) }
            let (events, lines) = builders[calendar].takeEvents()
            let problems = builders[calendar].log.takeProblems()
            summary.hasEvents = summary.hasEvents || !events.isEmpty
            if summary.hasEvents { early = [] } else { early += problems }
            guard !events.isEmpty || !problems.isEmpty else { return }
            try use(CalendarSlice(calendar: calendar, events: events, lines: lines, problems: problems))
        }
        enter(survey.tree.calendars.count - 1)
        if let last = builders.indices.last { log = builders[last].log.taken() }
        for (index, builder) in builders.enumerated() {
            summary.add(builder, survey.tree.calendars[index], found: survey.found[index] ?? 0)
        }
        var rest: [Problem] = []
        var reading = summary.finished(survey.tree, limits: options.limits, log: &log) { log in
            rest = log.sorted()
            return ProblemLog.sorted(early + rest)
        }
        reading.problems = rest
        return reading
    }
}
