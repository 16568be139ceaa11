// SPDX-License-Identifier: Apache-2.0

/// The work that the rules of one request may still cause, whatever they contain.
///
/// It counts steps, not time, so that the same state gives the same answer on every machine. One budget is passed
/// through everything that a request expands; the caller leaves out whatever exceeds it.
public struct RecurrenceBudget: Hashable, Sendable {
    /// The maximum number of steps that one series may take where it is stored and where it is shown.
    ///
    /// Of 2,226 series in other projects' files, the costliest takes 483 steps.
    public static let perSeries = 20_000

    /// The steps that are left; negative as soon as more were asked for than were left.
    public internal(set) var left: Int

    public init(steps: Int) { left = steps }

    /// Whether something had to be given up because the budget was too small.
    public var isSpent: Bool { left < 0 }

    /// Takes steps from the budget; false when fewer were left.
    @discardableResult
    public mutating func spend(_ steps: Int) -> Bool {
        guard left >= 0 else { return false }
        left -= steps
        return left >= 0
    }

    /// Does some work with part of the budget.
    ///
    /// - Parameter steps: the most steps that the part has. The steps that the work uses are taken from the whole
    ///   budget; a spent part makes the whole spent only if it was given all that was left.
    public mutating func within<Value>(_ steps: Int, _ work: (inout RecurrenceBudget) -> Value) -> Value {
        let granted = min(steps, max(left, 0))
        var part = RecurrenceBudget(steps: granted)
        let value = work(&part)
        let used = granted - max(part.left, 0)
        left -= part.isSpent && granted == left ? used + 1 : used
        return value
    }
}
