// SPDX-License-Identifier: Apache-2.0

import Storage
import StorageSQLite
import Synchronization
import Testing

@testable import FeedTokens

@Suite("The journal of accesses")
struct AccessJournalTests {
    private static let salt: UInt64 = 0xC0FFEE

    private func file(on disk: MemoryDisk, slots: Int = 16) throws -> JournalFile {
        try JournalFile(existing: disk, salt: Self.salt)
            ?? JournalFile(new: disk, salt: Self.salt, bytes: JournalFile.headSize + slots * AccessRecord.size)
    }

    private func opened(
        _ disk: MemoryDisk, folded: Int = 0, slots: Int = 16, durability: AccessDurability = .power,
        _ body: (AccessJournal) async throws -> Void
    ) async throws {
        let journal = try AccessJournal(
            try file(on: disk, slots: slots), folded: folded, durability: durability
        ) {}
        do { try await body(journal) } catch {
            journal.close()
            throw error
        }
        journal.close()
    }

    @Test("A record gives back what it was made of, and nothing with any bit of it changed")
    func records() {
        let networks: [NetworkPrefix] = [
            .local, NetworkPrefix([255, 254, 253, 9]),
            NetworkPrefix([0x20, 1, 0xD, 0xB8, 0xFF, 0xFE] + .init(repeating: 7, count: 10)),
        ]
        for (index, network) in networks.enumerated() {
            let access = FeedAccess(
                feed: 0xFFFF_FFFF - index, at: (1 << 48) - 1 - index, client: 255 - index,
                status: 200 + 104 * (index % 2),
                network: network)
            let one = SequencedAccess(sequence: Int.max - index, access: access)
            let words = AccessRecord(one, salt: 5).words
            #expect(AccessRecord.access(words, salt: 5) == one)
            #expect(AccessRecord.access(words, salt: 6) == nil)
            for bit in 0..<256 {
                var changed = [words.0, words.1, words.2, words.3]
                changed[bit / 64] ^= 1 << UInt64(bit % 64)
                #expect(AccessRecord.access((changed[0], changed[1], changed[2], changed[3]), salt: 5) == nil)
            }
        }
        #expect(AccessRecord.access((0, 0, 0, 0), salt: 5) == nil)
    }

    @Test("A record keeps as much of a version as it says, beside everything else; one that says none has none")
    func versions() throws {
        for version in [1, 0x7FFF, 0x8000, FeedAccess.versionMask, FeedAccess.versionMask + 5, 1 << 40 + 77] {
            let access = FeedAccess(
                feed: 0xFFFF_FFFF, at: 1 << 42 - 1, client: 255, status: 304, network: NetworkPrefix([1, 2, 3, 4]),
                version: version)
            let one = SequencedAccess(sequence: 1 << 48 - 1, access: access)
            let read = try #require(AccessRecord.access(AccessRecord(one, salt: 5).words, salt: 5))
            var expected = one
            expected.access.version = version & FeedAccess.versionMask
            #expect(read == expected)
        }
        let plain = SequencedAccess(
            sequence: 7, access: FeedAccess(feed: 1, at: 1 << 48 - 1, client: 0, status: 200, network: .local))
        #expect(AccessRecord.access(AccessRecord(plain, salt: 5).words, salt: 5) == plain)
    }

    @Test("Networks are written as they are shown")
    func networks() {
        #expect(NetworkPrefix([192, 0, 2, 77]).text == "192.0.2.0/24")
        #expect(NetworkPrefix([0x20, 1, 0xD, 0xB8, 0, 1] + .init(repeating: 0, count: 10)).text == "2001:db8:1::/48")
        #expect(NetworkPrefix([1]) == .local && NetworkPrefix.local.text == "local")
        #expect(NetworkPrefix(bits: 9 << 48 | 5) == .local)
    }

