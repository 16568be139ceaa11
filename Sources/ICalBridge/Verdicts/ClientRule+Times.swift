// SPDX-License-Identifier: Apache-2.0

extension ClientRule {
    /// Rules about zones and how the file defines them.
    static let zones: [ClientRule] = [
        ClientRule("zone-undeclared", [.outlook], .partly, "[issue] openstreetmap-calendar#185") { facts in
            facts.undeclaredZones.isEmpty
                ? nil
                : Sentence(
                    .appZoneUndeclared,
                    "an hour off on the desktop, nothing on the web: no VTIMEZONE for \(someOf: facts.undeclaredZones)")
        },
        ClientRule("zone-by-dates", [.outlook], .partly, "[issue] iCalcreator#86") { facts in
            facts.zonesByDates.isEmpty
                ? nil
                : Sentence(
                    .appZoneDates, "an hour off: it ignores the RDATEs that make the zone \(someOf: facts.zonesByDates)"
                )
        },
        ClientRule("zone-with-seconds", [.outlook], .refuses, "[issue] ical4j/ical4j#611") { facts in
            facts.zonesWithSeconds.isEmpty
                ? nil
                : Sentence(
                    .appZoneSeconds,
                    "has refused offsets with seconds on the web, as in \(someOf: facts.zonesWithSeconds)")
        },
        ClientRule("zone-invalid", [.outlook], .refuses, "[issue] nju-schedule-ics#8") { facts in
            facts.line(of: ["zone-without-name", "zone-without-rules", "zone-part-unreadable"]).map {
                Sentence(
                    .appZoneInvalid,
                    "shows nothing on the web: the VTIMEZONE of line \(grouped: $0, .line) is not valid")
            }
        },
        ClientRule("zone-start-zoned", [.google], .refuses, "[issue] jasvrcek/ICS#53") { facts in
            facts.zonesWithZonedStart.isEmpty
                ? nil
                : Sentence(
                    .appZoneStart,
                    "shows nothing: DTSTART has a TZID in the VTIMEZONE of \(someOf: facts.zonesWithZonedStart)")
        },
    ]

    /// Rules about starts, ends and repetition.
    static let times: [ClientRule] = [
        ClientRule("floating", [.google], .partly, "[issue] webuildsg/webuild#26") { facts in
            facts.floating > 0
                ? Sentence(.appFloating, "hours off: reads \(facts.floating, of: "time") without a zone as UTC") : nil
        },
        ClientRule("floating", [.outlook], .partly, "[issue] ulsklyc/yuvomi#818") { facts in
            if facts.floating > 0 {
                return Sentence(.appFloating, "hours off: reads \(facts.floating, of: "time") without a zone as UTC")
            }
            return facts.isFloatingInCalendarZone
                ? Sentence(.appFloatingCalendar, "hours off: reads times without a zone as UTC") : nil
        },
        ClientRule("utc-series", [.outlook], .partly, "[issue] ridafkih/keeper.sh#417") { facts in
            facts.utcSeries > 0
                ? Sentence(
                    .appUTCSeries,
                    "an hour off once the clocks change: \(facts.utcSeries, of: "repeating event") in UTC") : nil
        },
        ClientRule("utc-only", [.outlook], .takes, "[issue] ridafkih/keeper.sh#417") { facts in
            facts.utcTimes > 0 && facts.utcTimes == facts.timed && facts.utcSeries == 0
                ? Sentence(
                    .appUTCTimes, "the classic version labels the times \u{201C}Coordinated Universal Time\u{201D}")
                : nil
        },
        ClientRule("end-before-start", [.apple], .partly, "[issue] studentenportal/web#111") { facts in
            facts.count(of: "end-before-start", where: { $0.text == nil }).map {
                Sentence(.appEndBeforeStart, "discards \($0, of: "event"): the end is before the start")
            }
        },
        ClientRule("inclusive-end", [.google], .partly, "[issue] othyn/go-calendar#18") { facts in
            facts.count(of: "end-equals-start", where: { $0.text == nil }).map {
                Sentence(.appLastDay, "loses the last day of \($0, of: "all-day event"): DTEND has to be the day after")
            }
        },
        ClientRule("inclusive-end", [.outlook], .partly, "[issue] spatie/calendar-links#53") { facts in
            facts.count(of: "end-equals-start", where: { $0.text == nil }).map {
                Sentence(
                    .appEndEqualsStart,
                    "finds the end before the start in \($0, of: "all-day event"): DTEND has to be the day after")
            }
        },
        ClientRule("yearly-once", [.outlook], .refuses, "[issue] nixxo/nixxo.github.io#2") { facts in
            facts.yearlyOnce > 0
                ? Sentence(.appYearlyOnce, "the version of Office 365 has refused files with FREQ=YEARLY;COUNT=1") : nil
        },
        ClientRule("exception-elsewhere", [.outlook], .partly, "[issue] outlookcaldavsynchronizer#253") { facts in
            facts.strayExceptions > 0
                ? Sentence(
                    .appException,
                    "may show \(facts.strayExceptions, of: "exception") beside the original: other zone than DTSTART")
                : nil
        },
        ClientRule("override-sequence", [.google], .partly, "[issue] nextcloud/calendar#4727") { facts in
            facts.staleOverrides > 0
                ? Sentence(
                    .appStaleOverride,
                    "ignores \(facts.staleOverrides, of: "changed occurrence"): SEQUENCE is below that of the series")
                : nil
        },
        ClientRule("duplicate-uid", [.google, .thunderbird], .partly, "[issue] Kozea/Radicale#401") { facts in
            facts.duplicates > 0
                ? Sentence(.appSameUID, "leaves out \(facts.duplicates, of: "event") whose UID another event has") : nil
        },
    ]
}
