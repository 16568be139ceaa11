// SPDX-License-Identifier: Apache-2.0

/// The facts about a file that the rules about calendar apps need; counted once.
struct FileFacts: Sendable {
    /// The size in bytes; 0 for a file in another form, which no app reads directly.
    let size: Int
    let format: SourceFormat
    private let problems: [Problem]

    // Counts of the entries.
    private(set) var entries = 0
    private(set) var events = 0
    private(set) var toDos = 0
    private var toDoUIDs: Set<ByteString> = []
    private(set) var cancelled = 0
    private(set) var alarms = 0
    private(set) var withTags = 0
    private(set) var freeWithoutMark = 0
    /// Events with the UID of an earlier event, not counting replacements of single occurrences.
    private(set) var duplicates = 0
    private(set) var yearlyOnce = 0
    /// Series whose DTSTART no rule gives and no RDATE names, and those that repeat only by dates.
    private(set) var startsNotNamed = 0
    private(set) var datesAlone = 0
    private var budget = RecurrenceBudget(steps: 1000 * RecurrenceBudget.perSeries)
    /// Events with a time of day, those of them in UTC, those in UTC that repeat, and those without a zone.
    private(set) var timed = 0
    private(set) var utcTimes = 0
    private(set) var utcSeries = 0
    private(set) var floating = 0
    /// Whether times without a zone are meant to be in the zone of X-WR-TIMEZONE.
    let isFloatingInCalendarZone: Bool
    /// EXDATEs and RECURRENCE-IDs in another form or zone than the DTSTART that they refer to.
    private(set) var strayExceptions = 0
    /// Replacements of single occurrences with a lower SEQUENCE than their series.
    private(set) var staleOverrides = 0
    let methods: Set<ByteString>

    // Facts from the bytes.
    /// What python's ical makes of them; nil for a calendar in another form.
    let strict: StrictReading?
    /// Why Thunderbird shows none of them; nil where it does, and for a calendar in another form.
    let thunderbird: ThunderbirdReading.Fault?
    var hasWRName = false
    /// The components outside all others that end, by whether each is a VCALENDAR; any END ends what began last.
    var roots: [Bool] = []
    var rootsBeforeNUL = 0
    var undeclaredZones: [String] = []
    var zonesByDates: [String] = []
    var zonesWithSeconds: [String] = []
    var zonesWithZonedStart: [String] = []
    var largeSequenceLine: Int?
    var splitCharacterLine: Int?

    init(_ reading: CalendarReading, bytes: [UInt8]) {
        format = reading.format
        size = Self.isText(format) ? bytes.count : 0
        problems = reading.problems
        methods = Set(reading.calendars.compactMap(\.method))
        isFloatingInCalendarZone = reading.timeZones.contains { $0.how == .calendar }
        strict = format.isOwnText ? StrictReading(bytes) : nil
        thunderbird = size > 0 ? ThunderbirdReading(bytes).fault : nil
        for calendar in reading.calendars { count(calendar.events) }
        countDates(of: reading, bytes)
        // The facts describe the file as it is, not what the reader made of it.
        withTags += count(of: "html-description") { _ in true } ?? 0
        cancelled -= count(of: "cancelled-by-title") { _ in true } ?? 0
        strayExceptions += problems.reduce(0) { $0 + $1.mendedExceptions }
        if Self.isText(format) {
            read(bytes, zonesInUse: reading.timeZones)
        } else {
            hasWRName = reading.calendars.contains { $0.name != nil }
        }
    }

    /// Whether the bytes are iCalendar, however damaged.
    private static func isText(_ format: SourceFormat) -> Bool {
        switch format {
        case .calendar, .calendars, .components: true
        default: false
        }
    }

    /// Whether the file contains a calendar, in one of the forms that are read.
    var isCalendar: Bool {
        Self.isText(format) || !problems.contains { $0.code == "not-a-calendar" || $0.code == "form" }
    }

    /// Whether part of the file is not UTF-8.
    var isForeign: Bool { problems.contains { $0.code == "not-utf8" } }

    /// The size in millions of bytes, with one decimal.
    var megabytes: String { "\((size / 1_000_000).grouped).\(size / 100_000 % 10)" }

    /// The line of the first problem with one of these codes.
    func line(of codes: Set<Problem.Code>) -> Int? { problems.first { codes.contains($0.code) }?.line }

    /// How many problems of a kind there are; nil when the file has none.
    func count(of code: Problem.Code, where holds: (Problem) -> Bool) -> Int? {
        let count = problems.reduce(0) { $1.code == code && holds($1) ? $0 + ($1.unlisted ?? 1) : $0 }
        return count > 0 ? count : nil
    }

    /// How many events of the file have an EXRULE; nil without any.
    var withExclusionRules: Int? {
        count(of: "exclusion-rule") { problem in problem.uid.map { !toDoUIDs.contains(ByteString($0)) } ?? true }
    }

