// SPDX-License-Identifier: Apache-2.0

/// Reading components without libical, as far as nothing in them is unusual.
///
/// Most components in most files are like this: each property once, each value in the RFC's own form. An unusual line
/// is read the careful way, but the lines around it are not. For everything that is read here, both ways give the same
/// event.
extension ComponentReader {
    enum Outcome {
        case read(Event)
        /// The component has no place in time; the log gives the reason.
        case lost
    }

    /// Returns nil, with nothing reported or changed, for a component that has to be read carefully as a whole.
    mutating func readDirectly(_ bytes: Span<UInt8>, _ context: inout ReadingContext) -> Outcome? {
        let limits = context.options.limits
        guard raw.lines.count <= min(limits.properties, limits.listedValues), raw.children.count <= limits.alarms else {
            return nil
        }
        var fields = DirectFields(kind: kind)
        fields.traits = context.textTraits.isEmpty ? context.textTraits : SourceTraits(bytes, raw.textRange)
        var isPlain = true
        for index in raw.lines.indices {
            let before = fields.seen
            if fields.take(raw.lines[index], bytes, self.bytes, context) { continue }
            fields.seen = before
            guard takeLater(index, &fields, bytes, &context) else { return nil }
            isPlain = false
            break
        }
        if !takeAlarms(into: &fields, bytes, context.options) {
            if isPlain { beginSlice(&context) }
            isPlain = false
            // What quoted-printable text contains cannot be seen in the bytes.
            fields.traits = SourceTraits()
            takeChildren(&context)
        }
        var decoded: DecodedSlice?
        if !isPlain, !context.slice.isEmpty {
            if draft.uid == nil, !fields.event.uid.isEmpty { draft.uid = fields.event.uid }
            guard let slice = endSlice(&context) else { return .lost }
            decoded = slice
        }
        return event(from: &fields, decoded, &context).map { .read($0) } ?? .lost
    }

    /// Reads the lines from the first unusual one on, each directly or carefully.
    ///
    /// - Returns: false when they cannot be read one by one; then nothing is reported, and nothing but the fields is
    ///   changed.
    private mutating func takeLater(
        _ first: Int, _ fields: inout DirectFields, _ bytes: Span<UInt8>, _ context: inout ReadingContext
    ) -> Bool {
        // Values that several lines contribute to are read in one way only, and so are values that a later line may
        // replace.
        func isJoint(_ line: LogicalLine) -> Bool {
            switch line.head(bytes)?.key {
            case .exclusion, .addition, .categories, .url, .transparency: true
            default: false
            }
        }
        guard !isJoint(raw.lines[first]) else { return false }
        for line in raw.lines[first...] where isJoint(line) {
            guard fields.take(line, bytes, self.bytes, context) else { return false }
        }
        guard fields.listed + raw.lines.count <= context.options.limits.listedValues else { return false }
        beginSlice(&context)
        for line in raw.lines[first...] where !isJoint(line) {
            let before = fields.seen
            if fields.take(line, bytes, self.bytes, context) { continue }
            fields.seen = before
            guard let property = property(line, &context) else { continue }
            if property.isQuotedPrintable { fields.traits = SourceTraits() }
            // Literal backslashes are doubled during careful reading.
            fields.traits.mayBeEscapedTwice = true
            fields.lend(to: &draft)
            take(property, &context)
            fields.takeBack(&draft)
        }
        return true
    }

    /// Reads the alarms if all of them are in plain form; otherwise returns false and changes nothing.
    private func takeAlarms(
        into fields: inout DirectFields, _ bytes: Span<UInt8>, _ options: CalendarReader.Options
    ) -> Bool {
        for child in raw.children {
            guard child.name == "VALARM", child.lines.count <= options.limits.properties,
                let alarm = Self.directAlarm(child, bytes, self.bytes, options)
            else {
                fields.event.alarms = []
                return false
            }
            fields.event.alarms.append(alarm)
        }
        return true
    }

    private static func directAlarm(
        _ raw: RawComponent, _ bytes: Span<UInt8>, _ all: [UInt8], _ options: CalendarReader.Options
    ) -> Alarm? {
        var alarm = Alarm(trigger: .absolute(Instant(seconds: 0)))
        var hasTrigger = false
        for line in raw.lines {
            guard let head = line.head(bytes) else { return nil }
            let value = head.separator + 1..<Int(line.end)
            switch head.key {
            case .trigger where bytes[head.separator] == 58:
                guard !hasTrigger, let duration = duration(DirectText.string(bytes, value)) else { return nil }
                alarm.trigger = .relativeToStart(duration)
                hasTrigger = true
            case .action where bytes[head.separator] == 58:
                guard let word = DirectText.word(bytes, value), !word.isEmpty else { return nil }
                alarm.action = word
            case .description where bytes[head.separator] == 58:
                guard alarm.description == nil, let text = DirectText.text(bytes, value) else { return nil }
                alarm.description = text
            case .trigger, .action, .description, .careful: return nil
            default:
                // What quoted-printable text contains cannot be seen in the bytes.
                guard let property = Property(all, line), !property.isQuotedPrintable else { return nil }
                if !property.isEmpty { alarm.otherProperties.append(property.contentLine) }
            }
        }
        return hasTrigger ? alarm : nil
    }
}

