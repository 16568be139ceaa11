// SPDX-License-Identifier: Apache-2.0

/// Some neighbouring events of a file, with what was wrong in them.
public struct CalendarSlice: Sendable {
    /// The calendar's place among those of the file, from 0.
    public var calendar: Int
    public var events: [Event]
    /// The lines of the file, from BEGIN to END, of each event.
    public var lines: [ClosedRange<Int>]
    /// What was found since the last slice; by line within each component, and of the whole file in the first.
    public var problems: [Problem]

    public init(calendar: Int, events: [Event], lines: [ClosedRange<Int>], problems: [Problem]) {
        self.calendar = calendar
        self.events = events
        self.lines = lines
        self.problems = problems
    }
}

extension CalendarReader {
    /// Reads a file of any length slice by slice, with no more in memory than a part of it.
    ///
    /// What the end of a file may say of its beginning (time zones, the calendar's own properties, days whose
    /// replacements name a time) is collected first, so the source is read two or three times, and once again when it
    /// is Chinese. All slices together are what `read(_:)` gives. Memory grows with the longest component, the
    /// definitions of zones, and the events without a UID; `options.limits` hold as there.
    ///
    /// - Parameters:
    ///   - open: begins the source again and returns what gives its next bytes, nil at the end. It is called up to four
    ///     times and has to give the same bytes each time; its errors are passed on.
    ///   - use: takes each slice, in the order of the file; an error ends the reading and is passed on.
    /// - Returns: what is reported about the whole file: its calendars without events, the zones, what was skipped, the
    ///   refusal, and the problems that came with no slice.
    public func stream(
        rereading open: () throws -> (() throws -> [UInt8]?), _ use: (CalendarSlice) throws -> Void
    ) throws -> CalendarReading {
        var log = ProblemLog(limit: options.limits.problemsOfAKind)
        var options = options
        var survey = try FileSurvey(options, open, log: &log)
        if let charset = survey.charset {
            // It is known only at the end, but holds from the beginning.
            options.guessed = charset
            log = ProblemLog(limit: options.limits.problemsOfAKind)
            survey = try FileSurvey(options, open, log: &log)
        }
        if let refused = survey.refusal(of: self, log) { return refused }
        let series = try survey.replacedSeries(options, open)
        var uids = MadeUIDs()
        var builders: [CalendarBuilder] = []
        /// Until an event is there, a refusal may have to name any of the problems.
        var told: [Problem] = []
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
            if summary.hasEvents { told = [] } else { told += problems }
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
            return ProblemLog.sorted(told + rest)
        }
        reading.problems = rest
        return reading
    }
}
