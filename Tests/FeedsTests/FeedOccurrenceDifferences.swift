// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// Files whose occurrences a reader finds otherwise in the feed of an import, and why the feed is right.
enum FeedOccurrenceDifferences {
    static let samples: [OccurrenceReader: [String: String]] = [
        .icalendar: ["Samples/malformed/duplicate-uid.ics": twins],
        .ical: ["Samples/malformed/duplicate-uid.ics": twins],
        .icaljs: ["Samples/malformed/duplicate-uid.ics": twins],
    ]

    /// By the year with which the comparison begins.
    static let foreign: [Int: [OccurrenceReader: [String: String]]] = [
        1997: [
            .icalendar: sameUID,
            .ical: sameUID.merging([
                "collective+icalendar/src/icalendar/fuzzing/corpus/issue_184_broken_representation_of_period.ics":
                    startWithPeriod,
                "collective+icalendar/src/icalendar/tests/events/issue_184_broken_representation_of_period.ics":
                    startWithPeriod,
                "ical4j/valid/Dryway.ics": zoneWithoutRules, "ical4j/valid/Earth32Seasons.ics": zoneWithoutRules,
            ]) { $1 },
            .icaljs: sameUID.merging([
                "ical4j/valid/Christian32Holidays.ics": leapDay, "ical4j/valid/mathBirthdays.ics": leapDay,
            ]) { $1 },
        ],
        2017: [
            .ical: [
                "collective+icalendar/src/icalendar/tests/calendars/issue_722_timezone_transition_ambiguity.ics":
                    zoneWithoutRules,
                "ical4j/valid/Earth32Seasons.ics": zoneWithoutRules,
                "kewisch+ical.js/samples/timezone_from_file.ics": zoneWithoutRules,
            ],
            .icaljs: [
                "collective+icalendar/src/icalendar/tests/calendars/period_with_timezone.ics":
                    "COUNT counts what the rule gives and no added day; it counts one",
                "ical4j/valid/mathBirthdays.ics": leapDay,
                "jens-maus+node-ical/test/fixtures/recurrence-sequence.ics":
                    "changes of days that the series does not have take place; it leaves them out",
            ],
        ],
    ]

    private static let sameUID = [
        "ical4j/valid/classify.ics": twins, "ical4j/valid/incoming.ics": twins,
        "jens-maus+node-ical/test/fixtures/tv-show-episode.ics": twins,
    ]
    private static let twins = "of several events with one UID, a circle keeps the latest revision"
    private static let startWithPeriod =
        "a period at the start gives the start its length (RFC 5545, section 3.8.5.2); it gives both lengths"
    private static let zoneWithoutRules = "it forgets changes without a rule in a zone of the feed's own"
    private static let leapDay = "a 29 February takes place in leap years; it gives 1 March in others"
}
