// SPDX-License-Identifier: Apache-2.0

extension ClientRule {
    /// Rules about what apps make of repetitions.
    static let repetitions: [ClientRule] = [
        ClientRule("start-not-named", [.thunderbird, .homeAssistant], .partly, "[code] ical.js 2, ical 14") { facts in
            facts.startsNotNamed > 0
                ? Sentence(
                    .appStartNotNamed,
                    "leaves out the first day of \(facts.startsNotNamed, of: "event"): no rule and no date names it")
                : nil
        },
        ClientRule("exclusion-rule", [.thunderbird, .homeAssistant], .partly, "[code] ical.js 2, ical 14") { facts in
            facts.withExclusionRules.map {
                Sentence(
                    .appExclusionRule,
                    "ignores the EXRULE of \($0, of: "event"), and shows the days that it leaves out")
            }
        },
        ClientRule("dates-alone", [.outlook], .partly, "[issue] SparkDevNetwork/Rock#4112") { facts in
            facts.datesAlone > 0
                ? Sentence(
                    .appDatesAlone,
                    "Office 365 has shown at most one day of \(facts.datesAlone, of: "event") with dates but no rule")
                : nil
        },
    ]
}
