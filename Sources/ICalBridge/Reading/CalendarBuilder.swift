// SPDX-License-Identifier: Apache-2.0

/// Builds a calendar value from its lines and components.
struct CalendarBuilder {
    private(set) var calendar = ICalendar()
    private(set) var lines: [ClosedRange<Int>] = []
    private(set) var skipped = 0
    private(set) var isVersion1 = false
    /// Every zone that a time named, in order of first appearance.
    private(set) var resolutions: [TimeZoneResolution] = []
    var log: ProblemLog
    private(set) var options: CalendarReader.Options
    let bytes: [UInt8]

    private(set) var table: ZoneTable
    private var metZones: Set<ByteString> = []
    private var isFloatingMet = false

    private let raw: RawCalendar

    init(_ raw: RawCalendar, bytes: [UInt8], options: CalendarReader.Options, log: consuming ProblemLog) {
        self.raw = raw
        self.options = options
        self.log = log
        self.bytes = bytes
        table = ZoneTable(ZoneResolver(definitions: [], calendarZone: nil, assumed: nil))
        var zoneName: String?
        for line in raw.lines.prefix(options.limits.properties) {
            guard let property = Property(bytes, line) else { continue }
            add(property, zoneName: &zoneName)
        }
        takeColor()
        if calendar.boundOwnMarks() { self.log.addCutMarks(line: raw.line) }
        if calendar.name?.hasHiddenCharacters == true || calendar.description?.hasHiddenCharacters == true {
            self.log.addHiddenCharacters(line: raw.line)
        }
        if calendar.productID == ICalendar.kalendsProductID { self.options.mendsTexts = false }
        let definitions = raw.zones.compactMap { TimeZoneDefinition.read($0, in: bytes, log: &self.log) }
        table = ZoneTable(
            ZoneResolver(definitions: definitions, calendarZone: zoneName, assumed: options.assumedTimeZone))
        for (name, count) in raw.unknown.sorted(by: { $0.key < $1.key }) {
            self.log.add(
                .warning, "unknown-component", line: raw.line, text: name.string,
                count == 1
                    ? Sentence(.kindsUnread, "A component of a kind that is not read here was left out.", count: 1)
                    : Sentence(
                        .kindsUnread, "\(count, .count) components of a kind that is not read here were left out."))
        }
    }

    /// Moves COLOR, and Apple's form of it when both agree, into the field; other properties stay as they are.
    private mutating func takeColor() {
        let lines = calendar.otherProperties
        guard let color = lines.first(where: { $0.name == "COLOR" }).flatMap({ CSSColor($0.value) }) else { return }
        let apple = lines.filter { $0.name == "X-APPLE-CALENDAR-COLOR" }
        guard apple.allSatisfy({ $0.value.uppercased().hasPrefix(color.hex) }) else { return }
        calendar.color = color.name
        calendar.otherProperties.removeAll { $0.name == "COLOR" || $0.name == "X-APPLE-CALENDAR-COLOR" }
    }

    private mutating func add(_ property: Property, zoneName: inout String?) {
        guard !property.isEmpty else { return }
        func text() -> String { TextValue.decoded(property.value.trimmingSpaces) }
        switch property.name {
        case "VERSION": isVersion1 = property.trimmed == "1.0"
        case "CALSCALE":
            if property.trimmed.uppercased() != "GREGORIAN" {
                log.add(
                    .warning, "calendar-scale", line: property.line, text: property.text, .notGregorian,
                    "Only the Gregorian calendar is known; the dates were read as its dates.")
            }
        case "PRODID": calendar.productID = calendar.productID ?? text()
        case "METHOD": calendar.method = calendar.method ?? property.trimmed.uppercased()
        // RFC 7986's names take precedence over the older ones, wherever they appear.
        case "NAME": calendar.name = text()
        case "X-WR-CALNAME": calendar.name = calendar.name ?? text()
        case "DESCRIPTION": calendar.description = text()
        case "X-WR-CALDESC": calendar.description = calendar.description ?? text()
        case "REFRESH-INTERVAL", "X-PUBLISHED-TTL":
            if let duration = ICalDuration(text: property.trimmed) {
                if property.name == "REFRESH-INTERVAL" || calendar.refreshInterval == nil {
                    calendar.refreshInterval = duration
                }
            } else {
                calendar.otherProperties.append(property.contentLine)
            }
        case "X-LIC-ERROR":
            log.add(.repaired, "library-error", line: property.line, text: property.text, ComponentReader.libraryError)
        default:
            if property.name == "X-WR-TIMEZONE" { zoneName = zoneName ?? text() }
            calendar.otherProperties.append(property.contentLine)
        }
    }

    /// Reads every component, on several threads where that is faster; the result is the same.
    mutating func readComponents(uids: inout MadeUIDs, isDone: (@Sendable (Int) -> Void)? = nil) {
        reserve(raw.components.count)
        read(raw.components, in: bytes, uids: &uids, isDone: isDone)
        settleReplacements()
    }

    /// Adds every component of the calendar as others have read them, in the order of the file.
    mutating func add(_ batches: [ComponentBatch], found: Int, uids: inout MadeUIDs) {
        reserve(found)
        for batch in batches { add(batch, uids: &uids) }
        settleReplacements()
    }

