// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import Storage

/// Which store the suites of the product run over, by the environment variable `KALENDS_TEST_STORE`.
///
/// `repeating` runs every body twice; without the variable the store is used as it is.
public enum TestedStore {
    public static func opening(_ open: @escaping StoreOpening) -> StoreOpening {
        guard ProcessInfo.processInfo.environment["KALENDS_TEST_STORE"] == "repeating" else { return open }
        return { path, mustBeKalends in RepeatingStore(try open(path, mustBeKalends)) }
    }
}