    @Test("Torn at any byte, everything before the torn record is kept, and the next life writes over the rest")
    func survivesTears() async throws {
        let whole = MemoryDisk()
        try await opened(whole) { journal in
            for time in 1...5 {
                // Its last byte is one that a torn write would change.
                var access = FeedAccess.sample(1, at: time)
                access.network = NetworkPrefix([UInt8](repeating: 0xFF, count: 16))
                try await journal.append(access)
            }
        }
        let start = JournalFile.headSize
        for cut in 0..<5 * AccessRecord.size {
            // A cut that left some bytes of the last write and not the others, which are as they were: empty.
            let disk = whole.copy()
            disk.erase(start + AccessRecord.size + cut..<start + 6 * AccessRecord.size)
            let kept = cut / AccessRecord.size
            try await opened(disk) { journal in
                #expect(journal.pending == kept)
                let times = try journal.unfolded(limit: 9).map(\.access.at)
                #expect(times == Array((1...5).prefix(kept)))
                try await journal.append(.sample(1, at: 99))
                let more = try journal.unfolded(limit: 9).map(\.access.at)
                #expect(more == Array((1...5).prefix(kept)) + [99])
            }
        }
    }

    @Test(
        "Accesses that come together are recorded together, all of them or none", arguments: AccessDurability.allCases)
    func groups(durability: AccessDurability) async throws {
        let slots = 3 * AccessJournal.largestGroup
        try await opened(MemoryDisk(), slots: slots, durability: durability) { journal in
            func append(_ times: Range<Int>) async -> Result<Void, JournalFailure> {
                await withCheckedContinuation { continuation in
                    journal.append(times.map { .sample(1, at: $0) }) { continuation.resume(returning: $0) }
                }
            }
            // One that fits into no group of a flush, others around it.
            for times in [1..<4, 4..<2 * AccessJournal.largestGroup, 2 * AccessJournal.largestGroup..<slots] {
                try await append(times).get()
                #expect(journal.pending == times.upperBound - 1)
            }
            // One place is left.
            await #expect(throws: JournalFailure.full) { try await append(slots..<slots + 2).get() }
            #expect(journal.pending == slots - 1 && journal.failure == nil)
            try await append(slots..<slots + 1).get()
            #expect(journal.failure == .full)
            #expect(try journal.unfolded(limit: slots).map(\.access.at) == Array(1...slots))
        }
    }

    @Test("A record behind a torn one is never taken up, not even when the gap was filled")
    func forgetsBehindTears() async throws {
        let disk = MemoryDisk()
        try await opened(disk) { journal in for time in 1...5 { try await journal.append(.sample(1, at: time)) } }
        let start = JournalFile.headSize
        disk.erase(start + 3 * AccessRecord.size..<start + 4 * AccessRecord.size)
        try await opened(disk) { journal in
            #expect(journal.pending == 2)
            try await journal.append(.sample(1, at: 33))
        }
        try await opened(disk) { journal in
            let times = try journal.unfolded(limit: 9).map(\.access.at)
            #expect(times == [1, 2, 33])
        }
    }

    @Test("Places are used again and again, over the end of the file and over reopenings")
    func turns() async throws {
        let disk = MemoryDisk()
        var (next, folded) = (1, 0)
        for round in 0..<40 {
            let count = 1 + round % 16
            try await opened(disk, folded: folded) { journal in
                for _ in 0..<count {
                    try await journal.append(.sample(7, at: next))
                    next += 1
                }
            }
            try await opened(disk, folded: folded) { journal in
                let found = try journal.unfolded(limit: 99)
                #expect(found.map(\.access.at) == Array(next - count..<next))
                #expect(found.map(\.sequence) == found.map(\.access.at))
                folded = next - 1
            }
        }
    }

