// SPDX-License-Identifier: Apache-2.0

/// The rules that a thread has read: most series of a file share a few rules, apart from their ends.
struct RuleCache {
    private var rules: [ByteString: RecurrenceRule] = [:]

    /// Reads a rule in which nothing is unusual; nil for a rule that has to be read carefully.
    mutating func rule(_ text: ArraySlice<UInt8>) -> RecurrenceRule? {
        guard text.count <= 200, text.allSatisfy({ $0 > 32 && $0 < 97 }) else { return nil }
        var until: RecurrenceRule.Until?
        var rest: [UInt8] = []
        rest.reserveCapacity(text.count)
        for part in text.split(separator: 59, omittingEmptySubsequences: false) {
            if part.starts(with: "UNTIL=".utf8) {
                guard until == nil, let written = Self.until(part.dropFirst(6)) else { return nil }
                until = written
            } else {
                // Rules with an empty part, or with both COUNT and UNTIL, are repaired elsewhere.
                guard part.last.map({ $0 != 61 && $0 != 44 }) == true, !part.starts(with: "COUNT".utf8) || until == nil
                else { return nil }
                if !rest.isEmpty { rest.append(59) }
                rest += part
            }
        }
        let key = String(fromOutside: rest)
        var rule = rules[key]
        if rule == nil, let read = try? RecurrenceRule(key) {
            if rules.count < 256 { rules[key] = read }
            rule = read
        }
        guard var rule, until == nil || rule.count == nil else { return nil }
        if until != nil { rule.until = until }
        return rule
    }

    private static func until(_ text: ArraySlice<UInt8>) -> RecurrenceRule.Until? {
        let bytes = text.span
        switch text.count {
        case 8: return DirectText.date(bytes, at: 0).map { .date($0) }
        case 15: return DirectText.time(bytes, at: 0).map { .floating($0) }
        case 16: return DirectText.instant(bytes, 0..<16).map { .utc($0) }
        default: return nil
        }
    }
}
