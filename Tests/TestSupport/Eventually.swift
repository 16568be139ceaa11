// SPDX-License-Identifier: Apache-2.0

/// A condition that a test waited for and that never held.
package struct NeverHappened: Error, CustomStringConvertible {
    package var description: String
}

/// Waits until a condition holds, looking at it each 20 milliseconds.
///
/// The limit is for a test that hangs: no machine is so busy that correct code takes longer.
///
/// - Parameter what: what should happen, as a sentence.
/// - Throws: ``NeverHappened`` after ten minutes, or what the condition throws.
package func eventually(
    _ what: String, isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + .seconds(600)
    while try await !condition() {
        guard ContinuousClock.now < end else { throw NeverHappened(description: "It never happened: \(what)") }
        try await Task.sleep(for: .milliseconds(20))
    }
}
