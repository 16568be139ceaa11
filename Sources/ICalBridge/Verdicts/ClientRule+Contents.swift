// SPDX-License-Identifier: Apache-2.0

extension ClientRule {
    /// Rules about the kinds of entries and their contents.
    static let contents: [ClientRule] = [
        ClientRule("to-dos-alone", [.google, .apple, .outlook], .refuses, "[issue] nextcloud/server#38036") { facts in
            facts.toDos > 0 && facts.events == 0
                ? Sentence(.appToDosAlone, "shows nothing: it ignores to-dos, and the file holds no event") : nil
        },
        ClientRule("to-dos", [.google, .apple, .outlook], .partly, "[issue] nextcloud/server#38036") { facts in
            facts.toDos > 0 && facts.events > 0 ? Sentence(.appToDos, "ignores \(facts.toDos, the: "to-do")") : nil
        },
        ClientRule("cancelled", [.google], .takes, "[issue] hackgvl/hackgreenville-com#498") { facts in
            facts.cancelled > 0
                ? Sentence(.appRemovesCancelled, "removes \(facts.cancelled, the: "cancelled event")") : nil
        },
        ClientRule("cancelled", [.apple], .takes, "[issue] sabre-io/dav#969") { facts in
            facts.cancelled > 0
                ? Sentence(.appStrikesCancelled, "shows \(facts.cancelled, the: "cancelled event") struck through")
                : nil
        },
        ClientRule("cancelled", [.outlook], .partly, "[issue] outlookcaldavsynchronizer#105") { facts in
            facts.cancelled > 0
                ? Sentence(.appShowsCancelled, "may show \(facts.cancelled, the: "cancelled event") as taking place")
                : nil
        },
        ClientRule("alarms", [.google, .outlook], .takes, "[issue] Ivan-Malinovski/calino#165") { facts in
            facts.alarms > 0 ? Sentence(.appIgnoresReminders, "ignores the reminders of a subscription") : nil
        },
        ClientRule("alarms", [.apple], .takes, "[issue] adamgibbons/ics#124") { facts in
            facts.alarms > 0
                ? Sentence(
                    .appRemovesReminders, "removes the reminders of a subscription unless its settings keep them")
                : nil
        },
        ClientRule("html", [.apple, .thunderbird], .takes, "[issue] open-event-frontend#8179") { facts in
            facts.withTags > 0
                ? Sentence(.appHTML, "shows HTML tags as text in \(facts.withTags, of: "description")") : nil
        },
        ClientRule("transparent", [.outlook], .takes, "[issue] urlaubsverwaltung#5925") { facts in
            facts.freeWithoutMark > 0
                ? Sentence(
                    .appFree,
                    "may show \(facts.freeWithoutMark, of: "free event") as busy: X-MICROSOFT-CDO-BUSYSTATUS is missing"
                )
                : nil
        },
    ]
}
