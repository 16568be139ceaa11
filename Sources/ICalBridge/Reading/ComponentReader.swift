// SPDX-License-Identifier: Apache-2.0

/// Reads one component: its properties are checked here, decoded by libical, and put together as an event.
struct ComponentReader {
    let raw: RawComponent
    let bytes: [UInt8]
    let kind: Event.Kind
    var line: Int { raw.span.lowerBound }

    /// What Swift reads without libical, until the event is made.
    var draft = Draft()

    struct Draft {
        var seen: Set<DecodedProperty.Field> = []
        var hasStart = false
        var status: String?
        var isTransparent: Bool?
        var classification: String?
        var isMarkedAllDay = false
        var appliesToFuture = false
        var rules: [Property] = []
        var exclusionRules: [Property] = []
        var listedValues = 0
        var alarms: [AlarmDraft] = []
        var others: [ContentLine] = []
        /// Properties that count against the limit.
        var counted = 0
        var uid: String?
    }

    init(_ raw: RawComponent, bytes: [UInt8]) {
        self.raw = raw
        self.bytes = bytes
        kind = Event.Kind(rawValue: raw.name) ?? .event
    }

    /// The UID, as far as it is known when the component cannot be read.
    var uid: String? { draft.uid }

    /// The event, or nil when it has no place in time; the reason is then in the log.
    mutating func read(into builder: inout CalendarBuilder) -> Event? {
        builder.slice.clear()
        // libical checks nothing against the component's kind, so that one name does for all four.
        builder.slice.begin("VEVENT")
        for line in raw.lines {
            guard let property = Property(bytes, line) else {
                builder.log.add(
                    .warning, "line-not-property", line: Int(line.number),
                    text: String(decoding: bytes[line.range.prefix(400)], as: UTF8.self),
                    "This line has no colon before a value and was left out.")
                continue
            }
            take(property, &builder)
        }
        takeChildren(&builder)
        builder.slice.end("VEVENT")
        builder.slice.terminate()
        guard let decoded = DecodedSlice(builder.slice.bytes) else {
            builder.log.add(
                .error, "component-refused", line: line, "libical makes nothing of this component; it is lost.")
            return nil
        }
        checkNothingIsLost(decoded, &builder)
        return event(from: decoded, &builder)
    }

    /// As many properties must come back from libical as went in.
    private func checkNothingIsLost(_ decoded: DecodedSlice, _ builder: inout CalendarBuilder) {
        var back: [DecodedProperty.Field: Int] = [:]
        for property in decoded.properties { back[property.field, default: 0] += 1 }
        for child in decoded.children {
            for property in child.properties { back[property.field, default: 0] += 1 }
        }
        for (field, count) in builder.slice.written where back[field, default: 0] < count {
            builder.log.add(
                .error, "property-refused", line: line, text: decoded.errors.first,
                "libical did not take \(field.rawValue); it is lost.")
        }
    }

