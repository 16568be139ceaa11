// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ICalBridge

@Suite("Text that is not UTF-8")
struct ReadingCharsetsTests {
    private static func event(_ summary: [UInt8], head: String = "SUMMARY:") -> [UInt8] {
        let text = Reading.calendar(Reading.event(["DTSTART:20260101T090000Z", "\(head)@", "LOCATION:Köln"]))
        let parts = Array(text.utf8).split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        // The UID of the sample has an @ too; the last one is ours.
        return Array(parts.dropLast().joined(separator: [UInt8(ascii: "@")])) + summary + (parts.last ?? [])
    }

    @Test("Windows-1252 and UTF-16 are read and said")
    func western() {
        let text = Reading.calendar(Reading.event(["DTSTART:20260101T090000Z", "SUMMARY:Caf\u{E9} \u{20AC}"]))
        let western = text.unicodeScalars.map { $0 == "\u{20AC}" ? UInt8(0x80) : UInt8(truncatingIfNeeded: $0.value) }
        #expect(CalendarReader().read(western).first?.summary == "Café €")
        #expect(CalendarReader().read(western).codes == ["not-utf8"])
        let little = text.utf16.flatMap { unit -> [UInt8] in [UInt8(truncatingIfNeeded: unit), UInt8(unit >> 8)] }
        #expect(CalendarReader().read([0xFF, 0xFE] + little).first?.summary == "Café €")
        let big = text.utf16.flatMap { unit -> [UInt8] in [UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit)] }
        #expect(CalendarReader().read(big).first?.summary == "Café €")
        #expect(CalendarReader().read([0xEF, 0xBB, 0xBF] + Array(text.utf8)).problems.isEmpty)
    }

    @Test("One bad byte costs neither its line nor the others their letters")
    func mixed() {
        let reading = CalendarReader().read(Self.event(Array("Zürich \u{1F600} ".utf8) + [0xE9, 0xC3]))
        #expect(reading.first?.summary == "Zürich \u{1F600} éÃ")
        #expect(reading.first?.location == "Köln")
        #expect(reading.codes == ["not-utf8"])
    }

    /// 会议在北京 as Python's gb2312 codec writes it.
    private static let chinese: [UInt8] = [0xBB, 0xE1, 0xD2, 0xE9, 0xD4, 0xDA, 0xB1, 0xB1, 0xBE, 0xA9]

    @Test("Chinese in GB 2312 is recognised by its bytes, and reported as a guess")
    func chinese() throws {
        var bytes = Self.event(Self.chinese)
        bytes.replace(Array("Köln".utf8), with: Array("Bonn".utf8))
        let reading = CalendarReader().read(bytes)
        #expect(reading.first?.summary == "会议在北京")
        #expect(reading.codes == ["not-utf8"])
        #expect(reading.problems.first?.severity == .warning)
        #expect(reading.problems.first?.message.contains("GB18030") == true)
        // Read in small parts, of which none alone says what it is.
        let options = { (size: Int) in
            var options = CalendarReader.Options()
            options.partSize = size
            return options
        }
        var summaries: [String?] = []
        _ = try CalendarReader(options: options(40)).stream(
            rereading: {
                var rest = bytes[...]
                return {
                    defer { rest = rest.dropFirst(20) }
                    return rest.isEmpty ? nil : Array(rest.prefix(20))
                }
            }, { summaries += $0.events.map(\.summary) })
        #expect(summaries == ["会议在北京"])
    }

    @Test(
        "German, French and Swedish words are never taken for Chinese",
        arguments: [
            "Größe: äöü ÄÖÜ ß", "Déjà vu, garçon, œuf, à côté", "Åsa på sjöö, ÅÄÖ åäö",
        ])
    func notChinese(_ text: String) {
        let bytes = text.unicodeScalars.map { $0 == "œ" ? 0x9C : UInt8(truncatingIfNeeded: $0.value) }
        #expect(CalendarReader().read(Self.event(bytes)).first?.summary == text)
    }

    @Test("A charset that is declared counts: with the file, or at the property")
    func declared() {
        // Встреча in Windows-1251 and 会議 in Shift_JIS, as Python's codecs write them.
        let russian: [UInt8] = [0xC2, 0xF1, 0xF2, 0xF0, 0xE5, 0xF7, 0xE0]
        let options = CalendarReader.Options()
        var declaring = options
        declaring.declaredCharset = "windows-1251"
        let reading = CalendarReader(options: declaring).read(Self.event(russian))
        #expect(reading.first?.summary == "Встреча")
        #expect(reading.first?.location == "Köln")
        #expect(reading.problems.map(\.severity) == [.repaired])
        let japanese = CalendarReader().read(Self.event([0x89, 0xEF, 0x8B, 0x63], head: "SUMMARY;CHARSET=Shift_JIS:"))
        #expect(japanese.first?.summary == "会議")
        declaring.declaredCharset = "no-such-charset"
        // Fewer letters tell nothing by themselves.
        #expect(CalendarReader(options: declaring).read(Self.event(Array(russian[..<5]))).first?.summary == "Âñòðå")
    }

    @Test("Every charset that is known by a name can be read on this machine")
    func allThere() {
        for charset in Charset.allCases {
            #expect(charset.decoded(Array("plain".utf8)) == Array("plain".utf8), "\(charset)")
            #expect(Charset(named: charset.rawValue) == charset)
        }
        #expect(Charset(named: "utf-8") == nil)
        #expect(Charset(named: "../../etc/passwd") == nil)
        #expect(Charset(named: "ISO-8859-1") == .windows1252)
        #expect(Charset.gb18030.decoded([0xBB]) == nil)
    }
}
