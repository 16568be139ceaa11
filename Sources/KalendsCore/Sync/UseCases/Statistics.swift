// SPDX-License-Identifier: Apache-2.0

package import Storage

/// Counts of connections and their runs, for the host application and the operator; it holds numbers only.
package struct Statistics: Sendable {
    let acts: Acts
    let kinds: ItemKinds

    /// The periods, in days, over which runs are counted.
    static let spans = [1, 7, 30]

    /// The runs of a provider within a number of days.
    package struct Runs: Sendable {
        package let provider: Connection.Provider
        package let days: Int
        package let counted: SyncStatistics.Runs
    }

    package struct Shown: Sendable {
        package let people: SyncStatistics
        package let runs: [Runs]
        package let officeDays: OfficeFigures
    }

    /// The runs of all providers on one UTC day.
    package struct Day: Sendable {
        /// Days since 1970.
        package let number: Int
        package let counted: SyncStatistics.Runs
    }

    package func read(for caller: Caller) async throws -> Shown {
        let now = acts.now()
        return try await acts.store.read {
            try Rights.everything(for: caller.identity, in: $0).statistics(kinds, now: now)
        }
    }
}

extension AuthorizedInstallation {
    package func statistics(_ kinds: ItemKinds, now: Int) throws -> Statistics.Shown {
        let runs = try Connection.Provider.allCases.flatMap { provider in
            try Statistics.spans.map { days in
                Statistics.Runs(
                    provider: provider, days: days,
                    counted: try transaction.syncRuns(by: provider, days: days, now: now))
            }
        }
        let people = try transaction.syncStatistics(now: now) {
            try ConnectionConfiguration(stored: $0, kinds).twoWay
        }
        return Statistics.Shown(
            people: people, runs: runs,
            officeDays: try transaction.officeFigures(now: now, day: now.floorDivided(by: 86_400_000)))
    }

    /// Returns the last 30 days that had a run, in order.
    package func runHistory(now: Int) throws -> [Statistics.Day] {
        try transaction.syncDays(30, now: now).map { Statistics.Day(number: $0.day, counted: $0.runs) }
    }

    /// Returns the five accounts to which most requests were sent today.
    package func busiestAccounts(now: Int) throws -> [AccountRequests] {
        try transaction.busiestAccounts(limit: 5, now: now)
    }

    /// Returns up to a hundred connections that need attention: those that wait for their person, and those that fail.
    package var troubles: [Connection] { get throws { try transaction.connectionsInTrouble(limit: 100) } }
}
