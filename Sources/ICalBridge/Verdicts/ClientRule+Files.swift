// SPDX-License-Identifier: Apache-2.0

extension ClientRule {
    /// Rules about the file as a whole: its kind, bytes, lines, size and calendar properties.
    static let files: [ClientRule] = [
        ClientRule("not-a-calendar", [.thunderbird], .refuses, "[code] CalICSCalendar") { facts in
            facts.isCalendar
                ? nil
                : Sentence(.appLosesEvents, "cannot read it; a subscription loses its events and becomes read-only")
        },
        ClientRule("not-a-calendar", [.evolution], .refuses, "[code] e-cal-backend-http") { facts in
            facts.isCalendar
                ? nil : Sentence(.appEmpties, "says \u{201C}Bad file format\u{201D} and empties a subscription")
        },
        ClientRule("no-whole-calendar", [.thunderbird], .refuses, "[code] ical.js 2") { facts in
            switch facts.isCalendar ? facts.thunderbird : nil {
            case .unended(let line)?:
                Sentence(.appUnended, "cannot read it: what begins in line \(grouped: line, .line) has no END")
            case .noCalendar?: Sentence(.appNoCalendar, "shows nothing: the entries are in no VCALENDAR")
            default: nil
            }
        },
        ClientRule("line-unreadable", [.thunderbird], .refuses, "[code] ical.js 2") { facts in
            guard facts.isCalendar, case .line(let line)? = facts.thunderbird else { return nil }
            return Sentence(
                .appLine, "cannot read it: line \(grouped: line, .line) is not a property that it can read")
        },
        ClientRule("several-calendars", [.thunderbird], .refuses, "[code] CalICSService") { facts in
            guard facts.isCalendar, case .several(let line)? = facts.thunderbird else { return nil }
            return Sentence(
                .appSecondCalendar,
                "shows nothing: it takes one calendar, and line \(grouped: line, .line) begins another")
        },
        ClientRule("bad-value", [.thunderbird], .refuses, "[code] CalItemBase") { facts in
            guard facts.isCalendar, case .value(let name, let line)? = facts.thunderbird else { return nil }
            return Sentence(
                .appValue,
                "shows nothing, for one bad value: \(ProblemLog.short(name), .name) in line \(grouped: line, .line)")
        },
        ClientRule("one-calendar", [.evolution], .refuses, "[code] e-cal-backend-http") { facts in
            let roots = facts.roots.prefix(facts.rootsBeforeNUL)
            guard facts.size > 0, facts.isCalendar, roots != [true] else { return nil }
            return roots.isEmpty
                ? Sentence(
                    .appEmptiesUnended,
                    "says \u{201C}Bad file format\u{201D} and empties a subscription: no component has its END")
                : Sentence(
                    .appEmptiesSeveral,
                    "says \u{201C}Not a calendar\u{201D} and empties a subscription: it takes exactly one VCALENDAR")
        },
        // No source says this about these apps, but a file without a calendar has nothing to show.
        ClientRule("not-a-calendar", [.apple, .google, .outlook], .refuses, "RFC 5545 section 3.4") { facts in
            facts.isCalendar ? nil : Sentence(.appFindsNothing, "finds no calendar in it")
        },
        ClientRule("wrong-folds", [.google], .refuses, "[blog] adangel.org") { facts in
            facts.line(of: ["raw-newline", "line-not-property"]).map {
                Sentence(
                    .appFolds,
                    "has ignored whole files whose lines are folded wrongly, as line \(grouped: $0, .line) is")
            }
        },
        ClientRule("dtstamp-missing", [.google], .partly, "[issue] Yamtrack#669") { facts in
            facts.line(of: ["missing-dtstamp"]).map {
                Sentence(.appDTSTAMP, "reports an error at import: no DTSTAMP, line \(grouped: $0, .line)")
            }
        },
        ClientRule("sequence-too-large", [.google], .refuses, "[issue] Shelf-nu/shelf.nu#2485") { facts in
            facts.largeSequenceLine.map {
                Sentence(.appSequence, "has failed at import for a SEQUENCE beyond 32 bits, line \(grouped: $0, .line)")
            }
        },
        ClientRule("size", [.google], .partly, "[issue] JM-Lemmi/ical-relay#212") { facts in
            facts.size > 1_000_000
                ? Sentence(.appSize, "may lose events silently: it accepts 1 MB, this is \(facts.megabytes, .size) MB")
                : nil
        },
        ClientRule("not-utf8", [.thunderbird], .partly, "[code] CalICSProvider") { facts in
            facts.isForeign
                ? Sentence(.appCharset, "reads it as UTF-8, which it is not: letters beyond ASCII break") : nil
        },
        ClientRule("not-utf8", [.evolution], .partly, "[code] e-cal-backend-http") { facts in
            facts.isForeign
                ? Sentence(.appCharset, "reads it as UTF-8, which it is not: letters beyond ASCII break") : nil
        },
        ClientRule("split-character", [.google], .partly, "[issue] sebbo2002/ical-generator#221") { facts in
            facts.splitCharacterLine.map {
                Sentence(
                    .appSplitCharacter,
                    "shows \u{FFFD}\u{FFFD} where a fold cuts a character in two, line \(grouped: $0, .line)")
            }
        },
        ClientRule("method-request", [.outlook], .partly, "[issue] grommunio/gromox#262") { facts in
            guard facts.methods.contains("REQUEST"), facts.events > 0 else { return nil }
            return facts.events == 1
                ? Sentence(.appInvitation, "takes the event as an invitation (METHOD:REQUEST)")
                : Sentence(
                    .appFirstInvitation,
                    "imports only the first of \(facts.events, of: "event"), as an invitation (METHOD:REQUEST)")
        },
        ClientRule("name-missing", [.google], .takes, "[issue] icalendar/icalendar#132") { facts in
            facts.isCalendar && !facts.hasWRName
                ? Sentence(.appNameMissing, "names a subscription by its whole address: there is no X-WR-CALNAME") : nil
        },
        ClientRule("name-on-single", [.outlook], .takes, "[issue] Event-Organiser#410") { facts in
            facts.hasWRName && facts.entries == 1
                ? Sentence(.appNewCalendar, "opens a new calendar for the one event, because of X-WR-CALNAME") : nil
        },
    ]
}
