// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("Long files on a terminal")
struct ProgressLineTests {
    private static func file(of megabytes: Int) throws -> URL {
        let file = FileManager.default.temporaryDirectory.appending(path: "long-\(UUID().uuidString).ics")
        var text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n"
        var number = 0
        while text.utf8.count < megabytes * 1_000_000 {
            text += """
                BEGIN:VEVENT\r\nUID:\(number)\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:20260303T100000Z\r\n\
                DESCRIPTION:\(String(repeating: "long ", count: 200))\r\nEND:VEVENT\r\n
                """
            number += 1
        }
        try Data((text + "END:VCALENDAR\r\n").utf8).write(to: file)
        return file
    }

    /// Runs a command whose standard error is a terminal, and returns what was written there.
    private static func onTerminal(_ arguments: [String]) throws -> (status: Int32, transcript: String) {
        let controller = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(controller >= 0)
        // TIOCSPTLCK and TIOCGPTN of Linux: unlock the terminal, and ask for its number. Both variables live throughout.
        var (lock, number): (CInt, CInt) = (0, 0)
        _ = unsafe ioctl(controller, 0x4004_5431, &lock)
        _ = unsafe ioctl(controller, 0x8004_5430, &number)
        let terminal = unsafe open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        try #require(terminal >= 0)
        let process = try SpawnedProgram(
            Programs.kalends, arguments, environment: Programs.environment, in: nil, input: "/dev/null",
            output: "/dev/null", error: "/dev/pts/\(number)")
        _ = close(terminal)
        defer { _ = close(controller) }
        var transcript: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        // A terminal that nobody has open any more reads as an error.
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(controller, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            transcript += chunk[..<count]
        }
        return (process.waitUntilExit(), String(decoding: transcript, as: UTF8.self))
    }

    @Test("A line says how far it is, and is gone at the end", arguments: ["parse", "check", "format"])
    func shown(_ command: String) throws {
        let file = try Self.file(of: 9)
        defer { try? FileManager.default.removeItem(at: file) }
        let (status, transcript) = try Self.onTerminal([command, file.path])
        #expect(status == 0)
        #expect(transcript.contains("reading \(file.path) "))
        #expect(transcript.contains(" %"))
        #expect(transcript.hasSuffix("\r\u{1B}[K"))
    }

    @Test("A short file has none, and a log has none either")
    func notShown() async throws {
        let short = try Self.file(of: 1)
        defer { try? FileManager.default.removeItem(at: short) }
        #expect(try Self.onTerminal(["parse", short.path]).transcript.isEmpty)
    }
}