    @Test("What arrives during a flush shares the next one, in order, and is acknowledged after it")
    func sharesFlushes() async throws {
        let disk = MemoryDisk()
        try await opened(disk, slots: 200) { journal in
            disk.hold()
            let acknowledged = Mutex<[Int]>([])
            let (done, finish) = AsyncStream.makeStream(of: Void.self)
            let before = disk.syncs
            for time in 1...100 {
                journal.append(.sample(1, at: time)) { _ in
                    let count = acknowledged.withLock { list in
                        list.append(time)
                        return list.count
                    }
                    if count == 100 { finish.finish() }
                }
            }
            #expect(acknowledged.withLock { $0 }.isEmpty && journal.pending == 0)
            disk.release()
            for await _ in done {}
            #expect(acknowledged.withLock { $0 } == Array(1...100))
            // The first may have gone alone, or with some; the others waited for it together.
            #expect(disk.syncs - before <= 2)
            let times = try journal.unfolded(limit: 200).map(\.access.at)
            #expect(times == Array(1...100))
        }
    }

    @Test("After a failed flush nothing is acknowledged ever again, also when the next flush would succeed")
    func failsClosed() async throws {
        for isWrite in [false, true] {
            let disk = MemoryDisk()
            try await opened(disk) { journal in
                try await journal.append(.sample(1, at: 1))
                disk.fail(isWrite ? .write : .sync)
                for _ in 0..<3 {
                    await #expect(throws: JournalFailure.broken("planned")) { try await journal.append(.sample(1)) }
                }
                #expect(journal.failure == .broken("planned"))
                // What was acknowledged before is still to be had.
                let times = try journal.unfolded(limit: 9).map(\.access.at)
                #expect(times == [1])
            }
        }
    }

    @Test("Those who wait for a flush that fails are refused, all of them, and those behind them too")
    func refusesWaiting() async throws {
        let disk = MemoryDisk()
        try await opened(disk, slots: 200) { journal in
            disk.hold()
            disk.fail(.sync)
            let results = Mutex<[Bool]>([])
            for time in 1...50 {
                journal.append(.sample(1, at: time)) { result in
                    results.withLock { $0.append((try? result.get()) != nil) }
                }
            }
            disk.release()
            journal.close()
            #expect(results.withLock { $0 } == Array(repeating: false, count: 50))
        }
    }

