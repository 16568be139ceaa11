// SPDX-License-Identifier: Apache-2.0

/// How runs ended on a day.
public struct RunDay: Sendable {
    public var day: CivilDay
    public var succeeded: Int
    public var partial: Int
    public var failed: Int

    public init(day: CivilDay, succeeded: Int, partial: Int = 0, failed: Int = 0) {
        self.day = day
        self.succeeded = succeeded
        self.partial = partial
        self.failed = failed
    }
}

extension Paper {
    /// Success over time: a column a day, full height, divided by how its runs ended.
    func runs(_ days: [RunDay], title: String) -> Node {
        bars(
            Bars(
                days: days.map(\.day),
                kinds: [
                    (words["runSucceeded"], days.map(\.succeeded)), (words["runPartial"], days.map(\.partial)),
                    (words["runFailed"], days.map(\.failed)),
                ], colors: [3, 1, 4, 0, 2, 5]), title: title, caption: title)
    }
}
