// SPDX-License-Identifier: Apache-2.0

/// What one calendar app will do with a file, as far as is known.
public struct ClientVerdict: Hashable, Sendable, Codable {
    public enum Outcome: String, Hashable, Sendable, Codable, CaseIterable {
        /// No problem is known, or only a minor one.
        case takes
        /// It shows the file, but something is missing or wrong.
        case partly
        /// It refuses the file, or shows no part of it.
        case refuses
    }

    /// One thing in the file that the app does not handle well.
    public struct Reason: Hashable, Sendable, Codable {
        /// The stable identifier of the rule, for programs; new rules may be added.
        public var rule: String
        /// The effect on the whole file; `takes` means that the reason is worth mentioning but does no harm.
        public var outcome: Outcome
        /// What the app does, as a sentence without the app's name as its subject: `ignores the 3 to-dos`.
        public var sentence: Sentence
        /// The same in English; a new one has no words in other languages.
        public var message: String {
            get { sentence.text }
            set { sentence = Sentence(ofOthers: newValue) }
        }
        /// The source: `[code]` is the app's own source code, `[issue]` a report, `[doc]` and `[blog]` a page.
        public var source: String

        package init(rule: String, outcome: Outcome, sentence: Sentence, source: String) {
            (self.rule, self.outcome, self.sentence, self.source) = (rule, outcome, sentence, source)
        }
    }

    public var client: CalendarClient
    /// The worst outcome of the reasons.
    public var outcome: Outcome
    /// The reasons, worst first.
    public var reasons: [Reason]

    package init(client: CalendarClient, outcome: Outcome, reasons: [Reason]) {
        (self.client, self.outcome, self.reasons) = (client, outcome, reasons)
    }
}

extension CalendarReading {
    /// What each calendar app will do with the file from which this was read.
    ///
    /// Every reason has a rule behind it, and every rule has a report or the app's own source code: an app about which
    /// nothing is known accepts the file. The result is empty for vCalendar 1.0, which no rule covers.
    ///
    /// - Parameter bytes: the original file; some faults are no longer visible in what was read.
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
            // Reasons with the same outcome keep the order of the table.
            let sorted = [.refuses, .partly, .takes].flatMap { outcome in own.filter { $0.outcome == outcome } }
            return ClientVerdict(client: client, outcome: sorted.first?.outcome ?? .takes, reasons: sorted)
        }
    }
}
