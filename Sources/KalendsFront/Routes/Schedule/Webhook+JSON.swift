// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import KalendsCore
import Storage

extension Webhooks.Shown: Viewed {
    /// The webhook without its secret; the host application, which chose the address, gets it in full.
    static let view = View<Self>([
        .text("id", \.hook.id), .text("url", \.url),
        .init("circles", Schema.array(of: .identifier).orNull.described("Null for all.")) {
            $0.hook.circles.map { .array($0.map(JSONValue.string)) } ?? .null
        },
        .choices("types", \.hook.subjects).described("Null for all."),
        .init("state", .one(of: ["active", "disabled"])) { $0.hook.isActive ? "active" : "disabled" },
        .text("disabledReason", \.hook.disabledReason), .text("secretHint", \.hook.secretHint),
        .instant("formerSecretEndsAt", \.formerEndsAt), .instant("createdAt", \.hook.createdAt),
        .instant("updatedAt", \.hook.updatedAt), .instant("failingSince", \.hook.failingSince),
        .instant("lastDeliveredAt", \.hook.lastDeliveredAt),
    ])

    /// The tag covers only what a client can change.
    var etag: String {
        get throws {
            var json = Self.view.members(of: self)
            for name in ["failingSince", "lastDeliveredAt", "formerSecretEndsAt"] { json[name] = nil }
            return try JSONValue.object(json).etag
        }
    }
}

extension Webhooks.Made {
    /// The webhook with its secret.
    var json: [ByteString: JSONValue] {
        var json = Webhooks.Shown.view.members(of: shown)
        json["secret"] = .string(secret.reveal())
        return json
    }
}

extension WebhookDelivery: Viewed {
    static let view = View<WebhookDelivery>([
        .text("id", \.id), .text("circleId") { $0.circleID.isEmpty ? nil : $0.circleID }.documented(.identifier.orNull),
        .count("from") { $0.circleID.isEmpty ? nil : $0.firstNumber },
        .count("to") { $0.circleID.isEmpty ? nil : $0.lastNumber }, .choice("state", \.state),
        .count("attempts", \.attempts), .instant("createdAt", \.createdAt),
        .instant("nextAttemptAt") { $0.state == .pending ? $0.nextAt : nil },
        .instant("lastAttemptAt", \.lastAttemptAt), .count("lastStatus", \.lastStatus),
        .text("lastProblem", \.lastProblem), .instant("finishedAt", \.finishedAt),
    ])
}
