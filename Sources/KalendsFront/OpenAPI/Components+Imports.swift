// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore

extension Components {
    static let imports: [(String, Schema)] = [
        ("Import", Imports.Listed.schema), ("ImportReport", Imports.Report.view.schema),
        ("ImportProblem", Problem.schema), ("ImportItem", Imports.Item.schema),
        (
            "ImportByURL",
            .input(
                .required(
                    "url",
                    .text(8192).described("An address with https or webcal, which is used once and never stored.")),
                example: ["url": "https://calendar.example/holidays.ics"])
        ),
        (
            "ImportCommit",
            .input(
                .optional("exclude", Schema.array(of: .string).described("The `itemId`s to leave out.")),
                .optional(
                    "keep",
                    Schema.array(of: .one(of: EventExtra.choices.map(\.rawValue))).described(
                        "The people and files to keep; without it, what the preview was asked to keep.")),
                example: ["exclude": []])
        ),
    ]
}
