// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Storage

/// Finds the journal that belongs to a database, or creates one.
///
/// Both hold the same random number. A backup does not hold it, so a journal is never mistaken for that of a restored
/// database.
struct JournalOpening: Sendable {
    let store: any Store
    let path: String
    let bytes: Int
    var durability = AccessDurability.power

    func journal(onPressure: @escaping @Sendable () -> Void) async throws -> AccessJournal {
        try await foldOwnJournal()
        let (known, folded) = try await store.read { transaction in
            (try transaction.accessJournal(), try transaction.accessSequence())
        }
        if let known, unsafe access(path, F_OK) == 0,
            let file = try JournalFile(existing: try SystemJournalDisk(path: path, isNew: false), salt: known)
        {
            // A journal of another size is replaced once everything in it is in the database.
            let isSized = file.capacity == JournalFile.capacity(of: bytes)
            if try isSized || !file.accesses(after: folded, limit: 1).isEmpty {
                return try AccessJournal(file, folded: folded, durability: durability, onPressure: onPressure)
            }
        }
        return try AccessJournal(try await make(), folded: folded, durability: durability, onPressure: onPressure)
    }

    func requireFile() throws(JournalFailure) {
        if let kind = FileKind(path: path, followsLinks: true), kind != .file {
            throw .broken("\(path) is \(kind.rawValue), where the journal has to be: remove it")
        }
    }

    private func make() async throws -> JournalFile {
        let file = try makeFile()
        try await store.record { try $0.setAccessJournal(file.salt) }
        return file
    }

    /// Created under another name and then moved into place: a crash before that leaves a file that nothing refers to.
    func makeFile() throws -> JournalFile {
        let salt = UInt64.random(in: .min ... .max)
        let staged = path + ".new"
        unsafe unlink(staged)
        let file: JournalFile
        do throws(JournalFailure) {
            file = try JournalFile(new: try SystemJournalDisk(path: staged, isNew: true), salt: salt, bytes: bytes)
        } catch {
            unsafe unlink(staged)
            throw error
        }
        guard unsafe rename(staged, path) == 0, Self.syncFolder(of: path) else {
            throw JournalFailure.broken("\(path) cannot be put in place")
        }
        return file
    }

    /// Flushes the folder of a file, because a new name is on the disk only when its folder is.
    private static func syncFolder(of path: String) -> Bool {
        let end = path.lastIndex(of: "/")
        let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { _ = Glibc.close(descriptor) }
        return fsync(descriptor) == 0
    }
}