    private mutating func count(_ all: [Event]) {
        var masters: [ByteString: Event] = [:]
        for event in all where event.recurrenceID == nil {
            if masters.updateValue(event, forKey: event.uid) != nil { duplicates += 1 }
        }
        for event in all {
            entries += 1
            if event.kind == .toDo {
                toDos += 1
                toDoUIDs.insert(ByteString(event.uid))
            }
            guard event.kind == .event else { continue }
            events += 1
            count(event)
            count(event, among: masters)
        }
    }

    private mutating func count(_ event: Event) {
        if event.isCancelled { cancelled += 1 }
        if !event.alarms.isEmpty { alarms += 1 }
        if let text = event.description, Self.hasTags(text) { withTags += 1 }
        if event.isTransparent == true,
            !event.otherProperties.contains(where: { $0.name == "X-MICROSOFT-CDO-BUSYSTATUS" })
        {
            freeWithoutMark += 1
        }
        if event.recurrence.rules.contains(where: { $0.frequency == .yearly && $0.count == 1 }) { yearlyOnce += 1 }
        if !budget.within(RecurrenceBudget.perSeries, { event.namesStart(&$0) }) { startsNotNamed += 1 }
        switch event.start {
        case .utc:
            timed += 1
            utcTimes += 1
            // A second, minute or hour has the same length on every clock.
            let steady: Set<RecurrenceRule.Frequency> = [.secondly, .minutely, .hourly]
            if event.recurrence.rules.contains(where: { !steady.contains($0.frequency) }) { utcSeries += 1 }
        case .floating:
            timed += 1
            floating += 1
        case .zoned: timed += 1
        case .date, nil: break
        }
    }

    /// Counts the series that repeat only by dates, by the file's lines: the reader takes away a rule that gives the start and
    /// nothing else, and a date that names it.
    private mutating func countDates(of reading: CalendarReading, _ bytes: [UInt8]) {
        var lines: FileLines?
        for (calendar, spans) in zip(reading.calendars, reading.lines) {
            for (event, span) in zip(calendar.events, spans) {
                guard event.kind == .event, event.recurrenceID == nil, event.recurrence.rules.isEmpty,
                    !event.recurrence.additions.isEmpty
                else { continue }
                var file = lines ?? FileLines(bytes)
                defer { lines = file }
                let begin = span.lowerBound
                guard file.first(["RRULE"], inComponentAt: begin) == nil else { continue }
                datesAlone += 1
                let start = file.values(of: "DTSTART", inComponentAt: begin).first
                let isNamed = start.map { file.values(of: "RDATE", inComponentAt: begin).contains($0) } ?? true
                if !isNamed, !event.listsStart { startsNotNamed += 1 }
            }
        }
    }

    private mutating func count(_ event: Event, among masters: [ByteString: Event]) {
        if let start = event.start {
            strayExceptions += event.recurrence.exclusions.count { !Self.isAlike($0, start) }
        }
        guard let original = event.recurrenceID, let master = masters[event.uid] else { return }
        if event.sequence < master.sequence { staleOverrides += 1 }
        if let start = master.start, !Self.isAlike(original, start) { strayExceptions += 1 }
    }

    /// Whether two times have the same form and zone.
    private static func isAlike(_ a: EventTime, _ b: EventTime) -> Bool {
        switch (a, b) {
        case (.date, .date), (.floating, .floating), (.utc, .utc): true
        case (.zoned(_, let one), .zoned(_, let two)): one.identifier == two.identifier
        default: false
        }
    }

    /// Whether a text contains one of the tags that apps write into descriptions.
    private static func hasTags(_ text: String) -> Bool {
        guard text.utf8.contains(UInt8(ascii: "<")) else { return false }
        let lower = text.lowercased()
        return ["<b>", "<br", "<p>", "<p ", "<a href", "<i>", "<u>", "<ul>", "<li>", "<div", "<span", "<html"]
            .contains { lower.contains($0) }
    }
}

extension Event {
    /// Whether a date names the start or leaves it out, perhaps on another clock.
    fileprivate var listsStart: Bool {
        guard let instant = start?.instant(floatingIn: FixedOffset.utc) else { return false }
        let listed = recurrence.additions.map(\.start) + recurrence.exclusions
        return listed.contains { $0.instant(floatingIn: FixedOffset.utc) == instant }
    }

    /// Whether a rule gives the start of a series, or a date names it or leaves it out; true without rules, and where the
    /// budget is too small.
    fileprivate func namesStart(_ budget: inout RecurrenceBudget) -> Bool {
        guard let start, recurrenceID == nil, !recurrence.rules.isEmpty, !listsStart else { return true }
        return recurrence.rules.contains {
            $0.gives([start.civil], startingAt: start, startConvention: .ifItMatches, budget: &budget)?.isEmpty != true
        }
    }
}

extension Problem {
    /// How many dates that name occurrences were put on the clock of their series by the reader.
    fileprivate var mendedExceptions: Int {
        switch sentence.code {
        case .recurrenceIDForm: return 1
        case .listClock:
            if case .number(let count)? = sentence.arguments.first?.value { return count }
            return 0
        default: return 0
        }
    }
}
