// SPDX-License-Identifier: Apache-2.0

import Base
import Glibc
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront

@Suite("Where the log goes")
struct LogSinkTests {
    private static func pipe() throws -> (reading: CInt, writing: CInt) {
        var ends: [CInt] = [0, 0]
        try #require(unsafe Glibc.pipe(&ends) == 0)
        return (ends[0], ends[1])
    }

    /// Returns what has arrived, once it has enough lines.
    private static func lines(_ descriptor: CInt, until isEnough: ([Substring]) -> Bool) async throws -> [Substring] {
        var (lines, rest): ([Substring], [UInt8]) = ([], [])
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        for _ in 0..<20_000 {
            var piece = [UInt8](repeating: 0, count: 1 << 16)
            let count = unsafe piece.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else {
                try await Task.sleep(for: .milliseconds(5))
                continue
            }
            rest += piece.prefix(count)
            guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { continue }
            lines += String(decoding: rest[...end], as: UTF8.self).split(separator: "\n")
            rest.removeSubrange(...end)
            if rest.isEmpty, isEnough(lines) { return lines }
        }
        Issue.record("the lines did not come")
        return []
    }

    @Test("What many threads log comes whole, once, and in the order of each")
    func many() async throws {
        let (reading, writing) = try Self.pipe()
        defer { close(reading) }
        let sink = try LogSink(writing, as: .text)
        async let found = Self.lines(reading) { $0.count == 4000 }
        await withTaskGroup { group in
            for writer in 0..<4 {
                group.addTask {
                    for number in 0..<1000 { sink.append(Array("\(writer) \(number)\n".utf8), isUrgent: false) }
                }
            }
        }
        let lines = try await found
        for writer in 0..<4 {
            let own = lines.filter { $0.hasPrefix("\(writer) ") }.compactMap { Int($0.dropFirst(2)) }
            #expect(own == Array(0..<1000))
        }
        #expect(await sink.flush(within: .seconds(20)))
    }

    @Test(
        "A reader that stalls holds nobody up: lines are left out, and the log says how many; warnings have room of their own"
    )
    func stalled() async throws {
        let (reading, writing) = try Self.pipe()
        defer { close(reading) }
        let sink = try LogSink(writing, as: .text)
        let line = Array(String(repeating: "x", count: 999).utf8) + [UInt8(ascii: "\n")]
        // Twice the room and what a pipe holds; nobody reads, and this ends all the same.
        let count = 2 * LogSink.room / line.count + 200
        for _ in 0..<count { sink.append(line, isUrgent: false) }
        #expect(await !sink.flush(within: .milliseconds(50)))
        sink.append(Array("urgent\n".utf8), isUrgent: true)
        // Reported once or several times, before the urgent line or behind it: the thread runs when the system lets it.
        func leftOut(_ lines: [Substring]) -> Int {
            lines.reduce(0) { $0 + ($1.firstMatch(of: /left out: .* lines=(\d+)$/).flatMap { Int($0.1) } ?? 0) }
        }
        func whole(_ lines: [Substring]) -> Int { lines.count { $0.hasPrefix("xxx") } }
        let lines = try await Self.lines(reading) { whole($0) + leftOut($0) >= count && $0.contains("urgent") }
        #expect(leftOut(lines) > 0)
        #expect(whole(lines) + leftOut(lines) == count)
        sink.append(Array("after\n".utf8), isUrgent: false)
        #expect(try await Self.lines(reading) { $0.last == "after" } == ["after"])
    }

    @Test("A reader that is gone ends neither the process nor its loggers")
    func gone() async throws {
        let (reading, writing) = try Self.pipe()
        close(reading)
        let sink = try LogSink(writing, as: .text)
        for _ in 0..<100 { sink.append(Array("line\n".utf8), isUrgent: true) }
        #expect(await sink.flush(within: .seconds(20)))
    }
}
