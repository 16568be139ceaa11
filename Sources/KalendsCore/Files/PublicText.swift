// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import FoundationEssentials
import Glibc
import ICalBridge
import Storage

/// What an operator may read of an error: our own sentences in full, and only the type of everything else.
package func publicText(_ error: any Error) -> String {
    switch error {
    case let error as StorageError: error.description
    case let error as SealingKey.Failure: error.description
    case let error as JournalFailure: error.description
    case let error as InputFailure: error.description
    case let error as CocoaError:
        // Of a file; its own text is for developers.
        (error.filePath.map { "\(printable($0)): " } ?? "")
            + ((error.underlying as? POSIXError).map { systemReason($0.code.rawValue) }
                ?? "the system does not let it be used")
    default: String(describing: type(of: error))
    }
}
