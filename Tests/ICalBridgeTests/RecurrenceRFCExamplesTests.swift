// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Testing

/// One example of RFC 5545 section 3.8.5.3: a rule, a DTSTART and the occurrences that the RFC lists.
struct RFCExample: Sendable, CustomStringConvertible {
    var title: String
    var rule: String
    var start = "19970902T090000"
    /// `yyyymmdd` for a day at the time of DTSTART, or `yyyymmddThhmm`. A list that the RFC ends with "..." is open.
    var days: String
    var isOpen = false

    var description: String { title }
}

private let march = "19970610 19970710 19980610 19980710 19990610 19990710 20000610 20000710 20010610 20010710"
private let quarter = stride(from: 0, to: 24, by: 1).map { step -> String in
    let minutes = 9 * 60 + step * 20
    return String(minutes / 60).leftPadded + String(minutes % 60).leftPadded
}

extension String {
    fileprivate var leftPadded: String { count < 2 ? "0" + self : self }
}

let rfcExamples: [RFCExample] = [
    .init(
        title: "Daily for 10 occurrences", rule: "FREQ=DAILY;COUNT=10",
        days: (2...11).map { "199709" + String($0).leftPadded }.joined(separator: " ")),
    .init(
        title: "Every other day, forever", rule: "FREQ=DAILY;INTERVAL=2",
        days: "19970902 19970904 19970906 19970908 19970910 19970912 19970914 19970916 19970918 19970920",
        isOpen: true),
    .init(
        title: "Every 10 days, 5 occurrences", rule: "FREQ=DAILY;INTERVAL=10;COUNT=5",
        days: "19970902 19970912 19970922 19971002 19971012"),
    .init(
        title: "Weekly for 10 occurrences", rule: "FREQ=WEEKLY;COUNT=10",
        days: "19970902 19970909 19970916 19970923 19970930 19971007 19971014 19971021 19971028 19971104"),
    .init(
        title: "Weekly until December 24, 1997", rule: "FREQ=WEEKLY;UNTIL=19971224T000000Z",
        days: "19970902 19970909 19970916 19970923 19970930 19971007 19971014 19971021 19971028 19971104 19971111 "
            + "19971118 19971125 19971202 19971209 19971216 19971223"),
    .init(
        title: "Every other week, forever", rule: "FREQ=WEEKLY;INTERVAL=2;WKST=SU",
        days: "19970902 19970916 19970930 19971014 19971028 19971111 19971125 19971209 19971223 19980106 19980120",
        isOpen: true),
    .init(
        title: "Weekly on Tuesday and Thursday for five weeks",
        rule: "FREQ=WEEKLY;UNTIL=19971007T000000Z;WKST=SU;BYDAY=TU,TH",
        days: "19970902 19970904 19970909 19970911 19970916 19970918 19970923 19970925 19970930 19971002"),
    .init(
        title: "The same with COUNT", rule: "FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH",
        days: "19970902 19970904 19970909 19970911 19970916 19970918 19970923 19970925 19970930 19971002"),
    .init(
        title: "Every other week on Monday, Wednesday and Friday until December 24, 1997",
        rule: "FREQ=WEEKLY;INTERVAL=2;UNTIL=19971224T000000Z;WKST=SU;BYDAY=MO,WE,FR", start: "19970901T090000",
        days: "19970901 19970903 19970905 19970915 19970917 19970919 19970929 19971001 19971003 19971013 19971015 "
            + "19971017 19971027 19971029 19971031 19971110 19971112 19971114 19971124 19971126 19971128 19971208 "
            + "19971210 19971212 19971222"),
    .init(
        title: "Every other week on Tuesday and Thursday, for 8 occurrences",
        rule: "FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH",
        days: "19970902 19970904 19970916 19970918 19970930 19971002 19971014 19971016"),
    .init(
        title: "Monthly on the first Friday for 10 occurrences", rule: "FREQ=MONTHLY;COUNT=10;BYDAY=1FR",
        start: "19970905T090000",
        days: "19970905 19971003 19971107 19971205 19980102 19980206 19980306 19980403 19980501 19980605"),
    .init(
        title: "Monthly on the first Friday until December 24, 1997",
        rule: "FREQ=MONTHLY;UNTIL=19971224T000000Z;BYDAY=1FR", start: "19970905T090000",
        days: "19970905 19971003 19971107 19971205"),
    .init(
        title: "Every other month on the first and last Sunday, for 10 occurrences",
        rule: "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU", start: "19970907T090000",
        days: "19970907 19970928 19971102 19971130 19980104 19980125 19980301 19980329 19980503 19980531"),
    .init(
        title: "Monthly on the second-to-last Monday for 6 months", rule: "FREQ=MONTHLY;COUNT=6;BYDAY=-2MO",
        start: "19970922T090000", days: "19970922 19971020 19971117 19971222 19980119 19980216"),
    .init(
        title: "Monthly on the third-to-the-last day, forever", rule: "FREQ=MONTHLY;BYMONTHDAY=-3",
        start: "19970928T090000", days: "19970928 19971029 19971128 19971229 19980129 19980226", isOpen: true),
    .init(
        title: "Monthly on the 2nd and 15th for 10 occurrences", rule: "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15",
        days: "19970902 19970915 19971002 19971015 19971102 19971115 19971202 19971215 19980102 19980115"),
    .init(
        title: "Monthly on the first and last day for 10 occurrences", rule: "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1",
        start: "19970930T090000",
        days: "19970930 19971001 19971031 19971101 19971130 19971201 19971231 19980101 19980131 19980201"),
    .init(
        title: "Every 18 months on the 10th thru 15th for 10 occurrences",
        rule: "FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15", start: "19970910T090000",
        days: "19970910 19970911 19970912 19970913 19970914 19970915 19990310 19990311 19990312 19990313"),
    .init(
        title: "Every Tuesday, every other month", rule: "FREQ=MONTHLY;INTERVAL=2;BYDAY=TU",
        days: "19970902 19970909 19970916 19970923 19970930 19971104 19971111 19971118 19971125 19980106 19980113 "
            + "19980120 19980127 19980303 19980310 19980317 19980324 19980331", isOpen: true),
    .init(
        title: "Yearly in June and July for 10 occurrences", rule: "FREQ=YEARLY;COUNT=10;BYMONTH=6,7",
        start: "19970610T090000", days: march),
    .init(
        title: "Every other year on January, February and March for 10 occurrences",
        rule: "FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3", start: "19970310T090000",
        days: "19970310 19990110 19990210 19990310 20010110 20010210 20010310 20030110 20030210 20030310"),
    .init(
        title: "Every third year on the 1st, 100th and 200th day for 10 occurrences",
        rule: "FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200", start: "19970101T090000",
        days: "19970101 19970410 19970719 20000101 20000409 20000718 20030101 20030410 20030719 20060101"),
    .init(
        title: "Every 20th Monday of the year, forever", rule: "FREQ=YEARLY;BYDAY=20MO", start: "19970519T090000",
        days: "19970519 19980518 19990517", isOpen: true),
    .init(
        title: "Monday of week number 20, forever", rule: "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO",
        start: "19970512T090000", days: "19970512 19980511 19990517", isOpen: true),
    .init(
        title: "Every Thursday in March, forever", rule: "FREQ=YEARLY;BYMONTH=3;BYDAY=TH", start: "19970313T090000",
        days: "19970313 19970320 19970327 19980305 19980312 19980319 19980326 19990304 19990311 19990318 19990325",
        isOpen: true),
    .init(
        title: "Every Thursday, but only during June, July and August", rule: "FREQ=YEARLY;BYDAY=TH;BYMONTH=6,7,8",
        start: "19970605T090000",
        days: "19970605 19970612 19970619 19970626 19970703 19970710 19970717 19970724 19970731 19970807 19970814 "
            + "19970821 19970828 19980604 19980611", isOpen: true),
    .init(
        title: "The first Saturday that follows the first Sunday of the month, forever",
        rule: "FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13", start: "19970913T090000",
        days: "19970913 19971011 19971108 19971213 19980110 19980207 19980307 19980411 19980509 19980613",
        isOpen: true),
    .init(
        title: "U.S. Presidential Election day",
        rule: "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8",
        start: "19961105T090000", days: "19961105 20001107 20041102", isOpen: true),
    .init(
        title: "The third instance into the month of Tuesday, Wednesday or Thursday, for 3 months",
        rule: "FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3", start: "19970904T090000",
        days: "19970904 19971007 19971106"),
    .init(
        title: "The second-to-last weekday of the month", rule: "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2",
        start: "19970929T090000", days: "19970929 19971030 19971127 19971230 19980129 19980226 19980330", isOpen: true),
    .init(
        title: "Every 3 hours from 9:00 AM to 5:00 PM on a specific day",
        rule: "FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T170000Z",
        days: "19970902T0900 19970902T1200"),
    .init(
        title: "Every 15 minutes for 6 occurrences", rule: "FREQ=MINUTELY;INTERVAL=15;COUNT=6",
        days: "19970902T0900 19970902T0915 19970902T0930 19970902T0945 19970902T1000 19970902T1015"),
    .init(
        title: "Every hour and a half for 4 occurrences", rule: "FREQ=MINUTELY;INTERVAL=90;COUNT=4",
        days: "19970902T0900 19970902T1030 19970902T1200 19970902T1330"),
    .init(
        title: "Every 20 minutes from 9:00 AM to 4:40 PM every day",
        rule: "FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16;BYMINUTE=0,20,40",
        days: (quarter.map { "19970902T" + $0 } + quarter.map { "19970903T" + $0 }).joined(separator: " "), isOpen: true
    ),
    .init(
        title: "The same as MINUTELY", rule: "FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10,11,12,13,14,15,16",
        days: (quarter.map { "19970902T" + $0 } + quarter.map { "19970903T" + $0 }).joined(separator: " "), isOpen: true
    ),
    .init(
        title: "Weeks that start on Monday", rule: "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO",
        start: "19970805T090000", days: "19970805 19970810 19970819 19970824"),
    .init(
        title: "Weeks that start on Sunday", rule: "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU",
        start: "19970805T090000", days: "19970805 19970817 19970819 19970831"),
    .init(
        title: "February 30 is skipped", rule: "FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5", start: "20070115T090000",
        days: "20070115 20070130 20070215 20070315 20070330"),
]

