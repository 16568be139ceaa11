// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage

extension Statistics.Shown: Viewed {
    static let view = View<Self>([
        .count("users", \.people.users).described("Members of circles."),
        .count("usersWithConnection", \.people.withConnection), .count("usersWithTwoWay", \.people.withTwoWay),
        .count("usersWithFeed", \.people.withFeed),
        .rate("connectionRate") { ($0.people.withConnection, $0.people.users) },
        .rate("twoWayRate") { ($0.people.withTwoWay, $0.people.withConnection) },
        .rate("feedAdoption") { ($0.people.withFeed, $0.people.users) },
        .list(
            "connections", \.people.connections,
            of: View([.text("provider", \.provider), .text("state", \.state), .count("count", \.count)])),
        .list(
            "runs", \.runs,
            of: View([
                .choice("provider", \.provider), .count("days", \.days), .count("runs", \.counted.runs),
                .count("successes", \.counted.successes),
                .rate("successRate") { ($0.counted.successes, $0.counted.runs) }, .count("writes", \.counted.writes),
                .count("errors", \.counted.errors),
                .rate("errorsPerThousandWrites", scale: 100) { ($0.counted.errors * 1000, $0.counted.writes) },
            ])),
        .object(
            "officeDays", \.self,
            View([
                .count("users", \.officeDays.users).described("Users who have ever saved settings."),
                .count("enabled", \.officeDays.enabled),
                .rate("activation") { ($0.officeDays.enabled, $0.people.users) },
                .count("enabledBefore30Days", \.officeDays.enabledBefore),
                .count("retained30Days", \.officeDays.retained),
                .rate("retention30Days") { ($0.officeDays.retained, $0.officeDays.enabledBefore) },
                .count("days", \.officeDays.days).described(
                    "All users' days of the last 30 that have a status and whose event is managed."),
                .rate("daysPerUser", scale: 100) { ($0.officeDays.days, $0.officeDays.enabled) },
                .count("writes", \.officeDays.writes), .count("errors", \.officeDays.errors),
                .rate("errorsPerThousandWrites", scale: 100) {
                    ($0.officeDays.errors * 1000, $0.officeDays.writes)
                },
            ])),
    ])
}

extension View.Member {
    /// A quotient to some places; null when the divisor is zero.
    fileprivate static func rate(
        _ name: String, scale: Double = 10_000, _ get: @escaping @Sendable (Value) -> (part: Int, whole: Int)
    ) -> Self {
        let schema = Schema(["type": "number"]).orNull.described("Null when there is nothing to divide by.")
        return Self(name, schema) { value in
            let (part, whole) = get(value)
            return whole > 0 ? .number((Double(part) / Double(whole) * scale).rounded() / scale) : .null
        }
    }
}
