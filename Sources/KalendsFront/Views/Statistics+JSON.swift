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
                "days": .integer(officeDays.days), "writes": .integer(officeDays.writes),
                "errors": .integer(officeDays.errors),
            ],
        ]
    }

    private static func json(_ own: Statistics.Runs) -> JSONValue {
        [
            "provider": .string(own.provider.rawValue), "days": .integer(own.days),
            "runs": .integer(own.counted.runs), "successes": .integer(own.counted.successes),
            "successRate": rate(own.counted.successes, of: own.counted.runs),
            "writes": .integer(own.counted.writes), "errors": .integer(own.counted.errors),
            "errorsPerThousandWrites": own.counted.writes > 0
                ? .number((Double(own.counted.errors) * 1000 / Double(own.counted.writes) * 100).rounded() / 100)
                : .null,
        ]
    }

    /// To four places; null of nothing.
    private static func rate(_ part: Int, of whole: Int) -> JSONValue {
        whole > 0 ? .number((Double(part) / Double(whole) * 10_000).rounded() / 10_000) : .null
    }
}
