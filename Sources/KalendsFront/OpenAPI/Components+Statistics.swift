// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage

extension Components {
    private static let rate = Schema(["type": "number"]).orNull.described("Null when there is nothing to divide by.")

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
        (
            "Statistics",
            .output(
                .required("users", .count.described("Members of circles.")), .required("usersWithConnection", .count),
                .required("usersWithTwoWay", .count), .required("usersWithFeed", .count),
                .required("connectionRate", rate), .required("twoWayRate", rate), .required("feedAdoption", rate),
                .required(
                    "connections",
                    .array(
                        of: .output(
                            .required("provider", .string), .required("state", .string), .required("count", .count)))),
                .required(
                    "runs",
                    .array(
                        of: .output(
                            .required("provider", .choice(Connection.Provider.self)), .required("days", .count),
                            .required("runs", .count), .required("successes", .count), .required("successRate", rate),
                            .required("writes", .count), .required("errors", .count),
                            .required("errorsPerThousandWrites", rate)))),
                .required(
                    "officeDays",
                    .output(
                        .required("users", .count.described("Users who ever chose settings.")),
                        .required("enabled", .count), .required("activation", rate),
                        .required("enabledBefore30Days", .count), .required("retained30Days", .count),
                        .required("retention30Days", rate),
                        .required(
                            "days",
                            .count.described(
                                "All users' days of the last 30 that have a status and whose event is managed.")),
                        .required("daysPerUser", rate), .required("writes", .count), .required("errors", .count),
                        .required("errorsPerThousandWrites", rate))))
        ),
    ]
}
