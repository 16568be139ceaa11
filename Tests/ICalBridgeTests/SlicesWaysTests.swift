// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import ICalBridge

@Suite("One file, read in several ways, is one result", .ownThread)
struct SlicesWaysTests {
    private static func read(
        _ bytes: [UInt8], threads: Int = 1, batchSize: Int = 256, chunkSize: Int? = nil,
        decoder: CalendarReader.Decoder = .libical, listed: Int = 2000
    ) -> CalendarReading {
        var options = CalendarReader.Options(limits: .large, keepsAttachments: true)
        options.limits.problemsOfAKind = listed
        options.threads = threads
        options.batchSize = batchSize
        // However small, a file is read in chunks where a size is given, and as a whole where none is.
        options.chunkedSize = chunkSize ?? .max
        options.chunkSize = chunkSize ?? .max
        options.decoder = decoder
        return CalendarReader(options: options).read(bytes)
    }

    private static func expectSame(_ bytes: [UInt8], _ name: String) {
        let alone = read(bytes)
        #expect(read(bytes, threads: 3, batchSize: 1) == alone, "\(name) on threads")
        for size in [1, 300, bytes.count / 2] {
            #expect(read(bytes, chunkSize: size) == alone, "\(name) in chunks of \(size)")
            #expect(read(bytes, threads: 3, chunkSize: size) == alone, "\(name) in chunks of \(size) on threads")
        }
        #expect(read(bytes, decoder: .libicalAlways) == alone, "\(name) with libical")
        #expect(read(bytes, decoder: .swift) == alone, "\(name) without libical")
        let short = read(bytes, listed: 1)
        #expect(read(bytes, threads: 2, batchSize: 2, listed: 1) == short, "\(name) with few problems listed")
        #expect(read(bytes, threads: 2, chunkSize: 1, listed: 1) == short, "\(name) in chunks with few problems listed")
    }

    @Test("Files that others wrote")
    func corpus() throws {
        for file in CalendarFile.all {
            let (path, bytes) = (file.path, try file.bytes)
            // Debug builds are slow, and the long files repeat what the short ones have.
            guard bytes.count < 150_000 else { continue }
            Self.expectSame(bytes, path)
        }
    }

    @Test("What hangs on the order of the components, wherever a batch ends")
    func order() {
        var lines: [String] = ["X-WR-TIMEZONE:Europe/Rome"]
        for index in 0..<40 {
            lines += ["BEGIN:VEVENT", "DTSTAMP:20260101T000000Z"]
            if index % 3 > 0 { lines.append("UID:\(index % 10)@example.org") }
            if index % 10 == 4 { lines.append("RECURRENCE-ID:20260102T000000Z") }
            let zone = index % 4 == 3 ? "" : ";TZID=Zone \(index % 5)"
            lines.append(index % 10 == 5 ? "DTSTART;VALUE=DATE:20260101" : "DTSTART\(zone):20260101T090000")
            lines += ["SUMMARY:Same", "SEQUENCE:\(index % 7 == 0 ? "x" : "1")", "END:VEVENT"]
        }
        let bytes = Array(Reading.calendar(lines).utf8)
        let alone = Self.read(bytes)
        #expect(alone.codes.contains("missing-uid"))
        #expect(alone.codes.contains("zone-unknown"))
        for size in [1, 2, 3, 7] {
            for threads in [1, 2, 5] {
                #expect(Self.read(bytes, threads: threads, batchSize: size) == alone)
                #expect(Self.read(bytes, threads: threads, chunkSize: size * 200) == alone)
            }
        }
    }

    @Test("Files whose middle is anything, read in chunks")
    func chunks() throws {
        let odd = [
            [], ["END:VCALENDAR", "BEGIN:VCALENDAR"], ["X-A:b"], ["BEGIN:VTIMEZONE", "TZID:A", "END:VTIMEZONE"],
            ["junk"], ["END:VEVENT"], ["BEGIN:VEVENT"], ["X-A:caf\u{E9}"], ["BEGIN:X-B", "END:X-B"], [" folded"],
            ["DESCRIPTION;ENCODING=QUOTED-PRINTABLE:a="], ["SUMMARY:a", "b", "c"], ["\u{1}X-A:b"], ["X-A:b\rX-C:d"],
            ["END:VEVENT", "BEGIN:VEVENT"], ["X-A:\0b"], ["X-A:<\\\\,\u{202E}e\u{301}"],
        ]
        var chunked = 0
        for (number, middle) in odd.enumerated() {
            for position in [0, 19, 20, 21, 40] {
                var lines = (0..<40).flatMap { index -> [String] in
                    let sequence = index % 5 == 0 ? "x" : "1"
                    return Reading.event(["DTSTART:20260105T090000Z", "SUMMARY:\(index)", "SEQUENCE:\(sequence)"])
                }
                lines.insert(contentsOf: middle, at: position * 7)
                for ending in ["\r\n", "\n", "\r"] {
                    let text = Reading.calendar(lines).replacing("\r\n", with: ending)
                    let bytes = Array(text.utf8)
                    var options = CalendarReader.Options()
                    (options.chunkedSize, options.chunkSize) = (100, 500)
                    if CalendarReader(options: options).readChunks(bytes) != nil { chunked += 1 }
                    Self.expectSame(bytes, "\(number) at \(position)")
                }
            }
        }
        #expect(chunked > 30)
    }

    @Test("Texts with any spaces, escapes and bytes are what libical makes of them")
    func texts() {
        let pieces = [
            "a", " ", "  ", "\\n", "\\N", "\\,", "\\;", "\\\\", "\\", "\"", ":", ";", ",", "\t", "é", "😀", "%41",
            "\\\"",
            "\\t", String(repeating: "x", count: 70), String(repeating: " ", count: 75), "\r\n ", "=", "\u{A0}", "'",
        ]
        var state: UInt64 = 3
        func random(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(count))
        }
        for round in 0..<20 {
            let events = (0..<40).flatMap { index in
                let text = (0...random(9)).map { _ in pieces[random(pieces.count)] }.joined()
                let name = ["SUMMARY", "DESCRIPTION", "LOCATION", "UID", "CATEGORIES", "URL", "STATUS"][random(7)]
                return [
                    "BEGIN:VEVENT", "DTSTAMP:20260101T000000Z", "DTSTART:20260101T0\(index % 10)0000Z",
                    "\(name):\(text)", "X-A:\(text)", "BEGIN:VALARM", "TRIGGER:-PT\(random(90))M",
                    "DESCRIPTION:\(text)", "END:VALARM", "END:VEVENT",
                ]
            }
            Self.expectSame(Array(Reading.calendar(events).utf8), "round \(round)")
        }
    }
}

@Suite("Questions about bytes, answered by words")
struct ByteWordsTests {
    @Test("The number of a byte and whether it is doubled, wherever it is")
    func answers() {
        var state: UInt64 = 11
        func random(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(count))
        }
        // The neighbours of the byte, whose difference carries most, and both ends of the range.
        let pieces: [UInt8] = [91, 92, 93, 220, 0, 255, 10, 9, 11, 138]
        for _ in 0..<3000 {
            let bytes = (0..<random(40)).map { _ in pieces[random(pieces.count)] }
            for byte in pieces {
                #expect(ByteWords.count(of: byte, in: bytes.span) == bytes.count { $0 == byte })
                let isDoubled = zip(bytes, bytes.dropFirst()).contains { $0 == byte && $1 == byte }
                #expect(ByteWords.containsPair(of: byte, in: bytes.span) == isDoubled)
            }
        }
    }
}
