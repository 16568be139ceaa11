// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// A lock whose holder is the only process that opens the database, under any of its names.
///
/// SQLite before 3.51.3 can damage a database that two processes write (the WAL-reset fault), so the lock is taken
/// before the database, the sockets and the port. It is taken on `<database>.lock`, which exists before the database
/// does, and on the database's file itself, which another path may lead to. The kernel releases both with the process.
public final class DatabaseLock: Sendable {
    /// The database's file; nil when it does not exist yet.
    public let file: FileIdentity?
    private let descriptors: [CInt]

    /// The files that this process has locked. SQLite loses its own locks on a file when any descriptor of it is
    /// closed, so a file that is locked here is not even opened.
    private static let held = Mutex<Set<FileIdentity>>([])

    /// Takes the lock of a path only, or throws `StorageError.locked` at once when another process has it.
    public init(path: String) throws {
        descriptors = [try Self.take(path, flags: O_RDWR, orThrow: .locked(path))]
        file = nil
    }

    /// Takes the lock of a database.
    ///
    /// - Parameter creates: whether to create an empty file if the file is missing, so that no other process can create
    ///   one.
    /// - Throws: `StorageError.locked` or `lockedElsewhere` at once when another process has it.
    public init(database: String, creates: Bool) throws {
        let named = try Self.take(database + ".lock", flags: O_RDWR, orThrow: .locked(database + ".lock"))
        do {
            guard creates || FileIdentity(path: database) != nil else {
                (descriptors, file) = ([named], nil)
                return
            }
            let (descriptor, identity) = try Self.takeFile(database)
            do {
                try Self.rememberName(of: identity, at: database, in: named)
            } catch {
                Self.release(descriptor, identity)
                throw error
            }
            (descriptors, file) = ([named, descriptor], identity)
        } catch {
            _ = Glibc.close(named)
            throw error
        }
    }

    deinit {
        if let file { _ = Self.held.withLock { $0.remove(file) } }
        for descriptor in descriptors.reversed() { _ = Glibc.close(descriptor) }
    }

    private static func take(_ path: String, flags: CInt, orThrow refusal: StorageError) throws -> CInt {
        if let kind = FileKind(path: path, followsLinks: true), kind != .file {
            throw StorageError.unusable("\(path) must be a lock file, but is \(kind.rawValue): remove it.")
        }
        // The file may have become a pipe, so the call must not wait.
        let descriptor = unsafe open(path, flags | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw StorageError.unusable("\(path) cannot be opened: \(systemReason(errno)).")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            _ = Glibc.close(descriptor)
            guard code == EWOULDBLOCK else {
                throw StorageError.unusable("\(path) cannot be locked: \(systemReason(code)).")
            }
            throw refusal
        }
        return descriptor
    }

    private static func takeFile(_ database: String) throws -> (CInt, FileIdentity) {
        try FileKind.requireFile(database)
        // A restore may replace the file after it was looked up and before it is locked.
        for _ in 0..<10 {
            let known = FileIdentity(path: database)
            let isOurs = held.withLock { held in known.map { held.contains($0) } ?? false }
            guard !isOurs else { throw StorageError.lockedElsewhere(database) }
            let descriptor = try take(database, flags: O_RDONLY, orThrow: .lockedElsewhere(database))
            if let identity = FileIdentity(descriptor: descriptor), identity == FileIdentity(path: database) {
                held.withLock { _ = $0.insert(identity) }
                return (descriptor, identity)
            }
            _ = Glibc.close(descriptor)
        }
        throw StorageError.unusable("\(database) keeps being replaced.")
    }

    private static func release(_ descriptor: CInt, _ identity: FileIdentity) {
        _ = held.withLock { $0.remove(identity) }
        _ = Glibc.close(descriptor)
    }

    /// Requires that a database with several names is always opened by the same one.
    ///
    /// SQLite's log is next to the name by which the file was opened: after a crash, a program that opens it by another
    /// name would lose the changes in the log.
    private static func rememberName(of identity: FileIdentity, at database: String, in lock: CInt) throws {
        let line = Array("\(identity.inode)\n".utf8)
        var kept = [UInt8](repeating: 0, count: 32)
        // Both buffers are valid for the calls, which stay within their lengths.
        let count = unsafe kept.withUnsafeMutableBytes { unsafe pread(lock, $0.baseAddress, $0.count, 0) }
        if count > 0, Array(kept.prefix(count)) == line { return }
        guard identity.names == 1 || identity.size == 0 else {
            throw StorageError.unusable(
                "\(database) has \(identity.names) names (hard links), and this is not the one that it was opened by "
                    + "before. What SQLite keeps beside the other name would be lost: use that one, or remove it.")
        }
        // Without the mark the file has only one name, so a failure here does no harm.
        _ = ftruncate(lock, 0)
        _ = unsafe line.withUnsafeBytes { unsafe pwrite(lock, $0.baseAddress, $0.count, 0) }
    }

}
