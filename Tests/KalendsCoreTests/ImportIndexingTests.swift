// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Testing

@testable import KalendsCore

@Suite("The index of a file, made while the file is received")
struct ImportIndexingTests {
    private let zone = TimeZoneReference("Europe/Vienna")

    private static func blocks(_ count: Int) throws -> [[UInt8]] {
        let components = (0..<count).map { number in
            // Every tenth event comes a second time, in another version.
            """
            BEGIN:VEVENT\r\nUID:\(number % 10 == 9 ? number - 9 : number)\r\nDTSTART:20260303T100000\r\n\
            SEQUENCE:\(number % 7)\r\nCLASS:\(number % 3 == 0 ? "PRIVATE" : "PUBLIC")\r\nEND:VEVENT\r\n
            """
        }
        let text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n\(components.joined())END:VCALENDAR\r\n"
        var blocks: [[UInt8]] = []
        _ = try ImportSource(
            Array(text.utf8), assumedTimeZone: "UTC", limit: 1 << 20,
            pass: { blocks += ImportBlock.packed($0).blocks })
        return blocks
    }

    @Test("It is the index of all events, however many were expected", arguments: [0, 10, 5000])
    func same(_ expected: Int) async throws {
        let (zone, spool) = (try #require(zone), try Spool())
        let indexing = ImportIndexing(floatingIn: zone, expecting: expected, of: spool)
        var whole = ImportIndex(floatingIn: zone)
        for block in try Self.blocks(730) {
            indexing.add(try spool.append(block))
            try whole.add(block)
        }
        let index = try await indexing.finished()
        #expect(index.keys == whole.keys && index.keys.count == 730)
        for uid in (0..<731).map(String.init) {
            #expect(index.contains(uid) == whole.contains(uid) && index.isPrivate(uid) == whole.isPrivate(uid))
        }
        #expect(index.keys.indices.allSatisfy { index.isNewest($0) == whole.isNewest($0) })
        #expect(index.zone == zone)
    }

    @Test("A damaged block makes the whole index fail, even if valid blocks follow")
    func damaged() async throws {
        let (zone, spool) = (try #require(zone), try Spool())
        let indexing = ImportIndexing(floatingIn: zone, expecting: 0, of: spool)
        indexing.add(try spool.append(Array("nonsense".utf8)))
        for block in try Self.blocks(200) { indexing.add(try spool.append(block)) }
        await #expect(throws: PackError.self) { _ = try await indexing.finished() }
    }

    @Test("A caller who is cancelled gets no index, and none of a part of the file")
    func cancelled() async throws {
        let (zone, spool) = (try #require(zone), try Spool())
        let indexing = ImportIndexing(floatingIn: zone, expecting: 0, of: spool)
        for block in try Self.blocks(200) { indexing.add(try spool.append(block)) }
        let caller = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await indexing.finished()
        }
        caller.cancel()
        await #expect(throws: CancellationError.self) { _ = try await caller.value }
    }

    @Test("What a process reports in another form than events is no reading")
    func unsound() async throws {
        let summary = ImportSummary(events: 1, skipped: 0, problems: [], zones: [])
        var received = try ReceivedReading(limit: 1 << 20, indexFor: zone, expecting: 0)
        try received.receive(WorkerFrame.block(Array("nonsense".utf8)).bytes) { _ in }
        try received.receive(WorkerFrame.summary(summary).bytes) { _ in }
        #expect(!received.isSound)
        #expect(try await received.reading() == nil)
    }

    @Test("A process cannot make the server gather a frame of any length, or expect more events than come")
    func bounded() async throws {
        var received = try ReceivedReading(limit: 1 << 30, indexFor: nil, expecting: 0)
        try received.receive([UInt8(ascii: "b"), 0, 0x80, 0, 1]) { _ in }
        #expect(!received.isSound)
        received = try ReceivedReading(limit: 1 << 30, indexFor: nil, expecting: 0)
        for block in try Self.blocks(150) { try received.receive(WorkerFrame.block(block).bytes) { _ in } }
        let summary = ImportSummary(events: 151, skipped: 0, problems: [], zones: [])
        try received.receive(WorkerFrame.summary(summary).bytes) { _ in }
        #expect(received.isSound)
        #expect(try await received.reading() == nil)
    }
}
