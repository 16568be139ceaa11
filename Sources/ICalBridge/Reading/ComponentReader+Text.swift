// SPDX-License-Identifier: Apache-2.0

/// Texts, tokens and numbers of a component.
extension ComponentReader {
    mutating func text(_ field: DecodedProperty.Field, _ property: Property, _ context: inout ReadingContext) {
        let value = Self.plain(property)
        if draft.seen.contains(field) {
            // A journal entry may have several descriptions (RFC 5545 section 3.6.3); nothing else may.
            if !(kind == .journal && field == .description) {
                context.log.add(
                    .warning, "duplicate-property", line: property.line, text: property.text, .repeatedKept,
                    "\(property.name, .name) appears more than once; the first one counts, and this one is kept beside it."
                )
            }
            if field != .uid { draft.others.append(property.contentLine) }
            return
        }
        draft.seen.insert(field)
        if field != .uid, !property.parameters.isEmpty {
            let kept = TextParameters.kept(of: property) ?? []
            if !kept.isEmpty { draft.textParameters[property.name] = kept }
        }
        let canonical = TextValue.canonical(field == .uid ? value.trimmingSpaces : value)
        if field == .uid { draft.uid = TextValue.decoded(value.trimmingSpaces) }
        context.slice.property(field, TextValue.guardingSpaces(canonical))
    }

    mutating func categories(_ property: Property, _ context: inout ReadingContext) {
        let parts = TextValue.split(Self.plain(property)).map(\.trimmingSpaces).filter { !$0.isEmpty }
        guard draft.listedValues + parts.count <= context.options.limits.listedValues else {
            context.log.add(
                .error, "too-many-properties", line: property.line, text: property.name, .tooManyValues,
                "The component has more values than the limit; these are lost.")
            return
        }
        draft.listedValues += parts.count
        // Each category gets its own line: libical silently drops everything after 500 values in a line.
        for part in parts { context.slice.property(.categories, TextValue.canonical(part)) }
    }

    mutating func sequence(_ property: Property, _ context: inout ReadingContext) {
        guard isFirst(.sequence, property, &context) else { return }
        guard let number = Int32(property.trimmed), number >= 0 else {
            context.log.add(
                .warning, "number-unreadable", line: property.line, text: property.text, .sequenceUnreadable,
                "SEQUENCE is not a whole number; 0 was used.")
            return
        }
        draft.seen.insert(.sequence)
        context.slice.property(.sequence, String(number).utf8)
    }

    mutating func transparency(_ property: Property, _ context: inout ReadingContext) {
        guard draft.isTransparent == nil else { return repeats(property, &context) }
        switch property.trimmed.uppercased() {
        case "TRANSPARENT", "1": draft.isTransparent = true
        case "OPAQUE", "0": draft.isTransparent = false
        default:
            if draft.others.contains(where: { $0.name == "TRANSP" }) { return repeats(property, &context) }
            return draft.others.append(property.contentLine)
        }
        // TRANSP may appear only once; a kept property is no longer needed in addition to this value.
        draft.others.removeAll { $0.name == "TRANSP" }
    }

    /// The value after vCalendar 1.0's transfer encodings are decoded.
    static func plain(_ property: Property) -> ArraySlice<UInt8> {
        guard property.isQuotedPrintable else { return property.value }
        let decoded = quotedPrintable(property.value)
        let declared = property[parameter: "CHARSET"].flatMap(Charset.init(named:)) ?? .windows1252
        let text =
            String(validating: decoded, as: UTF8.self)?.fromOutside
            ?? declared.decoded(decoded).map { String(fromOutside: $0) } ?? Windows1252.decode(decoded)
        // Line breaks are literal here; commas and semicolons keep their escapes.
        return Array(text.utf8.filter { $0 != 13 && $0 != 0 })[...]
    }

    private static func quotedPrintable(_ value: ArraySlice<UInt8>) -> [UInt8] {
        var out: [UInt8] = []
        var index = value.startIndex
        while index < value.endIndex {
            if value[index] == 61, index + 1 < value.endIndex, value[index + 1] == 10 {
                index += 2
            } else if value[index] == 61, index + 2 < value.endIndex,
                let high = Hexadecimal.value(of: value[index + 1]), let low = Hexadecimal.value(of: value[index + 2])
            {
                out.append(high << 4 | low)
                index += 3
            } else {
                out.append(value[index])
                index += 1
            }
        }
        if out.last == 61 { out.removeLast() }
        return out
    }
}
