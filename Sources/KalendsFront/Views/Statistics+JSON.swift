// SPDX-License-Identifier: Apache-2.0

import Base
import KalendsCore
import Storage

extension Statistics.Shown {
    var json: JSONValue {
        [
            "users": .integer(people.users), "usersWithConnection": .integer(people.withConnection),
            "usersWithTwoWay": .integer(people.withTwoWay), "usersWithFeed": .integer(people.withFeed),
            "connectionRate": Self.rate(people.withConnection, of: people.users),
            "twoWayRate": Self.rate(people.withTwoWay, of: people.withConnection),
            "feedAdoption": Self.rate(people.withFeed, of: people.users),
            "connections": .array(
                people.connections.map {
                    [
                        "provider": .string($0.provider), "state": .string($0.state), "count": .integer($0.count),
                    ]
                }),
            "runs": .array(runs.map(Self.json)),
            "officeDays": [
                "users": .integer(officeDays.users), "enabled": .integer(officeDays.enabled),
                "activation": Self.rate(officeDays.enabled, of: people.users),
                "enabledBefore30Days": .integer(officeDays.enabledBefore),
                "retained30Days": .integer(officeDays.retained),
                "retention30Days": Self.rate(officeDays.retained, of: officeDays.enabledBefore),
                "days": .integer(officeDays.days),
                "daysPerUser": Self.hundredths(officeDays.days, per: officeDays.enabled),
                "writes": .integer(officeDays.writes), "errors": .integer(officeDays.errors),
                "errorsPerThousandWrites": Self.hundredths(officeDays.errors * 1000, per: officeDays.writes),
            ],
        ]
    }

    private static func json(_ own: Statistics.Runs) -> JSONValue {
        [
            "provider": .string(own.provider.rawValue), "days": .integer(own.days),
            "runs": .integer(own.counted.runs), "successes": .integer(own.counted.successes),
            "successRate": rate(own.counted.successes, of: own.counted.runs),
            "writes": .integer(own.counted.writes), "errors": .integer(own.counted.errors),
            "errorsPerThousandWrites": hundredths(own.counted.errors * 1000, per: own.counted.writes),
        ]
    }

    /// The quotient to two places; null when the divisor is zero.
    private static func hundredths(_ count: Int, per whole: Int) -> JSONValue {
        whole > 0 ? .number((Double(count) / Double(whole) * 100).rounded() / 100) : .null
    }

    /// The quotient to four places; null when the divisor is zero.
    private static func rate(_ part: Int, of whole: Int) -> JSONValue {
        whole > 0 ? .number((Double(part) / Double(whole) * 10_000).rounded() / 10_000) : .null
    }
}
