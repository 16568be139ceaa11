// SPDX-License-Identifier: Apache-2.0

/// Converts the recurrence rules of vCalendar 1.0 (`MP2 1+ MO TU #6`) to RFC 5545.
///
/// Rules with times of day, or with a rule inside a rule, have no counterpart with the same meaning; they are not read.
enum VersionOneRule {
    /// The same rule in the form of RFC 5545; nil when it is not a rule of vCalendar 1.0, or cannot be expressed in
    /// that form.
    static func translated(_ text: String) -> String? {
        var words = text.uppercased().split(whereSeparator: { $0.is(" ") || $0.is("\t") })
        guard let head = words.first, let kind = Kind(head) else { return nil }
        words.removeFirst()
        // The part with the end comes last; a rule without it has two occurrences.
        var end = "COUNT=2"
        if let last = words.last {
            if last.first?.is("#") == true {
                guard let count = Int(last.dropFirst()), count >= 0 else { return nil }
                end = count == 0 ? "" : "COUNT=\(count)"
                words.removeLast()
            } else if last.count >= 8, (try? WrittenTime(last.utf8)) != nil {
                end = "UNTIL=\(last)"
                words.removeLast()
            }
        }
        guard let parts = kind.parts(words) else { return nil }
        let interval = kind.interval == 1 ? [] : ["INTERVAL=\(kind.interval)"]
        return (["FREQ=\(kind.frequency)"] + interval + parts + (end.isEmpty ? [] : [end])).joined(separator: ";")
    }

    private struct Kind {
        let letters: Substring
        let interval: Int

        init?(_ head: Substring) {
            letters = head.prefix { $0.isLetter }
            guard let number = Int(head.dropFirst(letters.count)), number > 0,
                ["D", "W", "MP", "MD", "YM", "YD"].contains(letters)
            else { return nil }
            interval = number
        }

        var frequency: String {
            switch letters {
            case "D": "DAILY"
            case "W": "WEEKLY"
            case "MP", "MD": "MONTHLY"
            default: "YEARLY"
            }
        }

        /// The RFC 5545 parts for the words between head and end.
        func parts(_ words: [Substring]) -> [String]? {
            if words.isEmpty { return [] }
            switch letters {
            case "W":
                guard words.allSatisfy(VersionOneRule.isWeekday) else { return nil }
                return ["BYDAY=" + words.joined(separator: ",")]
            case "MP": return positions(words).map { ["BYDAY=" + $0.joined(separator: ",")] }
            case "MD": return numbers(words, upTo: 31).map { ["BYMONTHDAY=" + $0] }
            case "YM": return numbers(words, upTo: 12).map { ["BYMONTH=" + $0] }
            case "YD": return numbers(words, upTo: 366).map { ["BYYEARDAY=" + $0] }
            default: return nil
            }
        }

        /// Reads `1+ MO TU 2- FR`: each position applies to the days that follow it.
        private func positions(_ words: [Substring]) -> [String]? {
            var found: [String] = []
            var current: [Int] = []
            var isAfterDay = true
            for word in words {
                if VersionOneRule.isWeekday(word) {
                    guard !current.isEmpty else { return nil }
                    found += current.map { "\($0)\(word)" }
                    isAfterDay = true
                } else {
                    guard let number = signed(word, upTo: 5) else { return nil }
                    if isAfterDay { current = [] }
                    current.append(number)
                    isAfterDay = false
                }
            }
            return isAfterDay ? found : nil
        }

        private func numbers(_ words: [Substring], upTo limit: Int) -> String? {
            let found = words.compactMap { $0 == "LD" ? -1 : signed($0, upTo: limit) }
            return found.count == words.count ? found.map(String.init).joined(separator: ",") : nil
        }

        /// Reads `2`, `2+` or `2-`.
        private func signed(_ word: Substring, upTo limit: Int) -> Int? {
            let isNegative = word.last?.is("-") == true
            let digits = isNegative || word.last?.is("+") == true ? word.dropLast() : word
            guard let number = Int(digits), (1...limit).contains(number) else { return nil }
            return isNegative ? -number : number
        }
    }

    private static func isWeekday(_ word: Substring) -> Bool {
        ["MO", "TU", "WE", "TH", "FR", "SA", "SU"].contains(word)
    }
}