/// The fields of a component that have been read so far.
struct DirectFields {
    var event: Event
    var end: EventTime?
    var due: EventTime?
    var duration: ICalDuration?
    var rules: [Property] = []
    var isMarkedAllDay = false
    /// The traits of the bytes from which the texts come.
    var traits = SourceTraits()
    private(set) var listed = 0
    /// The properties found that may appear only once.
    var seen = FieldSet()

    init(kind: Event.Kind) { event = Event(kind: kind, uid: "", start: nil) }

    /// Reads a line; false when it is not in plain form.
    mutating func take(
        _ line: LogicalLine, _ bytes: Span<UInt8>, _ all: [UInt8], _ context: ReadingContext
    ) -> Bool {
        guard let head = line.head(bytes) else { return false }
        let key = head.key
        let isBare = bytes[head.separator] == 58
        let value = head.separator + 1..<Int(line.end)
        // An empty value has no meaning, and many apps write them.
        if isBare, value.allSatisfy({ bytes[$0] <= 32 }) { return true }
        switch key {
        case .uid, .summary, .description, .location:
            if isBare { return isFirst(key) && takeText(key, bytes, value) }
            guard key != .uid, let property = Property(all, line), !property.hasTooManyParameters,
                let parameters = TextParameters.kept(of: property)
            else { return false }
            // Without a value the property does not count, so a later one is still the first.
            if property.isEmpty { return true }
            let range = property.value.startIndex..<property.value.endIndex
            guard isFirst(key), takeText(key, bytes, range) else { return false }
            event.setTextParameters(parameters, of: property.name)
        case .start, .end, .due, .recurrenceID:
            guard isFirst(key), let form = TimeForm(bytes, head.separator, Int(line.end)),
                let time = form.time(bytes, form.value, context)
            else { return false }
            switch key {
            case .start: event.start = time
            case .end: end = time
            case .due: due = time
            default: event.recurrenceID = time
            }
        case .timestamp, .created, .lastModified:
            guard isBare, isFirst(key), let instant = DirectText.instant(bytes, value) else { return false }
            switch key {
            case .timestamp: event.timestamp = instant
            case .created: event.created = instant
            default: event.lastModified = instant
            }
        case .sequence, .status, .classification, .transparency:
            return isBare && isFirst(key) && takeWord(key, bytes, value)
        case .exclusion, .addition:
            listed += 1
            return takeList(key, line, head.separator, bytes, context)
        case .duration, .rule, .attendee, .categories, .url, .knownText, .known, .other, .action, .trigger:
            // What quoted-printable text contains cannot be seen in the bytes.
            guard let property = Property(all, line), !property.hasTooManyParameters, !property.isQuotedPrintable
            else { return false }
            return property.isEmpty || takeProperty(key, property, context.options.limits)
        case .careful, .delimiter: return false
        }
        return true
    }

    private mutating func isFirst(_ key: PropertyKey) -> Bool {
        defer { seen[key] = true }
        return !seen[key]
    }

    /// Moves the fields that careful reading uses and extends into its draft.
    mutating func lend(to draft: inout ComponentReader.Draft) {
        draft.seen = seen
        (draft.status, draft.classification) = (event.status, event.classification)
        draft.isTransparent = event.isTransparent
        (draft.isMarkedAllDay, draft.listedValues) = (isMarkedAllDay, listed)
        swap(&draft.rules, &rules)
        swap(&draft.others, &event.otherProperties)
    }

    /// Moves the fields back, with what was added.
    mutating func takeBack(_ draft: inout ComponentReader.Draft) {
        seen = draft.seen
        (event.status, event.classification) = (draft.status, draft.classification)
        event.isTransparent = draft.isTransparent
        seen[.status] = draft.status != nil
        seen[.classification] = draft.classification != nil
        (isMarkedAllDay, listed) = (draft.isMarkedAllDay, draft.listedValues)
        swap(&draft.rules, &rules)
        swap(&draft.others, &event.otherProperties)
    }

    private mutating func takeText(_ key: PropertyKey, _ bytes: Span<UInt8>, _ value: Range<Int>) -> Bool {
        guard let text = DirectText.text(bytes, value) else { return false }
        switch key {
        case .uid: event.uid = text
        case .summary: event.summary = text
        case .description: event.description = text
        default: event.location = text
        }
        return true
    }

    private mutating func takeWord(_ key: PropertyKey, _ bytes: Span<UInt8>, _ value: Range<Int>) -> Bool {
        if key == .sequence {
            guard let number = DirectText.number(bytes, value) else { return false }
            event.sequence = number
            return true
        }
        guard let word = DirectText.word(bytes, value) else { return false }
        switch (key, word) {
        case (.status, _): event.status = word
        case (.classification, _): event.classification = word
        case (_, "TRANSPARENT"), (_, "1"): event.isTransparent = true
        case (_, "OPAQUE"), (_, "0"): event.isTransparent = false
        default: return false
        }
        return true
    }

