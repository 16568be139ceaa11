// SPDX-License-Identifier: Apache-2.0

import KalendsCore

extension Components {
    static let statistics: [(String, Schema)] = [
        (
            "Readiness",
            .output(
                .required("ready", .bool),
                .required(
                    "reasons",
                    .array(
                        of: .output(
                            .required(
                                "code",
                                .string.described("stopping, database-gone, database-unreachable or not-recorded.")),
                            .required("detail", .string)))))
        ),
        ("Statistics", Statistics.Shown.view.schema),
    ]
}
