// SPDX-License-Identifier: Apache-2.0

/// Makes one calendar of values from its lines and components.
struct CalendarBuilder {
    private(set) var calendar = ICalendar()
    private(set) var lines: [ClosedRange<Int>] = []
    private(set) var skipped = 0
    private(set) var isVersion1 = false
    var zones: ZoneResolver
    var log: ProblemLog
    let options: CalendarReader.Options
    let bytes: [UInt8]
    /// Used again for every component, so that its memory is asked for once.
    var slice = SliceText()

    private let raw: RawCalendar

    init(_ raw: RawCalendar, text: SourceText, options: CalendarReader.Options, log: consuming ProblemLog) {
        self.raw = raw
        self.options = options
        self.log = log
        bytes = text.bytes
        zones = ZoneResolver(definitions: [], calendarZone: nil, assumed: nil)
        var zoneName: String?
        for line in raw.lines.prefix(options.limits.properties) {
            guard let property = Property(bytes, line) else { continue }
            add(property, zoneName: &zoneName)
        }
        takeColor()
        let definitions = raw.zones.compactMap { TimeZoneDefinition.read($0, in: bytes, log: &self.log) }
        zones = ZoneResolver(definitions: definitions, calendarZone: zoneName, assumed: options.assumedTimeZone)
        for (name, count) in raw.unknown.sorted(by: { $0.key < $1.key }) {
            self.log.add(
                .warning, "unknown-component", line: raw.line, text: name,
                "\(count == 1 ? "A component" : "\(count) components") of a kind that is not read here \(count == 1 ? "was" : "were") left out."
            )
        }
    }

    /// Takes COLOR, and Apple's form of it when that says the same, into their field; others stay as they are.
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
                    .warning, "calendar-scale", line: property.line, text: property.text,
                    "Only the Gregorian calendar is known; the dates were read as its dates.")
            }
        case "PRODID": calendar.productID = calendar.productID ?? text()
        case "METHOD": calendar.method = calendar.method ?? property.trimmed.uppercased()
        // RFC 7986's names go before the older ones, wherever they stand.
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
        default:
            if property.name == "X-WR-TIMEZONE" { zoneName = zoneName ?? text() }
            calendar.otherProperties.append(property.contentLine)
        }
    }

    /// Reads every component; one that cannot be read is left out alone.
    mutating func readComponents(uids: inout [String: Int]) {
        calendar.events.reserveCapacity(raw.components.count)
        lines.reserveCapacity(raw.components.count)
        for component in raw.components {
            let before = log.problems.count
            var reader = ComponentReader(component, bytes: bytes)
            guard var event = reader.read(into: &self) else {
                skipped += 1
                if let uid = reader.uid { log.setUID(uid, from: before) }
                continue
            }
            if event.uid.isEmpty {
                event.uid = reader.contentUID()
                let count = uids[event.uid, default: 0] + 1
                uids[event.uid] = count
                if count > 1 { event.uid += "-\(count)" }
                if event.kind != .freeBusy {
                    log.add(
                        .repaired, "missing-uid", line: component.span.lowerBound,
                        "The UID was missing; one was made from the content, the same each time it is read.")
                }
            }
            log.setUID(event.uid, from: before)
            calendar.events.append(event)
            lines.append(component.span)
        }
        alignRecurrenceIDs()
    }

    /// A replacement in an all-day series names a day, as the series does (RFC 5545 section 3.8.4.4).
    private mutating func alignRecurrenceIDs() {
        let series = calendar.events.filter { $0.recurrenceID == nil && $0.isAllDay }
        let allDay = Set(series.map(\.uid))
        for index in calendar.events.indices where allDay.contains(calendar.events[index].uid) {
            guard let recurrenceID = calendar.events[index].recurrenceID, !recurrenceID.isDate else { continue }
            calendar.events[index].recurrenceID = .date(recurrenceID.civilDate)
            log.add(
                .repaired, "recurrence-id-type", line: lines[index].lowerBound,
                "RECURRENCE-ID has a time where the series has days; its day was taken.")
        }
    }
}
