// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import KalendsCore
import Storage

extension Webhooks.Shown {
    /// The webhook without its secret; the host application, which chose the address, gets it in full.
    var json: [ByteString: JSONValue] {
        [
            "id": .string(hook.id), "url": JSONValue(url),
            "circles": hook.circles.map { .array($0.map(JSONValue.string)) } ?? .null,
            "types": hook.subjects.map { .array($0.map { .string($0.rawValue) }) } ?? .null,
            "state": hook.isActive ? "active" : "disabled", "disabledReason": JSONValue(hook.disabledReason),
            "secretHint": .string(hook.secretHint), "formerSecretEndsAt": JSONValue(milliseconds: formerEndsAt),
            "createdAt": JSONValue(milliseconds: hook.createdAt), "updatedAt": JSONValue(milliseconds: hook.updatedAt),
            "failingSince": JSONValue(milliseconds: hook.failingSince),
            "lastDeliveredAt": JSONValue(milliseconds: hook.lastDeliveredAt),
        ]
    }

    /// The tag covers only what a client can change.
    var etag: String {
        get throws {
            var json = json
            for name in ["failingSince", "lastDeliveredAt", "formerSecretEndsAt"] { json[name] = nil }
            return try JSONValue.object(json).etag
        }
    }
}

extension Webhooks.Made {
    /// The webhook with its secret.
    var json: [ByteString: JSONValue] {
        var json = shown.json
        json["secret"] = .string(secret.reveal())
        return json
    }
}

extension WebhookDelivery {
    var json: JSONValue {
        [
            "id": .string(id), "circleId": circleID.isEmpty ? .null : .string(circleID),
            "from": circleID.isEmpty ? .null : .integer(firstNumber),
            "to": circleID.isEmpty ? .null : .integer(lastNumber), "state": .string(state.rawValue),
            "attempts": .integer(attempts), "createdAt": JSONValue(milliseconds: createdAt),
            "nextAttemptAt": state == .pending ? JSONValue(milliseconds: nextAt) : .null,
            "lastAttemptAt": JSONValue(milliseconds: lastAttemptAt), "lastStatus": JSONValue(lastStatus),
            "lastProblem": JSONValue(lastProblem), "finishedAt": JSONValue(milliseconds: finishedAt),
        ]
    }
}
