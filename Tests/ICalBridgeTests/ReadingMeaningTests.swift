// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ICalBridge

@Suite("The meaning of a file beyond its text")
struct ReadingMeaningTests {
    @Test("A title that says cancelled makes the event a cancelled one, and is reported")
    func cancelledTitle() {
        let reading = Reading.ofEvent("DTSTART:20260101T090000Z", "SUMMARY:Canceled: lunch", "STATUS:CONFIRMED")
        #expect(reading.first?.status == "CANCELLED")
        #expect(reading.codes == ["cancelled-by-title"])
        #expect(Reading.ofEvent("DTSTART:20260101T090000Z", "SUMMARY:Cancelled flights").problems.isEmpty)
    }

    @Test("A text that was escaped twice is read as it was before", arguments: ["", ";LANGUAGE=de"])
    func doubleEscapes(_ parameter: String) {
        let reading = Reading.ofEvent("DTSTART:20260101T090000Z", "LOCATION\(parameter):Room 5\\\\, Berlin\\\\nHouse B")
        #expect(reading.first?.location == "Room 5, Berlin\nHouse B")
        #expect(reading.codes == ["double-escaped"])
        // One that is not escaped shows that the other is meant literally.
        let meant = Reading.ofEvent("DTSTART:20260101T090000Z", "LOCATION:A backslash\\, and a comma: \\\\,")
        #expect(meant.first?.location == "A backslash, and a comma: \\,")
        #expect(meant.problems.isEmpty)
        let path = Reading.ofEvent("DTSTART:20260101T090000Z", "LOCATION:C:\\\\new\\\\table")
        #expect(path.first?.location == "C:\\new\\table")
        #expect(path.problems.isEmpty)
    }

    @Test(
        "HTML in a description becomes text",
        arguments: [
            ("<b>Bring</b> tea", "Bring tea"), ("one<br>two<br/>three", "one\ntwo\nthree"),
            ("<p>a</p><p>b &amp; c&nbsp;d</p>", "a\n\nb & c d"),
            ("<ul><li>x</li><li>y</li></ul>z", "- x\n- y\nz"),
            ("<a href=\"https://example.org/a?b=1\">Join</a> now", "Join (https://example.org/a?b=1) now"),
            ("<a href='https://example.org'>https://example.org</a>", "https://example.org"),
            ("<html><head><style>p { color: red }</style></head><body>Hi<br>&#8364;&#x20AC;</body></html>", "Hi\n€€"),
            ("<span title=\"a > b\">x</span>", "x"),
        ])
    func html(_ written: String, _ expected: String) {
        let escaped = String(decoding: TextValue.encoded(written.utf8), as: UTF8.self)
        let reading = Reading.ofEvent("DTSTART:20260101T090000Z", "DESCRIPTION:\(escaped)")
        #expect(reading.first?.description == expected)
        #expect(reading.codes == ["html-description"])
        // The markup stays, where programs that can show it look for it.
        #expect(reading.first?.otherProperties.map(\.name) == ["X-ALT-DESC"])
        #expect(reading.first?.otherProperties.first.map { TextValue.decoded($0.value.utf8) } == written)
    }

    @Test(
        "What only looks like HTML stays",
        arguments: ["a<b and c>d", "Ann <ann@example.org>", "<3 you", "x < y", "if a<b> then", "<<>>", "&amp; so on"])
    func notHTML(_ text: String) {
        let reading = Reading.ofEvent("DTSTART:20260101T090000Z", "DESCRIPTION:\(text)")
        #expect(reading.first?.description == text)
        #expect(reading.problems.isEmpty)
    }

    @Test(
        "What was mended once is not mended again", arguments: ["&lt;b&gt;x&lt;/b&gt;<br>", "a\\\\\\\\\\,b", "<p></p>"])
    func mendedOnce(_ written: String) {
        let escaped = String(decoding: TextValue.encoded(written.utf8), as: UTF8.self)
        let reading = Reading.ofEvent("DTSTART:20260101T090000Z", "DESCRIPTION:\(escaped)")
        #expect(reading.problems.count == 1)
        let again = CalendarReader().read(reading.calendars.first?.serialized() ?? [])
        #expect(again.first?.description == reading.first?.description)
        #expect(again.problems.isEmpty)
    }

