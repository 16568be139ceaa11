// SPDX-License-Identifier: Apache-2.0

import Calendar

@testable import Pages

/// Shows every part once.
struct PartsPage: Page {
    /// A text that the page shows in the place of every name.
    var name: String

    func sheet(_ paper: RenderContext) -> PageContent {
        let fields = [
            Field("line", name, Field.text(), value: name, hint: name, isRequired: true, most: 1000),
            Field("area", name, .area, value: name),
            Field("number", name, Field.number, value: "15", least: 5, most: 20),
            Field("date", name, Field.date, value: "2026-01-21"), Field("time", name, Field.time, value: "09:00"),
            Field(
                "choice", name, .choice([Choice(value: "a", label: name), Choice(value: "b", label: name)]),
                value: "b"),
            Field(
                "radio", name, .radio([Choice(value: "a", label: name, hint: name), Choice(value: "b", label: name)]),
                value: "a"),
            Field(
                "checks", name, .checks([Choice(value: "a", label: name), Choice(value: "b", label: name)]),
                values: ["b"]),
            Field("check", name, .check, value: "true", hint: name),
            Field("file", name, .file(accept: ".ics"), hint: name),
        ]
        let draft = Draft(problems: fields.map { Draft.Problem(field: $0.name, code: .missing) })
        let day = paper.times.today
        return PageContent(
            template: "parts", title: name, isName: true, section: .nowhere,
            content: [
                "badges": .list(BadgeTone.allCases.map { paper.badge($0, "badgeLook") }),
                "alerts": .list(
                    BadgeTone.allCases.map {
                        paper.alert(
                            $0,
                            paper.words.sentence(
                                "feedLineReadBy",
                                ["client": .name(name), "when": .time(paper.times.moment(paper.frame.now))]),
                            act: paper.act("actSave", "/app", about: name))
                    }),
                "stepper": paper.stepper(["stepAccount", "stepCalendar", "stepContent"], at: 1),
                "form": paper.form(
                    "plain", "/app", fields, submit: "actSave",
                    cancel: paper.linkButton("actCancel", "/app", style: .quiet)),
                "wrong": paper.form("wrong", "/app", fields, submit: "actSave", draft: draft),
                "table": paper.table(
                    name, ["columnName", "columnReads", "columnStatus"],
                    [[.name(name), .number(12_345), .badge(paper.badge(.good, "badgeLive"))]]),
                "empty": paper.emptyState("readsEmptyTitle", "readsEmptyText"),
                "picture": paper.bars(
                    Bars(days: (0..<14).map(day.adding), kinds: [(name, (0..<14).map { $0 * 3 % 11 })]), title: name,
                    caption: name),
                "question": paper.question("ask", "actRevoke", style: .danger, about: name),
                "dialog": paper.dialog(
                    "ask", name, [name], paper.form("ask-form", "/app", [], submit: "actRevoke", style: .danger)),
                "buttons": .list(
                    ["primary", "plain", "quiet", "danger"].compactMap { style in
                        ButtonStyle(text: style).map { paper.act("actSave", "/app", style: $0, about: name) }
                    }),
                "agenda": paper.agenda(
                    EntryKind.allCases.map {
                        PageEntry(
                            kind: $0, path: "/app", title: name, span: .days(first: day, until: day.adding(days: 1)))
                    },
                    from: day, to: day),
            ], scripts: ["copy", "drop", "preview"], problems: paper.problems(draft, in: "wrong", fields))
    }
}
