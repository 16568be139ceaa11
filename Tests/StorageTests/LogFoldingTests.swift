// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import StorageSQLite
import StoreConformance
import Testing

@Suite("The length of SQLite's log", .enabled(if: !TestedStore.isPostgreSQL, "It is about SQLite's file"))
struct LogFoldingTests {
    private static let page = 4096

    private func log(_ home: TemporaryStore) throws -> Int {
        try URL(filePath: home.path + "-wal").resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
    }

    /// Writes about 250 pages, each other than by the write before: SQLite leaves a page that would stay the same.
    private func change(_ number: Int) -> @Sendable (any WriteTransaction) throws -> Void {
        let letter = number.isMultiple(of: 2) ? "x" : "y"
        return { try $0.set("long", to: "\(number)" + String(repeating: letter, count: 1 << 20)) }
    }

    @Test("It begins again once it has 2,000 pages, however much is written")
    func writes() async throws {
        let home = try TemporaryStore()
        for number in 0..<40 { try await home.write(change(number)) }
        #expect(try log(home) > 2000 * Self.page && log(home) < 2600 * Self.page)
    }

    @Test("While one reader follows another it does not grow for good: it begins again as soon as none is left in it")
    func readers() async throws {
        let home = try TemporaryStore()
        // Two readers, so that there is always one.
        let readers = (0..<2).map { number in
            Task { [store = home.store] in
                try await Task.sleep(for: .milliseconds(15 * number))
                while !Task.isCancelled { try await store.read { _ in Thread.sleep(forTimeInterval: 0.03) } }
            }
        }
        for number in 0..<150 {
            try await home.write(change(number))
            // Not faster than a disk is, so that the log may begin again before the end.
            try await Task.sleep(for: .milliseconds(20))
        }
        for reader in readers { reader.cancel() }
        for reader in readers { try? await reader.value }
        #expect(try log(home) < 22_000 * Self.page)
    }

    @Test("It grows longer while events are staged, and begins again after the next write that is not")
    func staging() async throws {
        let home = try TemporaryStore()
        for number in 0..<16 { try await home.store.stage(change(number)) }
        #expect(try log(home) > 3500 * Self.page)
        for number in 16..<60 { try await home.store.stage(change(number)) }
        let longest = try log(home)
        #expect(longest > 6000 * Self.page && longest < 6600 * Self.page)
        // The first one has the log folded, and the others begin it again: the file is not made shorter.
        for number in 60..<64 { try await home.write(change(number)) }
        let kept = try await home.read { try $0.setting("long")?.hasPrefix("63y") }
        #expect(try log(home) == longest && kept == true)
        // All of it is in the file.
        try home.store.close()
        let file = try SQLiteStore(path: home.path)
        #expect(try await file.read { try $0.setting("long")?.hasPrefix("63y") } == true)
        try file.close()
    }
}