    @Test("What waits is written when the journal is closed, and nothing is taken afterwards")
    func closes() async throws {
        let disk = MemoryDisk()
        let journal = try AccessJournal(try file(on: disk), folded: 0) {}
        disk.hold()
        let count = Atomic<Int>(0)
        for _ in 0..<9 { journal.append(.sample(1)) { if case .success = $0 { count.add(1, ordering: .relaxed) } } }
        disk.release()
        journal.close()
        #expect(count.load(ordering: .relaxed) == 9)
        await #expect(throws: JournalFailure.closed) { try await journal.append(.sample(1)) }
        try await opened(disk) { #expect($0.pending == 9) }
    }

    @Test("With `process` an access is written when it is acknowledged, at once, and flushed a moment later")
    func writesAtOnce() async throws {
        let disk = MemoryDisk()
        try await opened(disk, slots: 200, durability: .process) { journal in
            disk.hold()
            let acknowledged = Atomic<Int>(0)
            for time in 1...100 {
                journal.append(.sample(1, at: time)) { result in
                    if case .success = result { acknowledged.add(1, ordering: .relaxed) }
                }
                #expect(acknowledged.load(ordering: .relaxed) == time && journal.pending == time)
            }
            // What the process leaves behind when it ends here.
            let left = disk.copy()
            try await opened(left, slots: 200, durability: .process) { next in
                let times = try next.unfolded(limit: 200).map(\.access.at)
                #expect(times == Array(1...100))
            }
            let before = disk.syncs
            disk.release()
            while disk.syncs == before { try await Task.sleep(for: .milliseconds(5)) }
            // Hundred accesses share a flush or two.
            #expect(disk.syncs - before <= 2)
        }
    }

    @Test("With `process`, a close flushes what was written")
    func flushesAtClose() async throws {
        let disk = MemoryDisk()
        let journal = try AccessJournal(try file(on: disk), folded: 0, durability: .process) {}
        try await journal.append(.sample(1, at: 1))
        let before = disk.syncs
        journal.close()
        #expect(disk.syncs > before)
        await #expect(throws: JournalFailure.closed) { try await journal.append(.sample(1)) }
    }

    @Test("With `process`, nothing is acknowledged after a write or a flush that failed", arguments: [true, false])
    func failsClosedAtOnce(isWrite: Bool) async throws {
        let disk = MemoryDisk()
        try await opened(disk, durability: .process) { journal in
            try await journal.append(.sample(1, at: 1))
            disk.fail(isWrite ? .write : .sync)
            if !isWrite { while journal.failure == nil { try await Task.sleep(for: .milliseconds(5)) } }
            for _ in 0..<3 {
                await #expect(throws: JournalFailure.broken("planned")) { try await journal.append(.sample(1)) }
            }
            let times = try journal.unfolded(limit: 9).map(\.access.at)
            #expect(times == [1])
        }
    }

    @Test("With `process`, a full journal refuses, and takes up again what was folded")
    func fullAtOnce() async throws {
        try await opened(MemoryDisk(), slots: 4, durability: .process) { journal in
            for time in 1...4 { try await journal.append(.sample(1, at: time)) }
            await #expect(throws: JournalFailure.full) { try await journal.append(.sample(1, at: 5)) }
            #expect(journal.pending == 4)
            journal.noteFolded(through: 3)
            for time in 6...8 { try await journal.append(.sample(1, at: time)) }
            await #expect(throws: JournalFailure.full) { try await journal.append(.sample(1, at: 9)) }
            let times = try journal.unfolded(limit: 9).map(\.access.at)
            #expect(times == [4, 6, 7, 8])
        }
    }

    @Test("After `process`, whatever a power cut left behind a gap is cleared, in either way of the next start")
    func clearsBehindGaps() async throws {
        for next in AccessDurability.allCases {
            let disk = MemoryDisk()
            let slots = 3 * AccessJournal.largestGroup
            try await opened(disk, slots: slots, durability: .process) { journal in
                for time in 1...slots { try await journal.append(.sample(1, at: time)) }
            }
            let start = JournalFile.headSize
            disk.erase(start + 3 * AccessRecord.size..<start + 4 * AccessRecord.size)
            try await opened(disk, slots: slots, durability: next) { journal in #expect(journal.pending == 2) }
            let rest = try disk.read(at: start + 3 * AccessRecord.size, count: 1 << 22)
            #expect(rest.allSatisfy { $0 == 0 })
        }
    }

    @Test("A file of another database, with a broken head or cut short is not a valid journal")
    func refusesStrangers() throws {
        let disk = MemoryDisk()
        _ = try file(on: disk)
        #expect(try JournalFile(existing: disk, salt: Self.salt) != nil)
        #expect(try JournalFile(existing: disk, salt: 1) == nil)
        for byte in 0..<32 {
            let broken = disk.copy()
            broken.flip(byte)
            #expect(try JournalFile(existing: broken, salt: Self.salt) == nil, "\(byte)")
        }
        let short = disk.copy()
        short.truncate(JournalFile.headSize + 100)
        #expect(try JournalFile(existing: short, salt: Self.salt) == nil)
        #expect(try JournalFile(existing: MemoryDisk(), salt: Self.salt) == nil)
    }

    @Test("A new journal has every byte written, so that no disk can lack room for one later")
    func reserves() throws {
        let disk = MemoryDisk()
        let new = try JournalFile(new: disk, salt: 1, bytes: 3 << 20)
        #expect(try disk.size() == 3 << 20)
        #expect(disk.written == 3 << 20)
        #expect(new.capacity == ((3 << 20) - JournalFile.headSize) / AccessRecord.size)
    }
}
