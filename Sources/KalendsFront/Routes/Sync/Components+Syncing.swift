// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import KalendsCore

extension Components {
    static let syncing: [(String, Schema)] = [
        ("RunCounts", RunRecord.Counts.view.schema),
        ("BegunRun", .output(.required("runId", .string))),
        (
            "SyncPreview",
            .output(
                .required("counts", .named("RunCounts")),
                .required("items", .array(of: PreviewItem.view.schema)),
                .required("nextCursor", Schema.string.orNull.described("Null on the last part.")),
                .required(
                    "held",
                    Hold.view.schema.orNull.described(
                        "The reason why the run would wait for a person; null when it would not.")))
        ),
        ("ConflictDecision", SyncRoutes.decision.schema),
    ]
}
