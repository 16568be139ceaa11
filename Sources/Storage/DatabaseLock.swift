// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The lock `<database>.lock`: who holds it is the one process that opens the database.
///
/// SQLite before 3.51.3 can damage a database that two processes write (the WAL-reset fault), so the lock is taken
/// before the database, the sockets and the port. The kernel releases it with the process, however that ends.
public final class DatabaseLock: Sendable {
    private let descriptor: CInt

    /// Takes the lock, or throws `StorageError.locked` at once when another process has it.
    public init(path: String) throws {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StorageError.unusable("\(path) cannot be opened: \(Self.reason(errno)).")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            _ = Glibc.close(descriptor)
            guard code == EWOULDBLOCK else {
                throw StorageError.unusable("\(path) cannot be locked: \(Self.reason(code)).")
            }
            throw StorageError.locked(path)
        }
        self.descriptor = descriptor
    }

    deinit { _ = Glibc.close(descriptor) }

    private static func reason(_ code: CInt) -> String {
        // strerror's text is valid until this thread's next call and is copied at once.
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}
