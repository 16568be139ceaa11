// SPDX-License-Identifier: Apache-2.0

/// Decoding slices without libical. Each value was checked before it was written, in one form, so that both decode it alike.
extension DecodedSlice {
    /// Decodes a slice as `SliceText` has it before its NUL.
    init(inSwift slice: [UInt8]) {
        var open: [DecodedSlice] = []
        var line: [UInt8] = []
        for part in slice.split(separator: 10) {
            if part.first == 32 {
                line += part.dropFirst()
                continue
            }
            open.add(line)
            line = Array(part)
        }
        open.add(line)
        self = open.first ?? DecodedSlice()
    }
}

extension [DecodedSlice] {
    /// Adds an unfolded line to the innermost component, and one that has ended to the component around it.
    fileprivate mutating func add(_ line: [UInt8]) {
        if line.starts(with: "BEGIN:".utf8) {
            append(DecodedSlice())
        } else if line.starts(with: "END:".utf8) {
            if count > 1 { self[count - 2].children.append(removeLast()) }
        } else if !isEmpty, let property = DecodedProperty(line[...]) {
            self[count - 1].properties.append(property)
        }
    }
}

extension DecodedProperty {
    /// Returns nil for a line without a value.
    fileprivate init?(_ line: ArraySlice<UInt8>) {
        guard let colon = line.firstIndex(of: 58), colon + 1 < line.endIndex else { return nil }
        let head = line[..<colon].split(separator: 59).map { String(fromOutside: $0) }
        guard let name = head.first, let field = Field(rawValue: name),
            let value = Self.value(line[(colon + 1)...], of: field)
        else { return nil }
        let zone = head.first { $0.hasPrefix("TZID=Z") }.flatMap { Int($0.dropFirst(6)) }
        self.init(field: field, value: value, zone: zone)
    }

    private static func value(_ bytes: ArraySlice<UInt8>, of field: Field) -> Value? {
        switch field {
        case .uid, .summary, .description, .location, .categories: .text(TextValue.unescaped(bytes.trimmingSpaces))
        case .url: .text(String(fromOutside: bytes))
        case .sequence: Int(String(fromOutside: bytes)).map { .integer($0) }
        case .duration: duration(bytes)
        case .trigger: duration(bytes) ?? time(bytes)
        case .addition: period(bytes) ?? time(bytes)
        case .start, .end, .due, .recurrenceID, .exclusion, .timestamp, .created, .lastModified: time(bytes)
        }
    }

    private static func duration(_ bytes: ArraySlice<UInt8>) -> Value? {
        ICalDuration(text: String(fromOutside: bytes)).map { .duration($0) }
    }

    private static func time(_ bytes: ArraySlice<UInt8>) -> Value? {
        guard let written = try? WrittenTime(bytes) else { return nil }
        return written.time.map { .dateTime($0, isUTC: written.zone == .utc) } ?? .date(written.date)
    }

    private static func period(_ bytes: ArraySlice<UInt8>) -> Value? {
        guard let slash = bytes.firstIndex(of: 47), case .dateTime(let start, let isUTC) = time(bytes[..<slash]) else {
            return nil
        }
        switch duration(bytes[(slash + 1)...]) ?? time(bytes[(slash + 1)...]) {
        case .duration(let length): return .period(start, end: nil, duration: length, isUTC: isUTC)
        case .dateTime(let end, _): return .period(start, end: end, duration: ICalDuration(), isUTC: isUTC)
        default: return nil
        }
    }
}
