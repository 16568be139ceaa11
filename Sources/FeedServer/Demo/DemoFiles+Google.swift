// SPDX-License-Identifier: Apache-2.0

extension DemoFiles {
    /// `google-export.ics`, written by the tests with KALENDS_WRITE_DOCS=1 from Samples; its lines end with CRLF there.
    static let googleExport = #"""
        BEGIN:VCALENDAR
        PRODID:-//Google Inc//Google Calendar 70.9054//EN
        VERSION:2.0
        CALSCALE:GREGORIAN
        METHOD:PUBLISH
        X-WR-CALNAME:Rivera household
        X-WR-TIMEZONE:America/Los_Angeles
        BEGIN:VTIMEZONE
        TZID:America/Los_Angeles
        X-LIC-LOCATION:America/Los_Angeles
        BEGIN:DAYLIGHT
        TZOFFSETFROM:-0800
        TZOFFSETTO:-0700
        TZNAME:PDT
        DTSTART:19700308T020000
        RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU
        END:DAYLIGHT
        BEGIN:STANDARD
        TZOFFSETFROM:-0700
        TZOFFSETTO:-0800
        TZNAME:PST
        DTSTART:19701101T020000
        RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU
        END:STANDARD
        END:VTIMEZONE
        BEGIN:VEVENT
        DTSTART;TZID=America/Los_Angeles:20260107T160000
        DTEND;TZID=America/Los_Angeles:20260107T164500
        RRULE:FREQ=WEEKLY;BYDAY=WE
        EXDATE;TZID=America/Los_Angeles:20260401T160000
        EXDATE;TZID=America/Los_Angeles:20261125T160000
        DTSTAMP:20260918T173015Z
        UID:4k2m8r1p7v9d3c6b5n0q2s8t1u@google.com
        CREATED:20251219T034210Z
        DESCRIPTION:Book 2\, pages 14–18. Ms. Okafor likes the metronome at 72.
        LAST-MODIFIED:20260302T190455Z
        LOCATION:Maple Street Music\, 210 Maple St\, Pasadena\, CA 91101\, USA
        SEQUENCE:1
        STATUS:CONFIRMED
        SUMMARY:Piano lesson\, Sofía
        TRANSP:OPAQUE
        BEGIN:VALARM
        ACTION:DISPLAY
        DESCRIPTION:This is an event reminder
        TRIGGER:-P0DT0H30M0S
        END:VALARM
        END:VEVENT
        BEGIN:VEVENT
        DTSTART;TZID=America/Los_Angeles:20260506T170000
        DTEND;TZID=America/Los_Angeles:20260506T174500
        DTSTAMP:20260918T173015Z
        UID:4k2m8r1p7v9d3c6b5n0q2s8t1u@google.com
        RECURRENCE-ID;TZID=America/Los_Angeles:20260506T160000
        CREATED:20251219T034210Z
        DESCRIPTION:Book 2\, pages 14–18. Ms. Okafor likes the metronome at 72.
        LAST-MODIFIED:20260428T201130Z
        LOCATION:Maple Street Music\, 210 Maple St\, Pasadena\, CA 91101\, USA
        SEQUENCE:2
        STATUS:CONFIRMED
        SUMMARY:Piano lesson\, Sofía (one hour later)
        TRANSP:OPAQUE
        END:VEVENT
        BEGIN:VEVENT
        DTSTART;VALUE=DATE:20160514
        DTEND;VALUE=DATE:20160515
        RRULE:FREQ=YEARLY
        DTSTAMP:20260918T173015Z
        UID:7h3j9l5x1z8c2v6b0n4m7q1w3e@google.com
        CREATED:20230502T151200Z
        DESCRIPTION:
        LAST-MODIFIED:20230502T151200Z
        LOCATION:
        SEQUENCE:0
        STATUS:CONFIRMED
        SUMMARY:Sofía's birthday
        TRANSP:TRANSPARENT
        BEGIN:VALARM
        ACTION:DISPLAY
        DESCRIPTION:This is an event reminder
        TRIGGER:-P0DT15H0M0S
        END:VALARM
        END:VEVENT
        BEGIN:VEVENT
        DTSTART;TZID=America/Los_Angeles:20260125T180000
        DTEND;TZID=America/Los_Angeles:20260125T203000
        RRULE:FREQ=MONTHLY;BYDAY=-1SU
        DTSTAMP:20260918T173015Z
        UID:1q5w9e3r7t2y6u0i4o8p1a5s9d@google.com
        CREATED:20260104T221845Z
        DESCRIPTION:Everyone brings one dish. List: <a href="https://example.com/di
         shes">dishes</a>
        LAST-MODIFIED:20260104T221845Z
        LOCATION:
        SEQUENCE:0
        STATUS:CONFIRMED
        SUMMARY:Family dinner
        TRANSP:OPAQUE
        END:VEVENT
        BEGIN:VEVENT
        DTSTART;TZID=America/Los_Angeles:20260908T093000
        DTEND;TZID=America/Los_Angeles:20260908T101500
        RRULE:FREQ=WEEKLY;WKST=SU;UNTIL=20261211T075959Z;BYDAY=TU,TH
        DTSTAMP:20260918T173015Z
        UID:9f2g6h0j4k8l2z6x0c4v8b2n6m@google.com
        CREATED:20260827T163300Z
        DESCRIPTION:Insurance covers 28 visits.\nWear flat shoes\; the door code is
          at the front desk.
        LAST-MODIFIED:20260901T001809Z
        LOCATION:Foothill Physical Therapy\, 88 Lake Ave\, Pasadena\, CA 91101\, US
         A
        SEQUENCE:0
        STATUS:CONFIRMED
        SUMMARY:Physical therapy Mom
        TRANSP:OPAQUE
        END:VEVENT
        BEGIN:VEVENT
        DTSTART:20261203T223000Z
        DTEND:20261203T233000Z
        DTSTAMP:20260918T173015Z
        UID:3b7n1m5q9w3e7r1t5y9u3i7o1p@google.com
        CREATED:20260910T204512Z
        DESCRIPTION:
        LAST-MODIFIED:20260910T204512Z
        LOCATION:Lake Avenue Dental\, Pasadena
        SEQUENCE:0
        STATUS:CONFIRMED
        SUMMARY:Dentist Daniel
        TRANSP:OPAQUE
        BEGIN:VALARM
        ACTION:EMAIL
        ATTENDEE:mailto:daniel@example.com
        SUMMARY:Alarm notification
        DESCRIPTION:This is an event reminder
        TRIGGER:-P1D
        END:VALARM
        END:VEVENT
        BEGIN:VEVENT
        DTSTART;VALUE=DATE:20261222
        DTEND;VALUE=DATE:20261229
        DTSTAMP:20260918T173015Z
        UID:6y0u4i8o2p6a0s4d8f2g6h0j4k@google.com
        CREATED:20260830T055500Z
        DESCRIPTION:
        LAST-MODIFIED:20260830T055500Z
        LOCATION:
        SEQUENCE:0
        STATUS:TENTATIVE
        SUMMARY:Aunt Lucía visits
        TRANSP:TRANSPARENT
        END:VEVENT
        END:VCALENDAR
        """#
}
