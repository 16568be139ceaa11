// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// Files whose occurrences another reader (recurring-ical-events 3.8 over icalendar 7.3, ical 14, ical.js 2) finds
/// otherwise, and why ours are right.
enum FormatOccurrenceDifferences {
    /// In the strict form of the samples.
    static let samples: [OccurrenceReader: [String: String]] = [
        .icalendar: ["Samples/malformed/duplicate-uid.ics": twins]
    ]

    /// In the strict form of files that other projects wrote; in these files themselves, too, for icalendar.
    static let forms: [OccurrenceReader: [String: String]] = [
        .icalendar: formsOfICalendar, .ical: formsOfICal, .icaljs: formsOfICalJS,
    ]

    private static let formsOfICalendar: [String: String] = [
        "collective+icalendar/src/icalendar/fuzzing/corpus/event_with_recurrence.ics": floatingInUTC,
        "collective+icalendar/src/icalendar/tests/events/event_with_recurrence.ics": floatingInUTC,
        "jens-maus+node-ical/test/fixtures/biweekly-exdate-until.ics":
            "a series in UTC stays in UTC; it follows the clock of X-WR-TIMEZONE",
        "jens-maus+node-ical/test/fixtures/tv-show-episode.ics": twins,
        "jens-maus+node-ical/test/fixtures/windows-quoted-tz-rrule.ics":
            "an EXDATE at another instant than the occurrence leaves nothing out",
    ]

    /// In the files as they are, which it reads without repairs.
    static let files: [String: String] = [
        "collective+icalendar/src/icalendar/tests/calendars/issue_156_RDATE_with_PERIOD_TZID_khal.ics": loneDays,
        "collective+icalendar/src/icalendar/tests/calendars/issue_156_RDATE_with_PERIOD_TZID_khal_2.ics": loneDays,
        "ical4j/valid/Christian32Holidays.ics": startCounts,
        "ical4j/valid/blalor.ics": replacedAndLeftOut,
        "ical4j/valid/korganizer_sample.ics": startCounts,
        "collective+icalendar/src/icalendar/tests/calendars/issue_1633_rdate_with_dates.ics": periodOfDays,
        "collective+icalendar/src/icalendar/tests/calendars/issue_1633_rdate_with_dates_and_tzid.ics": periodOfDays,
        "collective+icalendar/src/icalendar/tests/calendars/issue_526_calendar_with_different_events.ics": lotusZone,
        "collective+icalendar/src/icalendar/tests/calendars/issue_526_calendar_with_event_subset.ics": lotusZone,
        "collective+icalendar/src/icalendar/tests/calendars/issue_526_calendar_with_events.ics": lotusZone,
        "collective+icalendar/src/icalendar/tests/calendars/issue_526_calendar_with_shuffeled_events.ics": lotusZone,
        "ical4j/invalid/13-MoonPhase.ics": "END:VCALENDAR is missing; it gives up",
        "ical4j/invalid/schedule-unstable.ics": daysInZones,
        "ical4j/valid/Earth32Seasons.ics":
            "times follow the VTIMEZONE of 2003 in the file, as the true equinoxes do; it goes by the zone's name",
        "ical4j/valid/friday13-NOT.ics": "EXRULE is followed, and it does not know it",
        "ical4j/valid/google_aus_holidays.ics": daysInZones,
        "ical4j/valid/japan_west.ics": daysInZones,
        "ical4j/valid/lotr-updated.ics": untilBeforeStart,
        "ical4j/valid/lotr.ics": untilBeforeStart,
        "jens-maus+node-ical/test/fixtures/Office-2012-owa.ics": windowsNames,
        "jens-maus+node-ical/test/fixtures/daily-count-exdate-recurrence-id.ics":
            "an occurrence that ends before it starts is at its start; it takes its end for the start",
        "jens-maus+node-ical/test/fixtures/exchange_whole_day_moved_recurrence.ics": untilAtLocalMidnight,
        "jens-maus+node-ical/test/fixtures/exchange_whole_day_moved_recurrence_offset_tz.ics": untilAtLocalMidnight,
        "jens-maus+node-ical/test/fixtures/festival-multiday-rrule.ics": "VALUE=DATE with a time means the day",
        "jens-maus+node-ical/test/fixtures/music-school-weekly-until.ics": windowsNames,
        "jens-maus+node-ical/test/fixtures/non-utc-until-ny.ics":
            "UNTIL without Z is on the clock of the start; it takes it for UTC",
        "jens-maus+node-ical/test/fixtures/sabredav-school-holidays.ics": daysInZones,
        "jens-maus+node-ical/test/fixtures/yearly-recurring-unicode.ics": daysInZones,
    ]

    private static let formsOfICal: [String: String] = [
        "collective+icalendar/src/icalendar/fuzzing/corpus/issue_184_broken_representation_of_period.ics":
            periodAtStart,
        "collective+icalendar/src/icalendar/tests/events/issue_184_broken_representation_of_period.ics": periodAtStart,
        "collective+icalendar/src/icalendar/tests/calendars/issue_722_timezone_transition_ambiguity.ics":
            zoneWithoutRules,
        "ical4j/valid/Dryway.ics": zoneWithoutRules,
        "ical4j/valid/Earth32Seasons.ics": zoneWithoutRules,
        "ical4j/valid/EstoniaHolidays.ics": startExcluded,
        "jens-maus+node-ical/test/fixtures/test_with_tz_list.ics": startExcluded,
        "kewisch+ical.js/samples/timezone_from_file.ics": zoneWithoutRules,
    ]

