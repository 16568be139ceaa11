// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import Storage

/// Which store the suites of the product run over, by the environment variable `KALENDS_TEST_STORE`.
///
/// `repeating` runs every body twice; `postgresql` puts a database of the tests' server in the place of each file; without
/// the variable the store is used as it is.
public enum TestedStore {
    private static let word = ProcessInfo.processInfo.environment["KALENDS_TEST_STORE"] ?? ""

    /// Whether each database is on the tests' server, so that there is no file.
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
