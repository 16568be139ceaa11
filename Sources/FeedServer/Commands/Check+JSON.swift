// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore

extension CheckResult {
    /// The object for one file; the caller may add members.
    var json: JSONValue {
        [
            "file": .string(file), "format": .string(reading.format.rawValue),
            "calendars": .array(
                reading.calendars.map {
                    [
                        "name": JSONValue($0.name), "productId": JSONValue($0.productID),
                        "method": JSONValue($0.method),
                        "components": .integer($0.events.count), "starts": $0.starts,
                    ]
                }),
            "skipped": .integer(reading.skipped), "refusal": JSONValue(reading.refusal),
            "timeZones": .array(
                reading.timeZones.map {
                    [
                        "tzid": .string($0.tzid), "resolvedTo": JSONValue($0.resolvedTo),
                        "how": .string($0.how.rawValue),
                    ]
                }),
            "clients": .array(
                verdicts.map { verdict in
                    [
                        "client": .string(verdict.client.rawValue), "verdict": .string(verdict.outcome.rawValue),
                        "reasons": .array(verdict.reasons.map(\.json)),
                    ]
                }),
            "problems": .array(reading.problems.map(\.json)),
        ]
    }
}

extension ICalendar {
    /// The first and the last day on which an event starts; null when there is none.
    fileprivate var starts: JSONValue {
        let days = events.compactMap { $0.start?.civilDate }
        guard let first = days.min(), let last = days.max() else { return .null }
        return ["first": .string("\(first)"), "last": .string("\(last)")]
    }
}

extension ClientVerdict.Reason {
    fileprivate var json: JSONValue {
        [
            "rule": .string(rule), "verdict": .string(outcome.rawValue), "message": .string(sentence),
            "source": .string(source),
        ]
    }
}
