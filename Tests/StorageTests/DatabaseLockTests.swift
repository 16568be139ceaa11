// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import StorageSQLite
import TestSupport
import Testing

@Suite("The database's lock")
struct DatabaseLockTests {
    static let flock = "/usr/bin/flock"
    static var hasFlock: Bool { FileManager.default.isExecutableFile(atPath: flock) }

    @Test("A second holder in this process is refused at once, and let in when the first is gone")
    func excludesWithinProcess() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "kalends.sqlite.lock").path
            var first: DatabaseLock? = try DatabaseLock(path: path)
            let error = try #require(throws: StorageError.self) { try DatabaseLock(path: path) }
            #expect(error == .locked(path))
            #expect("\(error)" == "Another process uses this database: it holds \(path).")
            withExtendedLifetime(first) {}
            first = nil
            let second = try DatabaseLock(path: path)
            #expect(throws: StorageError.locked(path)) { try DatabaseLock(path: path) }
            withExtendedLifetime(second) {}
        }
    }

    @Test("Another process is kept out as long as the lock is held", .enabled(if: hasFlock))
    func excludesOtherProcess() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "kalends.sqlite.lock").path
            var lock: DatabaseLock? = try DatabaseLock(path: path)
            #expect(try await Self.run("-n", path, "true") == 1)
            withExtendedLifetime(lock) {}
            lock = nil
            // A moment is granted: another test's child may hold the file between its fork and its exec.
            #expect(try await Self.run("-w", "5", path, "true") == 0)
        }
    }

    @Test("What another process holds is refused until that process ends", .enabled(if: hasFlock))
    func respectsOtherProcess() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "kalends.sqlite.lock").path
            let holder = try ConversingProgram(Self.flock, ["-n", path, "sh", "-c", "echo held; cat"])
            #expect(try await holder.firstLine() == "held")
            #expect(throws: StorageError.locked(path)) { try DatabaseLock(path: path) }
            // cat ends with its input, and the holder with cat.
            _ = try await holder.finish()
            #expect(throws: Never.self) { try DatabaseLock(path: path) }
        }
    }

    @Test("Only its owner can read the lock's file, which stays when the lock is released")
    func keepsFile() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "kalends.sqlite.lock").path
            try withExtendedLifetime(try DatabaseLock(path: path)) {
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                #expect(attributes[.posixPermissions] as? Int == 0o600)
            }
            #expect(FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("A lock that cannot be made says why in one sentence")
    func tellsReason() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "missing/kalends.sqlite.lock").path
            let error = try #require(throws: StorageError.self) { try DatabaseLock(path: path) }
            #expect(error == .unusable("\(path) cannot be opened: No such file or directory."))
        }
    }

    @Test("A database is locked by its file: under another name, by a link of either kind, it is taken already")
    func followsFile() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "k.sqlite").path
            // There is no file yet: the lock makes it, so that two cannot both be the first.
            let lock = try DatabaseLock(database: path, creates: true)
            #expect(FileManager.default.fileExists(atPath: path))
            let (soft, hard) = (directory.appending(path: "soft").path, directory.appending(path: "hard").path)
            try FileManager.default.createSymbolicLink(atPath: soft, withDestinationPath: path)
            try FileManager.default.linkItem(atPath: path, toPath: hard)
            for name in [soft, hard] {
                #expect(throws: StorageError.lockedElsewhere(name)) { try DatabaseLock(database: name, creates: true) }
            }
            #expect(throws: StorageError.locked(path + ".lock")) { try DatabaseLock(database: path, creates: true) }
            withExtendedLifetime(lock) {}
        }
    }

    @Test("Another process finds the file itself locked, whatever it is called", .enabled(if: hasFlock))
    func excludesByFile() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "k.sqlite").path
            let hard = directory.appending(path: "hard").path
            let lock = try DatabaseLock(database: path, creates: true)
            try FileManager.default.linkItem(atPath: path, toPath: hard)
            #expect(try await Self.run("-n", hard, "true") == 1)
            withExtendedLifetime(lock) {}
        }
    }

    @Test("A file with several names is opened only by the one that it was opened by before")
    func remembersName() async throws {
        try await TemporaryStore.withDirectory { directory in
            let (path, hard) = (directory.appending(path: "k").path, directory.appending(path: "hard").path)
            try withExtendedLifetime(try DatabaseLock(database: path, creates: true)) {
                try Data("content".utf8).write(to: URL(filePath: path), options: [])
            }
            try FileManager.default.linkItem(atPath: path, toPath: hard)
            let error = try #require(throws: StorageError.self) { try DatabaseLock(database: hard, creates: false) }
            #expect("\(error)".contains("2 names (hard links)"), "\(error)")
            #expect(throws: Never.self) { try DatabaseLock(database: path, creates: false) }
            try FileManager.default.removeItem(atPath: path)
            #expect(throws: Never.self) { try DatabaseLock(database: hard, creates: false) }
        }
    }

    @Test("A folder, a device and a pipe are not databases", arguments: ["/dev", "/dev/zero"])
    func refusesOthers(path: String) {
        #expect(throws: StorageError.self) { _ = try SQLiteStore(path: path) }
    }

    /// Runs flock to its end and returns its status.
    private static func run(_ arguments: String...) async throws -> Int32 {
        try await runProgram(flock, arguments).status
    }
}