    /// Reads EXDATE or RDATE with times in plain form.
    private mutating func takeList(
        _ key: PropertyKey, _ line: LogicalLine, _ separator: Int, _ bytes: Span<UInt8>, _ context: ReadingContext
    ) -> Bool {
        guard let form = TimeForm(bytes, separator, Int(line.end)) else { return false }
        var start = form.value.lowerBound
        while start < form.value.upperBound {
            let end = ByteSearch.first(44, in: bytes, start..<form.value.upperBound) ?? form.value.upperBound
            listed += 1
            guard listed <= context.options.limits.listedValues,
                let time = form.time(bytes, start..<end, context)
            else { return false }
            if key == .exclusion {
                event.recurrence.exclusions.append(time)
            } else {
                event.recurrence.additions.append(Recurrence.Addition(start: time))
            }
            start = end + 1
        }
        return true
    }

    private mutating func takeProperty(
        _ key: PropertyKey, _ property: Property, _ limits: CalendarReader.Limits
    ) -> Bool {
        switch key {
        case .rule: rules.append(property)
        case .duration:
            guard isFirst(key), let length = ComponentReader.duration(property.trimmed) else { return false }
            duration = length
        case .url:
            let value = property.value.trimmingSpaces
            guard isFirst(key), !value.contains(92), !value.contains(where: { $0 <= 32 }) else { return false }
            event.url = String(fromOutside: value)
        case .categories:
            guard property.parameters.isEmpty, !property.value.contains(34) else { return false }
            let parts = TextValue.split(property.value).map(\.trimmingSpaces).filter { !$0.isEmpty }
            listed += parts.count
            guard listed <= limits.listedValues else { return false }
            for part in parts { event.categories.append(TextValue.decoded(part)) }
        case .attendee:
            listed += 1
            guard listed <= limits.listedValues else { return false }
            event.otherProperties.append(property.contentLine)
        default:
            if property.name == "X-MICROSOFT-CDO-ALLDAYEVENT" {
                isMarkedAllDay = property.trimmed.uppercased() == "TRUE"
            }
            event.otherProperties.append(property.contentLine)
        }
        return true
    }
}

/// The parameters of a time, if they only name a zone that was used before or say that it is a date.
private struct TimeForm {
    var value: Range<Int>
    private var zone: Range<Int>?
    private var isDate = false

    init?(_ bytes: Span<UInt8>, _ separator: Int, _ end: Int) {
        var index = separator
        while bytes[index] == 59 {
            guard let equals = ByteSearch.first(61, in: bytes, index..<end) else { return nil }
            let name = index + 1..<equals
            var first = equals + 1
            var last = first
            if first < end, bytes[first] == 34 {
                first += 1
                guard let close = ByteSearch.first(34, in: bytes, first..<end) else { return nil }
                (last, index) = (close, close + 1)
            } else {
                while last < end, bytes[last] != 58, bytes[last] != 59 {
                    if bytes[last] == 34 || bytes[last] == 44 { return nil }
                    last += 1
                }
                index = last
            }
            guard index < end, bytes[index] == 58 || bytes[index] == 59 else { return nil }
            if Self.says("TZID", bytes, name) {
                guard zone == nil, last > first, bytes[first] > 32, ByteSearch.first(94, in: bytes, first..<last) == nil
                else { return nil }
                zone = first..<last
            } else if Self.says("VALUE", bytes, name), Self.says("DATE", bytes, first..<last) {
                isDate = true
            } else if !Self.says("VALUE", bytes, name) || !Self.says("DATE-TIME", bytes, first..<last) || isDate {
                return nil
            }
        }
        guard bytes[index] == 58 else { return nil }
        value = index + 1..<end
    }

    private static func says(_ word: StaticString, _ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard range.count == word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { buffer in
            // Proof: `position` is below the buffer's count, which was just compared.
            for (position, index) in range.enumerated() where unsafe buffer[position] != bytes[index] { return false }
            return true
        }
    }

    /// A time in the zone of the line; nil when it is not in plain form, or is the first to name its zone.
    func time(_ bytes: Span<UInt8>, _ range: Range<Int>, _ context: ReadingContext) -> EventTime? {
        if isDate {
            guard zone == nil, range.count == 8 else { return nil }
            return DirectText.date(bytes, at: range.lowerBound).map { .date($0) }
        }
        if range.count == 16 {
            guard zone == nil else { return nil }
            return DirectText.instant(bytes, range).map { .utc($0) }
        }
        guard range.count == 15, let wall = DirectText.time(bytes, at: range.lowerBound) else { return nil }
        guard let known = context.zone(zone, in: bytes) else { return nil }
        switch known {
        case .utc: return .utc(Instant(utc: wall))
        case .zone(let reference): return .zoned(wall, reference)
        case .floating: return .floating(wall)
        }
    }
}
