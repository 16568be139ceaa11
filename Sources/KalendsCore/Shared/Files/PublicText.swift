// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import FoundationEssentials
import Glibc
import Storage

/// Returns the description of an error that an operator may read: this program's own sentences in full, and only the
/// type of any other error.
package func publicText(_ error: any Error) -> String {
    switch error {
    case let error as StorageError: error.description
    case let error as SealingKey.Failure: error.description
    case let error as JournalFailure: error.description
    case let error as InputFailure: error.description
    case let error as CocoaError:
        // It concerns a file; its own description is for developers.
        (error.filePath.map { "\(printable($0)): " } ?? "")
            + ((error.underlying as? POSIXError).map { systemReason($0.code.rawValue) }
                ?? "the system does not let it be used")
    default: String(describing: type(of: error))
    }
}