    private static let formsOfICalJS: [String: String] = [
        "collective+icalendar/src/icalendar/fuzzing/corpus/issue_184_broken_representation_of_period.ics":
            periodAtStart,
        "collective+icalendar/src/icalendar/tests/events/issue_184_broken_representation_of_period.ics": periodAtStart,
        "collective+icalendar/src/icalendar/tests/calendars/period_with_timezone.ics": countOfRule,
        "ical4j/valid/Christian32Holidays.ics": leapDay,
        "ical4j/valid/EstoniaHolidays.ics": startExcluded,
        "ical4j/valid/mathBirthdays.ics": leapDay,
        "jens-maus+node-ical/test/fixtures/recurrence-sequence.ics": foreignDays,
        "jens-maus+node-ical/test/fixtures/test_with_tz_list.ics": startExcluded,
    ]

    /// Files that an app shows otherwise than they are meant, without a rule that says so.
    static let verdicts: [OccurrenceReader: [String: String]] = [
        .ical: [
            "Samples/inbound/all-day-by-microsoft-flag.ics": "Microsoft's flag makes it a day; it shows the times",
            "Samples/inbound/exception-that-repeats-the-rule.ics": "it lets an exception repeat",
            "Samples/inbound/rescheduled-twice-without-its-series.ics": loneDays,
            "Samples/inbound/until-as-date.ics": "it leaves out the last day of an UNTIL that is a date",
            "collective+icalendar/src/icalendar/tests/calendars/issue_722_timezone_transition_ambiguity.ics":
                zoneWithoutRules,
            "ical4j/invalid/smallcluster.ics": "an UNTIL that is no time",
            "ical4j/valid/2207678.ics": zoneOfFile,
            "ical4j/valid/Australian32Holidays.ics": "rules of years without a month",
            "ical4j/valid/Earth32Seasons.ics": zoneWithoutRules,
            "ical4j/valid/blankTzid.ics": zoneOfFile,
            "ical4j/valid/lotr-updated.ics": untilBeforeStart,
            "ical4j/valid/lotr.ics": untilBeforeStart,
            "jens-maus+node-ical/test/fixtures/daily-count-exdate-recurrence-id.ics":
                "an occurrence that ends before it starts",
            "jens-maus+node-ical/test/fixtures/duplicate-rrule-sequence.ics": revisions,
            "jens-maus+node-ical/test/fixtures/duplicate-uid-sequence.ics": revisions,
            "jens-maus+node-ical/test/fixtures/exchange-custom-tz.ics": zoneOfFile,
            "jens-maus+node-ical/test/fixtures/exchange_whole_day_moved_recurrence.ics": untilAtLocalMidnight,
            "jens-maus+node-ical/test/fixtures/exchange_whole_day_moved_recurrence_offset_tz.ics": untilAtLocalMidnight,
            "jens-maus+node-ical/test/fixtures/test_with_int_tzid.ics": zoneOfFile,
            "kewisch+ical.js/samples/timezone_from_file.ics": zoneWithoutRules,
        ]
    ]

    /// Strict forms that it refuses for values that are kept as they came.
    static let refusedForms: [OccurrenceReader: [String: String]] = [
        .icalendar: [
            "ical4j/invalid/boeing.ics": busyTimes,
            "kewisch+ical.js/test/parser/base64.ics": "a calendar's own ATTACH with line breaks within its base64",
            "u01jmg3+ics-parser/examples/ICal.ics": "FREEBUSY that ends before it starts",
        ],
        .ical: [
            "collective+icalendar/src/icalendar/tests/calendars/issue_1633_freebusy_with_dates.ics": busyTimes,
            "ical4j/invalid/boeing.ics": busyTimes,
            "kewisch+ical.js/test/parser/grouped.ics": "names with a group before them",
        ],
    ]

    private static let busyTimes = "FREEBUSY with dates, or in a year with a month of one digit"
    private static let zoneWithoutRules = "it forgets changes without a rule in a zone that it does not know by name"
    private static let replacedAndLeftOut =
        "a day with an event of its own takes place, although Apple also lists it as EXDATE"
    private static let countOfRule = "COUNT counts what the rule gives and no added day; it counts one"
    private static let leapDay = "a 29 February takes place in leap years; it gives 1 March in others"
    private static let foreignDays = "changes of days that the series does not have take place; it leaves them out"
    private static let startExcluded = "a start that EXDATE names is left out, also where no rule gives another day"
    private static let revisions = "of two revisions of one event the later counts; it shows both"

    private static let loneDays = "days of a series that is not in the file are events, and it keeps one of them"
    private static let periodAtStart =
        "a period that begins when the event does is the same occurrence with another length; it shows one or the other"
    private static let zoneOfFile = "a zone that only the file has is followed; it does not know it, or by another name"
    private static let twins = "two events with one UID are two events, and it keeps the last"
    private static let startCounts =
        "a start that the rule does not name counts as the first of COUNT (RFC 5545 section 3.8.5.3); it gives one more"
    private static let floatingInUTC = "a start without a zone stays without one; it takes the zone of the EXDATEs"
    private static let periodOfDays = "a period of two dates is none (RFC 5545 section 3.3.9); it reads one of times"
    private static let lotusZone = "no table has this zone's name, so its times have no zone; it guesses Berlin's"
    private static let daysInZones = "a date with TZID is a day; it takes it for midnight in the zone"
    private static let untilBeforeStart = "an event whose rule ends before its start takes place once; it shows none"
    private static let untilAtLocalMidnight = "Exchange ends all-day series at midnight on its own clock, not in UTC"
    private static let windowsNames = "names such as (GMT+10:00) Canberra are zones; it takes their times for floating"
}
