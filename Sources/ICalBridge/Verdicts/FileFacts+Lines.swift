// SPDX-License-Identifier: Apache-2.0

/// Facts that only the lines show, because reading repaired them or has no use for them.
extension FileFacts {
    mutating func read(_ bytes: [UInt8], zonesInUse: [TimeZoneResolution]) {
        // Anything odd in the bytes was reported when they were read.
        var log = ProblemLog(limit: 0)
        let text = SourceText(bytes, log: &log)
        var zone: ZoneLines?
        var declared: Set<ByteString> = []
        if self.line(of: ["indented-lines"]) == nil {
            findRoots(text, bytes)
        } else {
            findRoots(SourceText(bytes, keepsIndents: true, log: &log), bytes)
        }
        for line in text.lines {
            guard let property = Self.property(text.bytes, line, isInZone: zone != nil) else { continue }
            switch property.name {
            case "BEGIN" where property.trimmed.uppercased() == "VTIMEZONE": zone = ZoneLines()
            case "END" where property.trimmed.uppercased() == "VTIMEZONE":
                if let zone, !zone.name.isEmpty {
                    declared.insert(zone.name)
                    add(zone)
                }
                zone = nil
            case "X-WR-CALNAME": hasWRName = true
            case "SEQUENCE":
                if largeSequenceLine == nil, property.trimmed.utf8.allSatisfy({ (48...57).contains($0) }),
                    !property.isEmpty, Int32(property.trimmed) == nil
                {
                    largeSequenceLine = property.line
                }
            default: zone?.add(property)
            }
        }
        undeclaredZones = zonesInUse.filter { $0.how != .calendar && !declared.contains($0.tzid) }.map(\.tzid)
            .filter { !Self.isUTC($0) }
        if !isForeign { findSplitCharacter(bytes) }
    }

    /// Finds the components outside all others, as libical does: it only checks the beginning of a component's name.
    private mutating func findRoots(_ text: SourceText, _ bytes: [UInt8]) {
        // libical reads up to the first NUL.
        let end = ByteSearch.first(0, in: bytes, from: 0) ?? .max
        var open: [Property] = []
        for line in text.lines {
            guard let property = Self.property(text.bytes, line, isInZone: false) else { continue }
            if property.name == "BEGIN" {
                open.append(property)
            } else if property.name == "END", let ended = open.popLast(), open.isEmpty {
                roots.append(ended.trimmed.uppercased().hasPrefix("VCALENDAR"))
                if Int(line.end) <= end { rootsBeforeNUL = roots.count }
            }
        }
    }

    private static func isUTC(_ tzid: String) -> Bool {
        ["UTC", "ETC/UTC", "GMT", "ETC/GMT", "Z", "ZULU"].contains(tzid.uppercased())
    }

    /// The line as a property if it can matter; for most lines one byte decides.
    private static func property(_ bytes: [UInt8], _ line: LogicalLine, isInZone: Bool) -> Property? {
        guard line.end > line.start else { return nil }
        if !isInZone {
            // Only BEGIN, END, SEQUENCE and X-WR-CALNAME matter.
            switch bytes[Int(line.start)] | 0x20 {
            case 98, 101, 115, 120: break
            default: return nil
            }
        }
        return Property(bytes, line)
    }

    private mutating func add(_ zone: ZoneLines) {
        if zone.hasDates, !zone.hasRule { zonesByDates.append(zone.name) }
        if zone.hasSeconds { zonesWithSeconds.append(zone.name) }
        if zone.hasZonedStart { zonesWithZonedStart.append(zone.name) }
    }

    /// The facts about one VTIMEZONE.
    private struct ZoneLines {
        var name = ""
        var hasDates = false
        var hasRule = false
        var hasSeconds = false
        var hasZonedStart = false

        mutating func add(_ property: Property) {
            switch property.name {
            case "TZID" where name.isEmpty: name = TextValue.decoded(property.value.trimmingSpaces)
            case "RDATE": hasDates = true
            case "RRULE": hasRule = true
            case "TZOFFSETFROM", "TZOFFSETTO":
                let digits = property.trimmed.utf8.filter { (48...57).contains($0) }
                hasSeconds = hasSeconds || digits.count == 6 && digits.suffix(2) != [48, 48]
            case "DTSTART": hasZonedStart = hasZonedStart || property[parameter: "TZID"] != nil
            default: break
            }
        }
    }

    /// Finds a fold that splits a UTF-8 character.
    private mutating func findSplitCharacter(_ bytes: [UInt8]) {
        var line = 1
        var index = 0
        while let end = ByteSearch.first(10, in: bytes, from: index) {
            line += 1
            index = end + 1
            guard index + 1 < bytes.count, bytes[index] == 32 || bytes[index] == 9 else { continue }
            if bytes[index + 1] & 0xC0 == 0x80 {
                splitCharacterLine = line
                return
            }
        }
    }
}
