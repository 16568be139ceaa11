// SPDX-License-Identifier: Apache-2.0

/// The versions of the schema that a program knows.
package struct SchemaHistory: Sendable {
    package var migrations = Schema.migrations
    package var expansions = Schema.expansions

    package init() {}

    package var latest: Int { migrations.count }

    /// The oldest version whose programs can work with the latest.
    package var oldest: Int {
        var version = latest
        while expansions.contains(version) { version -= 1 }
        return version
    }

    /// Whether programs that know `version` can work with the latest.
    package func expands(_ version: Int) -> Bool { version > 0 && (oldest...latest).contains(version) }
}
