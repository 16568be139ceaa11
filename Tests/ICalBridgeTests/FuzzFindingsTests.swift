// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ICalBridge

/// Inputs that `make fuzz` found and that were then reduced; each once broke a promise of Tests/Fuzz.
@Suite("What fuzzing found stays found")
struct FuzzFindingsTests {
    /// The strict text of the one calendar of a file, which has to be read as the same text.
    private static func written(_ text: String) throws -> String {
        let reader = CalendarReader(options: .init(keepsAttachments: true))
        let calendar = try #require(reader.read(Array(text.utf8)).calendars.first)
        let bytes = calendar.serialized()
        let again = reader.read(bytes)
        #expect(again.calendars.count == 1)
        #expect(!again.problems.contains { $0.severity == .error })
        #expect(again.calendars.first?.events.count == calendar.events.count)
        #expect(again.calendars.first.map { Forms.text($0.serialized()) } == Forms.text(bytes))
        return Forms.text(bytes)
    }

    @Test("A BEGIN that names no component is not kept as a property, where it would open one in every feed")
    func beginAsProperty() throws {
        let long = String(repeating: "{", count: 65)
        for line in ["BEGIN:\(long)", "END:\(long)", "BEGIN;X=1:VEVENT", "END;X=1:VEVENT", "begin;x=1:vevent"] {
            let event = Reading.event(["DTSTART:20260101T090000Z", line])
            let text = try Self.written(Reading.calendar([line] + event))
            #expect(text.matches(of: /BEGIN:/).count == 2, "\(line)")
            #expect(text.matches(of: /END:/).count == 2, "\(line)")
            #expect(Reading.of(Reading.calendar([line] + event)).codes.contains("line-not-property"))
        }
    }

    @Test("A TRANSP that says nothing is not written beside one that does")
    func secondTransparency() throws {
        let both = try Self.written(
            Reading.calendar(Reading.event(["DTSTART:20260101", "TRANSP:TRA", "TRANSP:B", "TRANSP:OPAQUE"])))
        #expect(both.matches(of: /TRANSP/).count == 1)
        let none = try Self.written(Reading.calendar(Reading.event(["DTSTART:20260101", "TRANSP:A", "TRANSP:B"])))
        #expect(none.matches(of: /TRANSP/).count == 1)
    }

    @Test("Another program's X-LIC-ERROR is left out and reported, wherever it is")
    func libraryErrors() throws {
        let error = "X-LIC-ERROR;X-LIC-ERRORTYPE=VALUE-PARSE-ERROR:No value for LOCATION property"
        let alarm = ["BEGIN:VALARM", "TRIGGER:-PT5M", error, "END:VALARM"]
        let calendar = Reading.calendar([error] + Reading.event(["DTSTART:20260101T090000Z", error] + alarm))
        #expect(!(try Self.written(calendar).contains("X-LIC-ERROR")))
        #expect(Reading.of(calendar).codes == ["library-error", "library-error", "library-error"])
    }

    @Test("A time beyond the last year that a zone is known for does not write out each of its changes")
    func farFuture() throws {
        let text = try Self.written(
            Reading.calendar(
                Reading.event([
                    "DTSTART;TZID=America/New_York:20210302T103000", "DTEND;TZID=America/New_York:40420604T113000",
                ])))
        #expect(text.utf8.count < 1000)
    }

    @Test("A second text in quoted-printable does not take in the line after it when it is written")
    func keptQuotedPrintable() {
        let reading = Reading.ofEvent(
            "DTSTART:20260101T090000Z", "SUMMARY:One",
            "SUMMARY;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Caf=C3=A9=0Atwo=")
        let kept = reading.first?.otherProperties.first
        #expect(kept?.name == "SUMMARY" && kept?.parameters.isEmpty == true)
        #expect(kept?.value.hasPrefix("Café\\ntwo") == true)
        let written = reading.calendars.first?.serialized() ?? []
        let again = CalendarReader().read(written)
        #expect(again.calendars.first?.serialized() == written)
        #expect(again.events.count == 1)
    }

    @Test("A parameter that only looks like quoted-printable takes in no other line")
    func nearlyQuotedPrintable() {
        let reading = Reading.ofEvent(
            "DTSTART:20260101T090000Z", "X-A;ENCODING?QUOTED-PRINTABLE=b:a=", "LOCATION:Here", "SUMMARY:One")
        #expect(reading.first?.location == "Here")
        #expect(reading.first?.otherProperties.first?.value == "a=")
    }