    @Test("What Kalends itself has written comes back as it was")
    func ownTexts() {
        var event = Event(uid: "a", start: .utc(Instant(seconds: 0)), summary: "One\\, two")
        event.description = "<p>as it is</p>"
        event.timestamp = Instant(seconds: 0)
        event.recurrence.additions = [Recurrence.Addition(start: .utc(Instant(seconds: 86_400)))]
        var calendar = ICalendar()
        calendar.productID = ICalendar.kalendsProductID
        calendar.events = [event]
        let reading = CalendarReader().read(calendar.serialized())
        #expect(reading.first?.summary == event.summary)
        #expect(reading.first?.description == event.description)
        #expect(reading.problems.isEmpty)
    }

    @Test("Tags that never end take no time", arguments: ["<a href=\"", "<b ", "<", "</p", "<a\"<", "&#"])
    func endlessTags(_ piece: String) {
        let text = "<br>" + String(repeating: piece, count: 900_000 / piece.utf8.count)
        let time = effort { #expect(HTMLText.plain(text)?.isEmpty == false) }
        #expect(time < .seconds(10))
    }

    @Test("A placeholder year that programs write is reported; a birthday is not")
    func suspiciousDates() {
        #expect(Reading.ofEvent("DTSTART:18991230T000000").codes == ["suspicious-date"])
        #expect(Reading.ofEvent("DTSTART;VALUE=DATE:16010101", "RRULE:FREQ=YEARLY").codes == ["suspicious-date"])
        #expect(Reading.ofEvent("DTSTART:19691231T235959Z").codes == ["suspicious-date"])
        #expect(Reading.ofEvent("DTSTART;VALUE=DATE:19500301", "RRULE:FREQ=YEARLY").problems.isEmpty)
    }

    @Test("A replaced day without its series is a separate event, and is reported")
    func orphans() {
        let lines = ["RECURRENCE-ID:20260102T090000Z", "DTSTART:20260102T100000Z"]
        #expect(
            Reading.ofEvent("RECURRENCE-ID:20260102T090000Z", "DTSTART:20260102T100000Z").codes == ["orphan-override"])
        let whole = Reading.of(
            Reading.calendar(
                Reading.event(lines) + Reading.event(["DTSTART:20260101T090000Z", "RRULE:FREQ=DAILY;COUNT=3"])))
        #expect(whole.problems.isEmpty)
    }

    @Test("The language of a text and the address of another form of it stay with it")
    func textParameters() {
        let lines = [
            "DTSTART:20260101T090000Z", "SUMMARY;LANGUAGE=de:Mittagessen\\, groß",
            "DESCRIPTION;ALTREP=\"cid:part1@example.org\";X-A=b:Mit allen", "LOCATION;CHARSET=UTF-8;VALUE=TEXT:Kantine",
        ]
        for decoder in CalendarReader.Decoder.allCases {
            var options = CalendarReader.Options()
            options.decoder = decoder
            let bytes = Array(Reading.calendar(Reading.event(lines)).utf8)
            let reading = CalendarReader(options: options).read(bytes)
            #expect(reading.first?.summary == "Mittagessen, groß")
            #expect(reading.first?.textParameters?.keys.sorted() == ["DESCRIPTION", "SUMMARY"])
            let text = String(decoding: reading.calendars.first?.serialized() ?? [], as: UTF8.self)
            #expect(text.contains("SUMMARY;LANGUAGE=de:Mittagessen\\, groß\r\n"))
            #expect(text.contains("DESCRIPTION;ALTREP=\"cid:part1@example.org\";X-A=b:Mit allen\r\n"))
            #expect(text.contains("LOCATION:Kantine\r\n"))
            #expect(CalendarReader().read(Array(text.utf8)).first?.textParameters == reading.first?.textParameters)
        }
    }
}
