// SPDX-License-Identifier: Apache-2.0

/// Combines what is reported about the calendars of a file into one result.
struct ReadingSummary {
    private var reading = CalendarReading(format: .calendar)
    private var resolutions: Set<TimeZoneResolution> = []
    private var found = 0
    private var isEmptyCalendar = false
    private var isContacts = false
    private var isVersion1 = false
    /// Whether an event was read, in the added calendars or before.
    var hasEvents = false

    /// - Parameter found: the number of the calendar's components with a place in time, readable or not.
    mutating func add(_ builder: CalendarBuilder, _ raw: RawCalendar, found count: Int) {
        found += count
        isEmptyCalendar = isEmptyCalendar || !raw.isImplicit
        isContacts = isContacts || raw.unknown.keys.contains("VCARD")
        hasEvents = hasEvents || !builder.calendar.events.isEmpty
        isVersion1 = isVersion1 || builder.isVersion1
        reading.calendars.append(builder.calendar)
        reading.lines.append(builder.lines)
        reading.skipped += builder.skipped
        for resolution in builder.resolutions where resolutions.insert(resolution).inserted {
            reading.timeZones.append(resolution)
        }
    }

    /// The result, once all calendars are added; `problems` returns those in which the refusal's reason is looked for.
    consuming func finished(
        _ tree: ComponentTree, limits: CalendarReader.Limits, log: inout ProblemLog,
        problems: (ProblemLog) -> [Problem]
    ) -> CalendarReading {
        if tree.overLimit > 0 {
            reading.skipped += tree.overLimit
            log.add(
                .error, "too-many-components", line: 0, .tooManyEntries,
                "The file has \(tree.overLimit, .count) more entries than the limit of \(limits.components, .limit); they are lost."
            )
        }
        if isVersion1 {
            reading.format = .vCalendar1
        } else if tree.calendars.count > 1 {
            reading.format = .calendars
        } else if tree.calendars.first?.isImplicit == true {
            reading.format = .components
        }
        reading.problems = problems(log)
        if !hasEvents { refuse() }
        return reading
    }

    /// Sets the sentence that says why nothing could be read.
    private mutating func refuse() {
        if found > 0 {
            // A missing value has its actual reason on a later line.
            let missing: Set<Problem.Code> = ["missing-start", "recurrence-id-unreadable"]
            let errors = reading.problems.filter { $0.severity == .error }
            let reason =
                (errors.first { !missing.contains($0.code) } ?? errors.first)?.sentence ?? Sentence(ofOthers: "")
            reading.refusalSentence =
                found == 1
                ? Sentence(.entriesUnreadable, "Its one entry could not be read. \(reason, .sentence)", count: 1)
                : Sentence(
                    .entriesUnreadable, "None of its \(found, .count) entries could be read. \(reason, .sentence)")
        } else if isEmptyCalendar {
            let broken: Set<Problem.Code> = ["missing-end", "line-not-property", "line-too-long"]
            if let first = reading.problems.first(where: { broken.contains($0.code) }) {
                reading.refusalSentence = Sentence(
                    .calendarUnreadable,
                    "A calendar begins but holds no entry that can be read. \(first.sentence, .sentence)")
            }
        } else {
            if isContacts { reading.format = .contacts }
            reading.refusalSentence =
                reading.format.refusal
                ?? Sentence(.fileWithoutEntries, "The file holds no event, to-do or journal entry.")
        }
    }
}
