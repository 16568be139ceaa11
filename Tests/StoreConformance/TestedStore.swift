// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import Storage

/// The store that the product's suites use, set by the environment variable `KALENDS_TEST_STORE`.
///
/// `repeating` runs every body twice; `postgresql` replaces each file with a database of the tests' server; without the
/// variable the store is used directly.
public enum TestedStore {
    private static let word = ProcessInfo.processInfo.environment["KALENDS_TEST_STORE"] ?? ""

    /// Whether each database is on the tests' server, so that there are no files.
    public static let isPostgreSQL = word == "postgresql"

    public static func opening(_ open: @escaping StoreOpening) -> StoreOpening {
        switch word {
        case "repeating": { path, mustBeKalends in RepeatingStore(try open(path, mustBeKalends)) }
        case "postgresql":
            { path, mustBeKalends in
                try TestedPostgreSQL.open(path, mustBeKalends: mustBeKalends, isOnly: true)
            }
        default: open
        }
    }
}
