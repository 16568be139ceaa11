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

    package func read(for caller: Caller) async throws -> Shown {
        try Rights.installation(caller.identity)
        let now = acts.now()
        return try await acts.store.read { transaction in
            let people = try transaction.syncStatistics(now: now) {
                try ConnectionConfiguration(stored: $0, kinds).twoWay
            }
            var runs: [Runs] = []
            for provider in Connection.Provider.allCases {
                for days in Self.spans {
                    runs.append(
                        Runs(
                            provider: provider, days: days,
                            counted: try transaction.syncRuns(by: provider, days: days, now: now)))
                }
            }
            return Shown(
                people: people, runs: runs,
                officeDays: try transaction.officeFigures(now: now, day: now.floorDivided(by: 86_400_000)))
        }
    }

    /// The runs of all providers on one UTC day.
    package struct Day: Sendable {
        /// Days since 1970.
        package let number: Int
        package let counted: SyncStatistics.Runs
    }

    /// Returns the last 30 days that had a run, in order.
    package func history(for caller: Caller) async throws -> [Day] {
        try Rights.installation(caller.identity)
        let now = acts.now()
        return try await acts.store.read { transaction in
            try transaction.syncDays(30, now: now).map { Day(number: $0.day, counted: $0.runs) }
        }
    }

    /// Returns up to a hundred connections that need attention: those that wait for their person, and those that fail.
    package func troubles(for caller: Caller) async throws -> [Connection] {
        try Rights.installation(caller.identity)
        return try await acts.store.read { try $0.connectionsInTrouble(limit: 100) }
    }
}
