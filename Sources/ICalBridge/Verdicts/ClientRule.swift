// SPDX-License-Identifier: Apache-2.0

/// One thing that is known about some calendar apps: when it happens, and what its effect is.
///
/// To add a rule, add a row to a table in `ClientRule+Times.swift`, `ClientRule+Repetition.swift`,
/// `ClientRule+Contents.swift`, `ClientRule+Files.swift` or `ClientRule+HomeAssistant.swift`; only what a source says
/// may be there.
struct ClientRule: Sendable {
    /// A stable identifier, for programs.
    let id: String
    let clients: [CalendarClient]
    let outcome: ClientVerdict.Outcome
    /// The source; a rule based on a single report uses `has` in its sentence, because the app may have been fixed
    /// since.
    let source: String
    /// What the app does with this file; nil when the rule does not apply to it.
    let sentence: @Sendable (FileFacts) -> Sentence?

    init(
        _ id: String, _ clients: [CalendarClient], _ outcome: ClientVerdict.Outcome, _ source: String,
        _ sentence: @escaping @Sendable (FileFacts) -> Sentence?
    ) {
        (self.id, self.clients, self.outcome, self.source) = (id, clients, outcome, source)
        self.sentence = sentence
    }

    static let all: [ClientRule] = files + zones + times + repetitions + contents + homeAssistant
}

extension Int {
    /// The number with a noun: `1 event`, `1,204 events`.
    func of(_ noun: String) -> String { "\(grouped) \(noun)\(self == 1 ? "" : "s")" }

    /// The number with a noun and an article: `the event`, `the 1,204 events`.
    func the(_ noun: String) -> String { self == 1 ? "the \(noun)" : "the \(of(noun))" }

    /// The number with commas between groups of thousands.
    package var grouped: String {
        var digits = String(magnitude)
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return (self < 0 ? "-" : "") + ([digits] + groups).joined(separator: ",")
    }
}

extension Sentence.Text.StringInterpolation {
    mutating func appendInterpolation(grouped number: Int, _ placeholder: Sentence.Argument.Placeholder) {
        append(number.grouped, .init(placeholder, .number(number)))
    }

    mutating func appendInterpolation(_ count: Int, of noun: String) {
        append(count.of(noun), .init(.count, .number(count)))
    }

    mutating func appendInterpolation(_ count: Int, the noun: String) {
        append(count.the(noun), .init(.count, .number(count)))
    }

    /// Inserts up to two of the names of zones, and how many more there are.
    mutating func appendInterpolation(someOf names: [String]) {
        let shown = names.prefix(2).map(ProblemLog.short).joined(separator: ", ")
        guard names.count > 2 else { return appendInterpolation(shown, .zones) }
        appendInterpolation(
            Sentence(.someNames, "\(shown, .names) and \(grouped: names.count - 2, .count) more"), .zones)
    }
}
