// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Logging
import Storage

/// What became of an import whose work went on behind the answer.
enum ImportFailure {
    static let interrupted = ProblemDocument(
        Refusal(
            .failed, code: .interrupted,
            detail: "The server ended before the import was done, so nothing of it was brought in. Ask for it again.")
    ).json

    /// The problem document that the answer would have been; nil when the work was broken off, and the next start tells.
    static func problem(_ error: any Error, _ logger: Logger) -> JSONValue? {
        switch error {
        case let refusal as Refusal: return ProblemDocument(refusal).json
        case is CancellationError: return nil
        case let error as StorageError:
            logger.error("import failed", metadata: ["error": "\(publicText(error))"])
            return ProblemDocument(Refusal(error) ?? .failed).json
        default:
            logger.error("import failed", metadata: ["error": "\(publicText(error))"])
            return ProblemDocument(.failed).json
        }
    }
}