    /// Sorts one property: to libical, to the draft, or to the ones kept as text.
    private mutating func take(_ property: Property, _ builder: inout CalendarBuilder) {
        // An empty value says nothing, and many apps write them.
        guard !property.isEmpty else { return }
        if !["EXDATE", "RDATE", "ATTENDEE"].contains(property.name) {
            draft.counted += 1
        } else {
            draft.listedValues += 1
        }
        guard draft.counted <= builder.options.limits.properties,
            draft.listedValues <= builder.options.limits.listedValues
        else {
            builder.log.add(
                .error, "too-many-properties", line: property.line, text: property.name,
                "The component has more properties than are read; this one is lost.")
            return
        }
        if property.hasTooManyParameters {
            builder.log.add(
                .warning, "too-many-parameters", line: property.line, text: property.name,
                "The property has more than \(Property.parameterLimit) parameters; the others were left out.")
        }
        switch property.name {
        case "UID": text(.uid, property, &builder)
        case "SUMMARY": text(.summary, property, &builder)
        case "DESCRIPTION": text(.description, property, &builder)
        case "LOCATION": text(.location, property, &builder)
        case "CATEGORIES": categories(property, &builder)
        case "URL":
            guard isFirst(.url, property, &builder) else { return }
            builder.slice.property(.url, property.value.trimmingSpaces.filter { $0 > 32 })
        case "SEQUENCE": sequence(property, &builder)
        case "STATUS": draft.status = draft.status ?? property.trimmed.uppercased()
        case "CLASS": draft.classification = draft.classification ?? property.trimmed.uppercased()
        case "TRANSP": transparency(property)
        case "DTSTART": time(.start, property, &builder)
        case "DTEND": time(.end, property, &builder)
        case "DUE": time(.due, property, &builder)
        case "RECURRENCE-ID":
            draft.appliesToFuture = property[parameter: "RANGE"]?.uppercased() == "THISANDFUTURE"
            time(.recurrenceID, property, &builder)
        case "DURATION": duration(property, &builder)
        case "DTSTAMP": stamp(.timestamp, property, &builder)
        case "CREATED", "DCREATED": stamp(.created, property, &builder)
        case "LAST-MODIFIED": stamp(.lastModified, property, &builder)
        case "EXDATE": list(.exclusion, property, &builder)
        case "RDATE": list(.addition, property, &builder)
        case "RRULE": draft.rules.append(property)
        case "EXRULE": draft.exclusionRules.append(property)
        case "REQUEST-STATUS":
            // It tells how an invitation was delivered once, and libical frees its memory too early.
            builder.log.add(.repaired, "request-status", line: property.line, "REQUEST-STATUS was left out.")
        case "ATTACH" where Self.isInline(property) && !builder.options.keepsAttachments:
            builder.log.add(
                .warning, "attachment-dropped", line: property.line,
                "A file of \(property.value.count) bytes within the calendar was left out.")
        case "AALARM", "DALARM", "MALARM", "PALARM":
            builder.log.add(
                .warning, "alarm-refused", line: property.line, text: property.name,
                "A reminder of vCalendar 1.0 was left out.")
        case "X-MICROSOFT-CDO-ALLDAYEVENT":
            draft.isMarkedAllDay = property.trimmed.uppercased() == "TRUE"
            draft.others.append(property.contentLine)
        default: draft.others.append(property.contentLine)
        }
    }

    static func isInline(_ property: Property) -> Bool {
        property[parameter: "ENCODING"]?.uppercased() == "BASE64"
            || property[parameter: "VALUE"]?.uppercased() == "BINARY"
            || property.value.starts(with: "data:".utf8)
    }

    /// Whether a property that may stand once stands for the first time.
    func isFirst(_ field: DecodedProperty.Field, _ property: Property, _ builder: inout CalendarBuilder) -> Bool {
        guard draft.seen.contains(field) else { return true }
        builder.log.add(
            .warning, "duplicate-property", line: property.line, text: property.text,
            "\(property.name) stands more than once; the first one counts.")
        return false
    }

    /// A UID made from everything but the times of writing, so that the same file gives the same one.
    func contentUID() -> String {
        let fleeting: Set<String> = ["DTSTAMP", "CREATED", "LAST-MODIFIED", "SEQUENCE"]
        var hash = StableHash()
        hash.combine(raw.name.utf8)
        for line in raw.lines {
            guard let property = Property(bytes, line), !fleeting.contains(property.name) else { continue }
            hash.combine([10])
            hash.combine(property.name.utf8)
            for parameter in property.parameters {
                hash.combine([59])
                hash.combine(parameter.name.utf8)
                for value in parameter.values {
                    hash.combine([61])
                    hash.combine(value.utf8)
                }
            }
            hash.combine([58])
            hash.combine(property.value.trimmingSpaces)
        }
        return "content-" + hash.hex
    }
}