    @Test("A text without a value, but with parameters, does not take the place of the one after it")
    func emptyTextBeforeAnother() {
        let parameters = [";LANGUAGE=de", ";ALTREP=\"cid:part1@example.org\"", ";ENCODING=QUOTED-PRINTABLE"]
        for name in ["SUMMARY", "DESCRIPTION", "LOCATION"] {
            for parameter in parameters {
                let lines = ["DTSTART:20260101T090000Z", "\(name)\(parameter):", "\(name): Second"]
                let bytes = Array(Reading.calendar(Reading.event(lines)).utf8)
                for decoder in CalendarReader.Decoder.allCases {
                    var options = CalendarReader.Options()
                    options.decoder = decoder
                    let reading = CalendarReader(options: options).read(bytes)
                    #expect(reading.codes.isEmpty, "\(name)\(parameter), \(decoder)")
                    let event = reading.first
                    #expect([event?.summary, event?.description, event?.location].compactMap(\.self) == [" Second"])
                    #expect(event?.textParameters == nil)
                    #expect(event?.otherProperties.isEmpty == true)
                }
            }
        }
    }

    @Test("A parameter's name that a line break or a control character cuts has the meaning that it has when written")
    func cutParameterName() {
        for cut in ["C\r\nHARSET", "C\nHARSET", "CHAR\u{0}SET", "CHARSET\u{7F} ", "\u{1} CHARSET"] {
            let lines = ["DTSTART:20260101T090000Z", "SUMMARY;\(cut)=utf-8;LANGUAGE=de:One"]
            let bytes = Array(Reading.calendar(Reading.event(lines)).utf8)
            for decoder in CalendarReader.Decoder.allCases {
                var options = CalendarReader.Options()
                options.decoder = decoder
                let reading = CalendarReader(options: options).read(bytes)
                #expect(reading.first?.summary == "One")
                #expect(reading.first?.textParameters == ["SUMMARY": [.init(name: "LANGUAGE", values: ["de"])]])
                let written = reading.calendars.first?.serialized() ?? []
                #expect(CalendarReader().read(written).calendars.first?.serialized() == written)
            }
        }
    }

    @Test("An override that does not say which occurrence it replaces is lost, and the series stays")
    func unreadableRecurrenceID() throws {
        let series = Reading.event(["DTSTART:20260302T090000Z", "RRULE:FREQ=WEEKLY", "SUMMARY:Series"])
        for value in ["RECURRENCE-ID:20260230T090000Z", "RECURRENCE-ID;RANGE=THISANDFUTURE:soon"] {
            let override = Reading.event([value, "DTSTART:20260309T100000Z", "SEQUENCE:2", "SUMMARY:Later"])
            let bytes = Array(Reading.calendar(series + override).utf8)
            for decoder in CalendarReader.Decoder.allCases {
                var options = CalendarReader.Options()
                options.decoder = decoder
                let reading = CalendarReader(options: options).read(bytes)
                #expect(reading.events.map(\.summary) == ["Series"], "\(value), \(decoder)")
                #expect(reading.skipped == 1)
                let errors = reading.problems.filter { $0.severity == .error }
                #expect(errors.contains { $0.code == "recurrence-id-unreadable" })
                #expect(errors.allSatisfy { $0.uid == "one@example.org" })
            }
            #expect(Reading.of(Reading.calendar(override)).refusal?.contains("RECURRENCE-ID") == true)
        }
    }

    @Test("The range of a RECURRENCE-ID that does not count says nothing of the one that does")
    func rangeOfAnotherRecurrenceID() throws {
        let wrong = "RECURRENCE-ID;RANGE=THISANDFUTURE:2026050T140000Z"
        let repeated = "RECURRENCE-ID;RANGE=THISANDFUTURE:20260309T150000Z"
        let right = "RECURRENCE-ID:20260302T150000Z"
        for (lines, appliesToFuture) in [
            ([wrong, right], false), ([right, repeated], false), ([repeated, right], true), ([wrong, repeated], true),
        ] {
            let bytes = Array(Reading.calendar(Reading.event(["DTSTART:20260302T150000Z"] + lines)).utf8)
            for decoder in CalendarReader.Decoder.allCases {
                var options = CalendarReader.Options()
                options.decoder = decoder
                let event = try #require(CalendarReader(options: options).read(bytes).first)
                #expect(event.recurrenceID != nil)
                #expect(event.appliesToFuture == appliesToFuture, "\(lines), \(decoder)")
            }
        }
    }

    @Test("A reminder of vCalendar 1.0 centuries after its event is written as it can be read again")
    func oldAlarmFarAway() throws {
        for (day, trigger) in [("16010102", "PT24H"), ("20260211", "P155269D"), ("11760101", "-P155229D")] {
            let event = Reading.event(["DTSTART:16010101T000000", "DALARM:\(day)"])
            #expect(try Self.written(Reading.calendar(event)).contains("TRIGGER:\(trigger)\r\n"), "\(day)")
        }
    }
}
