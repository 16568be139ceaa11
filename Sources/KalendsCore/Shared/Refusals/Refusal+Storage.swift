// SPDX-License-Identifier: Apache-2.0

package import Storage

extension Refusal {
    /// Reports a database that cannot be written; nil for every other failure of the store.
    package init?(_ error: StorageError) {
        switch error {
        case .diskFull:
            self.init(
                .outOfSpace,
                detail: "The server's disk is full, so nothing was changed. Ask again when there is room.",
                retryAfter: 5)
        case .fileGone:
            self.init(
                .unavailable, code: .databaseGone,
                detail: "The server's database was deleted or replaced while the server ran, so nothing was changed.",
                retryAfter: 5)
        case .diskFailed:
            self.init(
                .unavailable, code: .diskFailed,
                detail: "The server's disk failed, so nothing was changed. The server's log has the details.",
                retryAfter: 5)
        case .unreachable, .inUse:
            self.init(
                .unavailable, detail: "The server's database cannot be reached, so nothing was changed.", retryAfter: 2)
        case .leaseLost:
            self.init(
                .unavailable, detail: "Another server has taken this over, so nothing was changed.", retryAfter: 2)
        case .contended:
            self.init(
                .unavailable, detail: "Others were changing the same data at the same time, so nothing was changed.",
                retryAfter: 1
            )
        case .outcomeUnknown:
            self.init(
                .unavailable,
                detail: "The server's database was lost at the end of a change. Check whether the change was made.",
                retryAfter: 2)
        case .notWritten:
            self.init(.unavailable, code: .diskFailed, detail: "\(error.description) Nothing was changed.")
        case .unstorable:
            // All readers of requests should check for this; this catches a reader that does not.
            self.init(
                .badRequest, code: .unstorable,
                detail: "A text in the request contains a NUL character, which is not allowed.")
        default: return nil
        }
    }
}
