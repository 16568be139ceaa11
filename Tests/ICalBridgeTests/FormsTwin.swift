// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import ICalBridge

/// An iCalendar file and the same calendar in another form, with every difference between ours and theirs.
struct FormsTwin: CustomTestStringConvertible {
    var ics: String
    var form: String
    /// Properties that only ours has.
    var ours: Set<String> = []
    /// Properties that only the twin has.
    var theirs: Set<String> = []
    var reason = ""
    /// Replacements in the twin's iCalendar text that make it the same edition of the example.
    var edition: [(String, String)] = []

    var testDescription: String { form }
    var text: [UInt8] { get throws { try Self.bytes(ics) } }
    var other: [UInt8] { get throws { try Self.bytes(form) } }

    static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: try #require(Corpora.find(path))))
    }

    func compare(_ ours: [String], _ theirs: [String]) throws {
        #expect(Set(ours).subtracting(theirs) == self.ours, "\(reason)")
        #expect(Set(theirs).subtracting(ours) == self.theirs, "\(reason)")
        #expect(!theirs.isEmpty || form.contains("empty") || form.contains("newline_junk"))
    }
}

extension FormsTwin {
    private static let kewisch = "kewisch+ical.js/test/parser/"
    private static let collective = "collective+icalendar/src/icalendar/tests/calendars/rfc_7265_appendix_"
    private static let biweekly = "mangstadt+biweekly/src/test/resources/biweekly/io/"

    private static let rdate = (
        ours: #"vcalendar/vevent ["rdate",{tzid:"US/Eastern"},"period",["2006-01-02T15:00:00","PT2H"]]"#,
        theirs: #"vcalendar/vevent ["rdate",{tzid:"US/Eastern"},"period","2006-01-02T15:00:00/PT2H"]"#
    )

    static let jCal: [FormsTwin] =
        [
            "base64", "component", "dates", "grouped", "multiple_root_components", "multivalue", "newline_junk",
            "period", "property_params", "quoted_params", "recur", "rfc", "single_empty_vcalendar", "time",
            "tzid_with_gmt", "unfold_properties", "utc_offset", "values",
        ].map { FormsTwin(ics: kewisch + $0 + ".ics", form: kewisch + $0 + ".json") } + [
            FormsTwin(
                ics: kewisch + "boolean.ics", form: kewisch + "boolean.json",
                ours: [#"vcalendar ["x-maybe",{},"unknown","MAYBE"]"#],
                theirs: [#"vcalendar ["x-maybe",{},"boolean",false]"#],
                reason: "MAYBE is no boolean; it is kept as it stands, not made false"),
            FormsTwin(
                ics: kewisch + "float.ics", form: kewisch + "float.json",
                ours: [#"vcalendar ["x-invalid-float",{},"unknown","my foo!"]"#],
                theirs: [#"vcalendar ["x-invalid-float",{},"float",0.0]"#],
                reason: "my foo! is no number; it is kept as it stands, not made 0"),
            FormsTwin(
                ics: kewisch + "integer.ics", form: kewisch + "integer.json",
                ours: [#"vcalendar ["x-invalid",{},"unknown","foobar"]"#],
                theirs: [#"vcalendar ["x-invalid",{},"integer",0.0]"#],
                reason: "foobar is no number; it is kept as it stands, not made 0"),
            FormsTwin(ics: collective + "example_1_ical.ics", form: collective + "example_1_jcal.jcal"),
            FormsTwin(
                ics: collective + "example_2_ical.ics", form: collective + "example_2_jcal.jcal",
                ours: [rdate.ours], theirs: [rdate.theirs],
                reason: "section 3.6.9 makes a period an array of two; the RFC's appendix does not keep to it"),
            FormsTwin(ics: collective + "example_1_ical.ics", form: biweekly + "json/rfc7265-example1.json"),
            FormsTwin(
                ics: collective + "example_2_ical.ics", form: biweekly + "json/rfc7265-example2.json",
                ours: [
                    rdate.ours, #"vcalendar/vevent ["dtstart",{tzid:"US/Eastern"},"date-time","2006-01-04T14:00:00"]"#,
                    #"vcalendar/vtimezone/standard ["rrule",{},"recur",{byday:"-1SU",bymonth:10.0,freq:"YEARLY"}]"#,
                ],
                theirs: [
                    rdate.theirs,
                    #"vcalendar/vevent ["dtstart",{tzid:"US/Eastern"},"date-time","2006-01-02T14:00:00"]"#,
                    #"vcalendar/vtimezone/standard ["rrule",{},"recur",{byday:"1SU",bymonth:10.0,freq:"YEARLY"}]"#,
                ],
                reason: "the period as above; this twin is an edition of the example with another day and rule",
                edition: [
                    ("20060102T140000", "20060104T140000"), ("BYDAY=1SU;BYMONTH=10", "BYDAY=-1SU;BYMONTH=10"),
                ]),
        ]

    static let xCal: [FormsTwin] = [
        FormsTwin(ics: collective + "example_1_ical.ics", form: biweekly + "xml/rfc6321-example1.xml"),
        FormsTwin(
            ics: collective + "example_2_ical.ics", form: biweekly + "xml/rfc6321-example2.xml",
            ours: [
                "vcalendar prodid(text(-//Example Corp.//Example Client//EN))",
                "vcalendar/vevent description(text(\(meeting("12 pm"))))",
            ],
            theirs: [
                "vcalendar prodid(text(-//Example Inc.//Example Client//EN))",
                "vcalendar/vevent description(text(\(meeting("12pm"))))",
                "vcalendar/vevent summary(text(Event #2 bis))",
            ],
            reason: "this twin is an edition of the example with another PRODID, title and description",
            edition: [("Event #2 bis", "Event #2"), ("at 12pm", "at 12 pm")]),
    ]

    private static func meeting(_ time: String) -> String {
        "We are having a meeting all this week at \(time) for one hour, with an additional meeting on the first day "
            + "2 hours long.\nPlease bring your own lunch for the 12 pm meetings."
    }
}

extension FormsTwin {
    /// Returns each property with the components around it, in a notation that ignores order within an object.
    static func properties(_ node: JSONNode, within path: String = "") -> [String] {
        guard case .array(let items) = node, let first = items.first else { return [] }
        guard case .string(let name) = first else { return items.flatMap { properties($0, within: path) } }
        guard items.count == 3, case .array(let properties) = items[1], case .array(let components) = items[2] else {
            return []
        }
        return properties.map { "\(path)\(name) \(canonical($0))" }
            + components.flatMap { Self.properties($0, within: path + name + "/") }
    }

    private static func canonical(_ node: JSONNode) -> String {
        switch node {
        case .null: "null"
        case .boolean(let flag): "\(flag)"
        case .number(let digits): Double(digits).map { "\($0)" } ?? digits
        case .string(let text): "\"\(text)\""
        case .array(let items): "[" + items.map(canonical).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { "\($0.name):\(canonical($0.value))" }.sorted().joined(separator: ",") + "}"
        }
    }

    static func properties(_ node: XMLElement, within path: String = "") -> [String] {
        if node.name == "icalendar" { return node.children.flatMap { properties($0) } }
        return (node["properties"]?.children ?? []).map { "\(path)\(node.name) \(canonical($0))" }
            + (node["components"]?.children ?? []).flatMap { properties($0, within: path + node.name + "/") }
    }

    private static func canonical(_ node: XMLElement) -> String {
        node.name + "(" + (node.children.isEmpty ? node.text : node.children.map(canonical).joined()) + ")"
    }
}
