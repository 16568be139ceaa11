// SPDX-License-Identifier: Apache-2.0

internal import Storage

extension PostgreSQLStore {
    public func lookForForeignChange() async throws {
        try await writer.run { [self] slot in
            do {
                let session = try writing(&slot)
                try session.run("SELECT 1")
                maker.noteAnswer()
                if session.wasRung() { clock.note(nil) }
            } catch let failure as SessionFailure {
                slot = nil
                throw failure.inOurWords
            }
        }
    }

    public var isShared: Bool { use == .shared }
    public var isInPlace: Bool { true }

    public var isReachable: Bool { maker.isReachable }

    /// Writes the state of one moment to a file of the embedded engine.
    public func backup(to path: String) async throws {
        let file = try StagedFile(new: path)
        do {
            let copy = try copies(file.staged, false)
            do {
                try await TableCopy.copy(from: self, to: copy)
                try await copy.record { try $0.forgetAccessJournal() }
                try copy.close()
            } catch {
                try? copy.close()
                throw error
            }
            try file.publish()
        } catch {
            file.discard()
            throw error
        }
    }
}
