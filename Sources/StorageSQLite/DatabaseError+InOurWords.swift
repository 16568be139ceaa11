// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Storage

extension DatabaseError {
    private static let failuresOfTheDisk: [ResultCode] = [
        .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_CORRUPT, .SQLITE_NOTADB,
    ]

    /// A failure of the engine as the rest of the program sees it, without types, statements or values.
    var inOurWords: any Error {
        switch resultCode {
        case .SQLITE_FULL: StorageError.diskFull
        case .SQLITE_BUSY, .SQLITE_LOCKED: StorageError.contended
        case .SQLITE_CONSTRAINT: StorageError.contradiction(message ?? "\(extendedResultCode)")
        case .SQLITE_INTERRUPT, .SQLITE_ABORT: CancellationError()
        case let code where Self.failuresOfTheDisk.contains(code):
            StorageError.diskFailed(engineCode: Int(extendedResultCode.rawValue))
        default: StorageError.engineFailed(engineCode: Int(extendedResultCode.rawValue))
        }
    }
}
