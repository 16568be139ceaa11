// SPDX-License-Identifier: Apache-2.0

/// Reads one component: its properties are checked here, decoded by libical, and assembled into an event.
struct ComponentReader {
    let raw: RawComponent
    let bytes: [UInt8]
    let kind: Event.Kind
    var line: Int { raw.span.lowerBound }

    /// The values that Swift reads without libical, until the event is made.
    var draft = Draft()

    struct Draft {
        var seen = FieldSet()
        var status: String?
        var isTransparent: Bool?
        var classification: String?
        var isMarkedAllDay = false
        /// Whether a line says that the component replaces an occurrence, readable or not.
        var hasRecurrenceID = false
        var appliesToFuture = false
        var rules: [Property] = []
        var exclusionRules: [Property] = []
        var listedValues = 0
        var alarms: [AlarmDraft] = []
        var textParameters: [ByteString: [ContentLine.Parameter]] = [:]
        /// Reminders of vCalendar 1.0, whose times are on the clock of the start.
        var oldAlarms: [OldAlarm] = []
        var others: [ContentLine] = []
        /// The number of properties that count against the limit.
        var counted = 0
        var uid: String?
        /// The bytes of files within the component that were kept.
        var attachedBytes = 0
    }

    init(_ raw: RawComponent, bytes: [UInt8]) {
        self.raw = raw
        self.bytes = bytes
        kind = Event.Kind(rawValue: raw.name) ?? .event
    }

    /// The UID, if it is known when the component cannot be read.
    var uid: String? { draft.uid }

    /// Returns the event, or nil when it has no place in time; the log then gives the reason.
    mutating func read(_ context: inout ReadingContext) -> Event? {
        let bytes = bytes
        if context.options.decoder != .libicalAlways, let outcome = readDirectly(bytes.span, &context) {
            guard case .read(let event) = outcome else { return nil }
            return event
        }
        return readCarefully(&context)
    }

    /// Reads with libical after checks, and reports everything unusual.
    private mutating func readCarefully(_ context: inout ReadingContext) -> Event? {
        beginSlice(&context)
        for line in raw.lines {
            if let property = property(line, &context) { take(property, &context) }
        }
        takeChildren(&context)
        return endSlice(&context).flatMap { event(from: $0, &context) }
    }

    /// The property of a line; nil, with the problem in the log, when the line is not a property.
    func property(_ line: LogicalLine, _ context: inout ReadingContext) -> Property? {
        if let property = Property(bytes, line) { return property }
        context.log.add(
            .warning, "line-not-property", line: Int(line.number),
            text: String(fromOutside: bytes[line.range.prefix(400)]), .lineWithoutColon,
            "This line has no colon before a value and was left out.")
        return nil
    }

    func beginSlice(_ context: inout ReadingContext) {
        context.slice.clear()
        // libical does not check properties against the kind of component, so one name serves for all four.
        context.slice.begin("VEVENT")
    }

    /// The slice as libical decodes it; nil, with the problem in the log, when libical cannot decode it.
    func endSlice(_ context: inout ReadingContext) -> DecodedSlice? {
        context.slice.end("VEVENT")
        guard let decoded = context.decodedSlice() else {
            context.log.add(
                .error, "component-refused", line: line, .libicalComponent,
                "libical cannot read this component; it is lost.")
            return nil
        }
        checkNothingIsLost(decoded, &context)
        return decoded
    }

    /// Checks that as many properties come back from libical as were written.
    private func checkNothingIsLost(_ decoded: DecodedSlice, _ context: inout ReadingContext) {
        var back: [DecodedProperty.Field: Int] = [:]
        for property in decoded.properties { back[property.field, default: 0] += 1 }
        for child in decoded.children {
            for property in child.properties { back[property.field, default: 0] += 1 }
        }
        for (field, count) in context.slice.written where back[field, default: 0] < count {
            context.log.add(
                .error, "property-refused", line: line, text: decoded.errors.first, .libicalField,
                "libical did not accept \(field.rawValue, .name); it is lost.")
        }
    }

