// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// The results of a day's runs.
public struct RunDay: Sendable {
    public var day: CivilDate
    public var succeeded: Int
    public var partial: Int
    public var failed: Int

    public init(day: CivilDate, succeeded: Int, partial: Int = 0, failed: Int = 0) {
        self.day = day
        self.succeeded = succeeded
        self.partial = partial
        self.failed = failed
    }
}

extension RenderContext {
    /// A chart of runs: one column of full height for each day, divided by the runs' results.
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
