// SPDX-License-Identifier: Apache-2.0

import Logging
import Storage

/// The reasons why an import failed whose work continued after the answer.
package enum ImportFailure {
    package static let interrupted = Refusal(
        .failed, code: .interrupted,
        detail: "The server stopped before the import was finished, so nothing was imported. Try again.")

    /// Returns what the answer would have been; nil if the work was cancelled, which the next start reports.
    static func refusal(_ error: any Error, _ logger: Logger) -> Refusal? {
        switch error {
        case let refusal as Refusal: return refusal
        case is CancellationError: return nil
        case let error as StorageError:
            logger.error("import failed", metadata: ["error": "\(publicText(error))"])
            return Refusal(error) ?? .failed
        default:
            logger.error("import failed", metadata: ["error": "\(publicText(error))"])
            return .failed
        }
    }
}