    /// Sends one property to libical, to the draft, or to the properties kept as text.
    mutating func take(_ property: Property, _ context: inout ReadingContext) {
        // An empty value has no meaning, and many apps write them.
        guard !property.isEmpty else { return }
        switch property.name {
        case "EXDATE", "RDATE", "ATTENDEE": draft.listedValues += 1
        case "RECURRENCE-ID":
            draft.hasRecurrenceID = true
            draft.counted += 1
        default: draft.counted += 1
        }
        guard draft.counted <= context.options.limits.properties,
            draft.listedValues <= context.options.limits.listedValues
        else {
            context.log.add(
                .error, "too-many-properties", line: property.line, text: property.name, .tooManyProperties,
                "The component has more properties than the limit; this one is lost.")
            return
        }
        if property.hasTooManyParameters {
            context.log.add(
                .warning, "too-many-parameters", line: property.line, text: property.name, .tooManyParameters,
                "The property has more than \(Property.parameterLimit, .count) parameters; the others were left out.")
        }
        switch property.name {
        case "UID": text(.uid, property, &context)
        case "SUMMARY": text(.summary, property, &context)
        case "DESCRIPTION": text(.description, property, &context)
        case "LOCATION": text(.location, property, &context)
        case "CATEGORIES": categories(property, &context)
        case "URL":
            guard isFirst(.url, property, &context) else { return }
            context.slice.property(.url, property.value.trimmingSpaces.filter { $0 > 32 })
        case "SEQUENCE": sequence(property, &context)
        case "STATUS":
            if draft.status != nil { repeats(property, &context) }
            draft.status = draft.status ?? property.trimmed.uppercased()
        case "CLASS":
            if draft.classification != nil { repeats(property, &context) }
            draft.classification = draft.classification ?? property.trimmed.uppercased()
        case "TRANSP": transparency(property, &context)
        case "DTSTART": time(.start, property, &context)
        case "DTEND": time(.end, property, &context)
        case "DUE": time(.due, property, &context)
        case "RECURRENCE-ID":
            // The range of a property that cannot be read, or that is a repetition, says nothing about the one that counts.
            if time(.recurrenceID, property, &context) {
                draft.appliesToFuture = property[parameter: "RANGE"]?.uppercased() == "THISANDFUTURE"
            }
        case "DURATION": duration(property, &context)
        case "DTSTAMP": stamp(.timestamp, property, &context)
        case "CREATED", "DCREATED": stamp(.created, property, &context)
        case "LAST-MODIFIED": stamp(.lastModified, property, &context)
        case "EXDATE": list(.exclusion, property, &context)
        case "RDATE": list(.addition, property, &context)
        case "RRULE": draft.rules.append(property)
        case "EXRULE": draft.exclusionRules.append(property)
        case "REQUEST-STATUS":
            // It records how an invitation was once delivered, and libical frees its memory too early.
            context.log.add(
                .repaired, "request-status", line: property.line, .requestStatus, "REQUEST-STATUS was left out.")
        case "X-LIC-ERROR":
            context.log.add(.repaired, "library-error", line: property.line, text: property.text, Self.libraryError)
        case "ATTACH" where Self.isInline(property) && !keeps(property, context.options):
            context.log.add(
                .warning, "attachment-dropped", line: property.line, .calendarFile,
                "A file of \(property.value.count, .count) bytes within the calendar was left out.")
        case "AALARM", "DALARM", "MALARM", "PALARM": oldAlarm(property, &context)
        case "X-MICROSOFT-CDO-ALLDAYEVENT":
            draft.isMarkedAllDay = property.trimmed.uppercased() == "TRUE"
            draft.others.append(property.contentLine)
        default: draft.others.append(property.contentLine)
        }
    }

    static let libraryError = Sentence(
        .libicalNote, "A note of another program's libical about a line that it could not read was left out.")

    /// Whether a file within the calendar is kept; counts its bytes if so.
    mutating func keeps(_ file: Property, _ options: CalendarReader.Options) -> Bool {
        let bytes = draft.attachedBytes + file.value.count
        guard options.keepsAttachments, bytes <= options.limits.attachmentBytes else { return false }
        draft.attachedBytes = bytes
        return true
    }

    static func isInline(_ property: Property) -> Bool {
        property[parameter: "ENCODING"]?.uppercased() == "BASE64"
            || property[parameter: "VALUE"]?.uppercased() == "BINARY"
            || property.value.starts(with: "data:".utf8)
    }

    /// Whether a property that may appear only once appears for the first time; reports a repetition.
    func isFirst(_ field: DecodedProperty.Field, _ property: Property, _ context: inout ReadingContext) -> Bool {
        guard draft.seen.contains(field) else { return true }
        repeats(property, &context)
        return false
    }

    /// Reports a property that may appear only once and has appeared before.
    func repeats(_ property: Property, _ context: inout ReadingContext) {
        context.log.add(
            .warning, "duplicate-property", line: property.line, text: property.text, .repeatedLost,
            "\(property.name, .name) appears more than once; the first one counts.")
    }

    static let madeUIDPrefix = "content-"

    /// Makes a UID from everything but the times of writing, so that the same file gives the same UID.
    func contentUID() -> String {
        let fleeting: Set<ByteString> = ["DTSTAMP", "CREATED", "LAST-MODIFIED", "SEQUENCE"]
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
        return Self.madeUIDPrefix + hash.hex
    }
}
