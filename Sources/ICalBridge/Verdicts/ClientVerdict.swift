// SPDX-License-Identifier: Apache-2.0

/// What one calendar app will make of a file, as far as is known.
public struct ClientVerdict: Hashable, Sendable, Codable {
    public enum Outcome: String, Hashable, Sendable, Codable {
        /// Nothing is known against it, or only a trifle.
        case takes
        /// It shows the file, but something is missing or wrong.
        case partly
        /// It refuses the file, or shows nothing of it.
        case refuses
    }

    /// One thing in the file that the app stumbles over.
    public struct Reason: Hashable, Sendable, Codable {
        /// The stable name of the rule, for programs; new ones may come.
        public var rule: String
        /// What it does to the whole; `takes` is worth a word, no more.
        public var outcome: Outcome
        /// What the app does, without the app's name before it: `ignores the 3 to-dos`.
        public var sentence: String
        /// Where that is known from: `[code]` is the app's own source, `[issue]` a report, `[doc]` and `[blog]` a page.
        public var source: String
    }

    public var client: CalendarClient
    /// The gravest of its reasons.
    public var outcome: Outcome
    /// The gravest first.
    public var reasons: [Reason]
}

extension CalendarReading {
    /// What each calendar app will make of the file that this was read from.
    ///
    /// Every reason has a rule behind it, and every rule a report or the app's own source: an app about which nothing
    /// is known accepts the file. Empty for vCalendar 1.0, which no rule speaks of.
    ///
    /// - Parameter bytes: The file as it came; some faults are no longer seen in what was read.
    public func verdicts(of bytes: [UInt8]) -> [ClientVerdict] {
        guard format != .vCalendar1 else { return [] }
        let facts = FileFacts(self, bytes: bytes)
        var reasons: [CalendarClient: [ClientVerdict.Reason]] = [:]
        for rule in ClientRule.all {
            guard let sentence = rule.sentence(facts) else { continue }
            let reason = ClientVerdict.Reason(
                rule: rule.id, outcome: rule.outcome, sentence: sentence, source: rule.source)
            for client in rule.clients { reasons[client, default: []].append(reason) }
        }
        return CalendarClient.allCases.map { client in
            let own = reasons[client] ?? []
            // Those of one outcome stay in the order of the table.
            let sorted = [.refuses, .partly, .takes].flatMap { outcome in own.filter { $0.outcome == outcome } }
            return ClientVerdict(client: client, outcome: sorted.first?.outcome ?? .takes, reasons: sorted)
        }
    }
}