    private mutating func reserve(_ count: Int) {
        calendar.events.reserveCapacity(count)
        lines.reserveCapacity(count)
    }

    /// Adjusts overrides to their series once all events of the calendar are read.
    private mutating func settleReplacements() {
        let replacements = calendar.events.filter { $0.recurrenceID != nil }
        guard !replacements.isEmpty else { return }
        var series = ReplacedSeries(missing: Set(replacements.map(\.uid)))
        for event in calendar.events where event.recurrenceID == nil { series.meet(event) }
        settleReplacements(series)
    }

    /// Reads some components of the calendar that are in a separate text.
    mutating func read(
        _ components: [RawComponent], in bytes: [UInt8], uids: inout MadeUIDs, isDone: (@Sendable (Int) -> Void)? = nil
    ) {
        ComponentBatch.readAll(components, bytes: bytes, table, options: options, isDone: isDone) {
            add($0, uids: &uids)
        }
    }

    /// Removes and returns the events read so far, with their lines.
    mutating func takeEvents() -> (events: [Event], lines: [ClosedRange<Int>]) {
        defer { (calendar.events, lines) = ([], []) }
        return (calendar.events, lines)
    }

    /// Adds what a thread has read; batches arrive in the order of the file.
    private mutating func add(_ batch: ComponentBatch, uids: inout MadeUIDs) {
        var batch = batch
        batch.log.settleUIDs { event in
            let made = batch.events[event].uid
            let count = uids.add(made)
            if count > 1 { batch.events[event].uid = "\(made)-\(count)" }
            return batch.events[event].uid
        }
        log.append(batch.log) { mark, uid, log in
            switch mark {
            case .zone(let tzid, let line):
                guard metZones.insert(ByteString(tzid)).inserted else { return }
                let entry = table.entry(tzid)
                for problem in entry.problems {
                    var problem = problem
                    (problem.line, problem.uid) = (line, uid)
                    log.add(problem)
                }
                if let resolution = entry.resolution, resolutions.count < 1000 { resolutions.append(resolution) }
            case .floatingZone:
                guard !isFloatingMet else { return }
                isFloatingMet = true
                if let resolution = table.floating.resolution { resolutions.append(resolution) }
            case .madeUID(_, let line, let isReported, _):
                guard isReported else { return }
                log.add(
                    .repaired, "missing-uid", line: line, uid: uid, .uidMade,
                    "The UID was missing; one was made from the content, the same each time it is read.")
            }
        }
        skipped += batch.skipped
        calendar.events.append(contentsOf: batch.events)
        lines.append(contentsOf: batch.lines)
    }

    /// Adjusts overrides of single occurrences to their series, and reports those whose series is missing.
    mutating func settleReplacements(_ series: ReplacedSeries) {
        guard !series.isEmpty else { return }
        for index in calendar.events.indices {
            guard let recurrenceID = calendar.events[index].recurrenceID else { continue }
            let (uid, line) = (calendar.events[index].uid, lines[index].lowerBound)
            if series.missing.contains(uid) {
                log.add(
                    .warning, "orphan-override", line: line, uid: uid, .overrideAlone,
                    "This event replaces one occurrence of a series that is not in the file; it was read as a separate event."
                )
            }
            if series.present.contains(uid), !calendar.events[index].recurrence.isEmpty {
                calendar.events[index].recurrence = Recurrence()
                log.add(
                    .repaired, "exception-with-rule", line: line, uid: uid, .overrideRepeats,
                    "It replaces one day of its series and repeats by itself; a day does not repeat, so its rules were left out."
                )
            }
            // An override names its occurrence in the form of the series' start (RFC 5545 section 3.8.4.4).
            if let start = series.starts[uid], let named = recurrenceID.aligned(toStart: start) {
                calendar.events[index].recurrenceID = named
                log.add(
                    .repaired, "recurrence-id-type", line: line, uid: uid,
                    start.isDate
                        ? Sentence(
                            .recurrenceIDTime,
                            "RECURRENCE-ID has a time where the series has days; only its day was used.")
                        : Sentence(
                            .recurrenceIDForm,
                            "RECURRENCE-ID has another form than the start of its series; it was read in that form."))
            }
        }
    }
}

/// The series with overrides in a calendar, by UID.
struct ReplacedSeries {
    /// The series that are not in the calendar, as far as is known.
    private(set) var missing: Set<ByteString>
    /// The series, of those, that are in the calendar after all.
    private(set) var present: Set<ByteString> = []
    /// The start of each of those.
    private(set) var starts: [ByteString: EventTime] = [:]

    init(missing: Set<ByteString> = []) {
        // A UID that was derived from the content cannot be the UID of a series.
        self.missing = missing.filter { !$0.string.hasPrefix(ComponentReader.madeUIDPrefix) }
    }

    var isEmpty: Bool { missing.isEmpty && present.isEmpty }

    /// Registers an event that replaces no occurrence.
    mutating func meet(_ event: Event) {
        guard let uid = missing.remove(ByteString(event.uid)) else { return }
        present.insert(uid)
        starts[uid] = event.start
    }
}
