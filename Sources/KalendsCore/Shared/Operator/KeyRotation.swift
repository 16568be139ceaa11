// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
import Storage
import Synchronization

/// Replaces the sealing key while the server runs; until the rotation ends, both keys open what is sealed.
package final class KeyRotation: Sendable {
    package struct Outcome: Sendable {
        package var resealed = 0
        /// The number of texts that neither key opens; they stay as they are.
        package var lost = 0
    }

    private let key: SealingKey
    /// Nil when the key is a setting.
    private let files: KeyFiles?
    private let isBusy = Mutex(false)

    /// The maximum number of rows that one transaction reseals: a few milliseconds in which other writers wait.
    private static let rows = 200

    package init(key: SealingKey, files: KeyFiles?) { (self.key, self.files) = (key, files) }

    /// Whether a rotation was interrupted and has to be requested again.
    package var isUnfinished: Bool { files?.isRotating == true && !isBusy.withLock { $0 } }

    /// Makes a new key, or continues an interrupted rotation with its key.
    func rotate(_ acts: Acts, for caller: Caller) async throws -> Outcome {
        guard let files else {
            throw Refusal.conflict(
                """
                The sealing key is a setting here: put the new one in its place, and run `kalends reseal` with the former \
                one.
                """)
        }
        guard
            isBusy.withLock({ isBusy in
                defer { isBusy = true }
                return !isBusy
            })
        else { throw Refusal.conflict("The sealing key is already being rotated.") }
        defer { isBusy.withLock { $0 = false } }
        key.turn(to: try files.makeNext())
        var outcome = Outcome()
        for column in SealedColumn.all { try await reseal(column, in: acts.store, &outcome) }
        let count = outcome.resealed
        try await acts.act(on: .installation(touchingNoCircle: "The sealed text stays the same."), for: caller) {
            _ in
            ActResult(noting: AuditNote(.sealingKeyRotated, "sealingKey", detail: ["texts": .integer(count)]))
        }
        try files.finish()
        return outcome
    }

    private func reseal(_ column: SealedColumn, in store: any Store, _ outcome: inout Outcome) async throws {
        var position: String? = ""
        while let begin = position {
            let key = key
            let (part, lost) = try await store.record { transaction in
                var lost = 0
                let part = try transaction.reseal(column, after: begin, limit: Self.rows) { name, sealed in
                    let purpose = column.purpose(name)
                    guard !purpose.isEmpty else { return nil }
                    if (try? key.open(sealed, for: purpose)) == nil { lost += 1 }
                    return try key.renewed(sealed, for: purpose)
                }
                return (part, lost)
            }
            position = part.last
            outcome.resealed += part.replaced
            outcome.lost += lost
        }
    }
}