@Suite("Recurrence: the examples of RFC 5545 section 3.8.5.3")
struct RecurrenceRFCExamples {
    private let newYork: TimeZoneReference

    init() throws { newYork = try #require(TimeZoneReference("America/New_York")) }

    private func walls(_ example: RFCExample) throws -> [CivilDateTime] {
        let time = example.start.dropFirst(9)
        return try example.days.split(separator: " ").map { day in
            try #require(CivilDateTime(basic: day.count == 8 ? "\(day)T\(time)" : "\(day)00"))
        }
    }

    @Test("An example of the RFC gives the RFC's occurrences in New York", arguments: rfcExamples)
    func example(_ example: RFCExample) throws {
        let expected = try walls(example)
        let start = EventTime.zoned(try #require(CivilDateTime(basic: example.start)), newYork)
        let rule = try RecurrenceRule(example.rule)
        let limits = ExpansionLimits(maximumOccurrences: example.isOpen ? expected.count : 1000)
        let times = rule.times(startingAt: start, limits: limits)
        #expect(times.walls == expected)
        #expect(times.isComplete != example.isOpen)
    }

    @Test("An example gives the same from any of its occurrences on as from DTSTART", arguments: rfcExamples)
    func jumping(_ example: RFCExample) throws {
        let expected = try walls(example)
        let start = EventTime.zoned(try #require(CivilDateTime(basic: example.start)), newYork)
        let rule = try RecurrenceRule(example.rule)
        for index in expected.indices {
            let limits = ExpansionLimits(maximumOccurrences: example.isOpen ? expected.count - index : 1000)
            #expect(
                rule.times(startingAt: start, from: expected[index], limits: limits).walls == Array(expected[index...]))
        }
    }

    @Test("Every day in January for three years is the same as YEARLY and as DAILY")
    func januaries() throws {
        let start = EventTime.zoned(try #require(CivilDateTime(basic: "19980101T090000")), newYork)
        let yearly = try RecurrenceRule("FREQ=YEARLY;UNTIL=20000131T140000Z;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA")
        let daily = try RecurrenceRule("FREQ=DAILY;UNTIL=20000131T140000Z;BYMONTH=1")
        let times = yearly.times(startingAt: start)
        #expect(times == daily.times(startingAt: start))
        // 09:00 in New York is 14:00 UTC: the last day is just within.
        #expect(times.walls.count == 93)
        #expect(times.walls.last?.basic == "20000131T090000")
    }

    @Test("Daily until December 24 ends the day before, because 09:00 is past the UNTIL in UTC")
    func dailyUntil() throws {
        let start = EventTime.zoned(try #require(CivilDateTime(basic: "19970902T090000")), newYork)
        let times = try RecurrenceRule("FREQ=DAILY;UNTIL=19971224T000000Z").times(startingAt: start)
        #expect(times.walls.count == 113)
        #expect(times.walls.last?.basic == "19971223T090000")
    }

    @Test("Every Friday the 13th, with the DTSTART that does not match taken out by EXDATE")
    func fridays() throws {
        let start = EventTime.zoned(try #require(CivilDateTime(basic: "19970902T090000")), newYork)
        var event = Event(uid: "friday", start: start)
        event.recurrence.rules = [try RecurrenceRule("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13")]
        event.recurrence.exclusions = [start]
        let found = Series(master: event, overrides: []).occurrences(
            from: Instant(seconds: 0), to: Instant(seconds: 971_500_000), floatingIn: FixedOffset.utc)
        #expect(
            found.occurrences.map(\.start.civilDate.basic) == [
                "19980213", "19980313", "19981113", "19990813", "20001013",
            ])
    }
}
