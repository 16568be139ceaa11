// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Storage

/// Where changes are sent to: for host applications alone.
struct WebhookRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        let (path, hook, new): (String, Schema, Schema) = ("/v1/webhooks", .named("Webhook"), .named("NewWebhook"))
        var made = Operation.Reply.created(new, "Made; its secret is told.")
        made.headers = ["Location"]
        routes.on(
            .get, path,
            Operation("listWebhooks", "List webhooks", .installation, .wholeKey, query: .page, [.list(of: hook)]), list
        )
        routes.on(
            .post, path,
            Operation(
                "createWebhook", "Have changes sent", .installation, .wholeKey, body: .json(.named("WebhookInput")),
                [made],
                refusals: [409]),
            create)
        routes.on(
            .get, "\(path)/{id}",
            Operation("getWebhook", "Read a webhook", .installation, .wholeKey, [.ok(hook)], hasTag: true), get)
        routes.on(
            .patch, "\(path)/{id}",
            Operation(
                "changeWebhook", "Change, disable or enable a webhook", .installation, .wholeKey,
                body: .json(.named("WebhookChange"), isRequired: false), [.ok(hook)], hasTag: true), change)
        routes.on(
            .delete, "\(path)/{id}",
            Operation(
                "deleteWebhook", "Have changes sent no more", .installation, .wholeKey, [.noContent], hasTag: true),
            delete)
        routes.on(
            .post, "\(path)/{id}/rotate",
            Operation(
                "rotateWebhook", "Give a webhook a new secret", .installation, .wholeKey,
                details: "During the grace both sign.",
                body: .json(.named("Rotation"), isRequired: false), [.ok(new)]), rotate)
        routes.on(
            .post, "\(path)/{id}/test",
            Operation(
                "testWebhook", "Send a message without changes", .installation, .wholeKey,
                [.init(status: 202, text: "On its way.", type: "application/json", schema: .named("Delivery"))],
                refusals: [409]), test)
        routes.on(
            .get, "\(path)/{id}/deliveries",
            Operation(
                "listDeliveries", "What was sent, the latest first", .installation, .wholeKey, query: .page,
                [.list(of: .named("Delivery"))]), deliveries)
    }

    private enum State: String, CaseIterable { case active, disabled }
    private static let mostTrials = 20

    @Sendable
    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let page = try Page(request)
        let found = try await services.store.read { try $0.webhooks(after: page.after, limit: page.fetchLimit) }
        return try page.answer(found, key: \.id) { .object(shown($0)) }
    }

    @Sendable
    private func create(_ request: Request, _ context: KalendsContext) async throws -> Response {
        var fields = FieldReader(try await request.json(context))
        let url = Self.url(&fields, isRequired: true)
        let (circles, subjects) = (Self.circles(&fields), Self.subjects(&fields))
        fields.finish()
        try fields.check()
        guard let url else { throw Refusal.invalid(fields.faults) }
        let (secret, id, now) = (Secret.make(.webhook), FeedLedger.makeID(), services.now())
        let (key, actor) = (services.sealingKey, try context.caller().actor)
        let most = services.settings.quotas.webhooks
        let hook = try await services.store.record { transaction in
            if try transaction.webhookCount() >= most { throw Refusal.quota("There are", most, "webhooks") }
            let hook = Webhook(
                id: id, sealedURL: try key.seal(url, for: WebhookMessage.urlPurpose(id)), circles: circles,
                subjects: subjects, sealedSecret: try key.seal(secret.reveal(), for: WebhookMessage.secretPurpose(id)),
                secretHint: secret.hint, position: try transaction.latestChange(), now: now)
            try transaction.putWebhook(hook)
            try AuditTrail.note(.webhookCreated, id, by: actor, in: transaction, now: now)
            return hook
        }
        var json = shown(hook)
        json["secret"] = .string(secret.reveal())
        return try .json(.object(json), status: .created, headers: [.location: "/v1/webhooks/\(id)"])
    }

    @Sendable
    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let id = try context.identifier("id")
        let (hook, pending) = try await services.store.read { transaction in
            guard let hook = try transaction.webhook(id) else { throw Refusal.missing(.webhook) }
            return (hook, try transaction.pendingDeliveries(of: id))
        }
        var json = shown(hook)
        json["pending"] = .integer(pending)
        return try .resource(.object(json), for: request, etag: try etag(hook))
    }

    @Sendable
    private func change(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, now, headers) = (try context.identifier("id"), services.now(), request.headers)
        let body = try await request.json(context)
        var fields = FieldReader(body)
        let url = Self.url(&fields, isRequired: false)
        let (circles, subjects) = (Self.circles(&fields), Self.subjects(&fields))
        let state = fields.choice("state", State.self)
        fields.finish()
        try fields.check()
        let (key, actor) = (services.sealingKey, try context.caller().actor)
        let hook = try await services.store.record { transaction in
            guard var hook = try transaction.webhook(id) else { throw Refusal.missing(.webhook) }
            let old = hook
            let oldURL = try? key.open(old.sealedURL, for: WebhookMessage.urlPurpose(id))
            try ConditionalGet.checkPreconditions(headers, etag: try etag(hook))
            if let url { hook.sealedURL = try key.seal(url, for: WebhookMessage.urlPurpose(id)) }
            if body["circles"] != nil { hook.circles = circles }
            if body["types"] != nil { hook.subjects = subjects }
            switch state {
            case .disabled where hook.isActive:
                hook.isActive = false
                hook.disabledReason = "It was disabled by a call."
            case .active where !hook.isActive:
                hook.isActive = true
                (hook.disabledReason, hook.failingSince) = (nil, nil)
                try transaction.hurryDeliveries(of: id, now: now)
            default: break
            }
            hook.updatedAt = now
            try transaction.putWebhook(hook)
            try AuditTrail.noteChange(
                .webhookChanged, id,
                [
                    "circles": hook.circles != old.circles, "state": hook.isActive != old.isActive,
                    "types": hook.subjects != old.subjects, "url": url != nil && url != oldURL,
                ], by: actor, in: transaction, now: now)
            return hook
        }
        return try .resource(.object(shown(hook)), etag: try etag(hook))
    }

    @Sendable
    private func delete(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, headers) = (try context.identifier("id"), request.headers)
        let (actor, now) = (try context.caller().actor, services.now())
        try await services.store.read { transaction in
            guard let hook = try transaction.webhook(id) else { throw Refusal.missing(.webhook) }
            try ConditionalGet.checkPreconditions(headers, etag: try etag(hook))
        }
        // A month's messages may be many.
        try await services.store.recordRepeatedly { try $0.deleteDeliveries(of: id, limit: $1) }
        try await services.store.record { transaction in
            guard let hook = try transaction.webhook(id) else { throw Refusal.missing(.webhook) }
            try ConditionalGet.checkPreconditions(headers, etag: try etag(hook))
            _ = try transaction.deleteWebhook(id)
            try AuditTrail.note(.webhookDeleted, id, by: actor, in: transaction, now: now)
        }
        return .noContent
    }

    @Sendable
    private func rotate(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, now) = (try context.identifier("id"), services.now())
        var fields = FieldReader(try await request.json(context))
        let grace = fields.integer("graceSeconds", in: 0...2_592_000) ?? 86_400
        fields.finish()
        try fields.check()
        let (secret, key, actor) = (Secret.make(.webhook), services.sealingKey, try context.caller().actor)
        let hook = try await services.store.record { transaction in
            guard var hook = try transaction.webhook(id) else { throw Refusal.missing(.webhook) }
            (hook.sealedFormer, hook.formerEndsAt) = grace > 0 ? (hook.sealedSecret, now + grace * 1000) : (nil, nil)
            hook.sealedSecret = try key.seal(secret.reveal(), for: WebhookMessage.secretPurpose(id))
            hook.secretHint = secret.hint
            hook.updatedAt = now
            try transaction.putWebhook(hook)
            try AuditTrail.note(
                .webhookRotated, id, detail: ["former": grace > 0 ? "grace" : "ended"], by: actor, in: transaction,
                now: now)
            return hook
        }
        var json = shown(hook)
        json["secret"] = .string(secret.reveal())
        return try .json(.object(json))
    }

    /// Puts a message without changes in the queue; it tells in the list of deliveries what came of it.
    @Sendable
    private func test(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, now) = (try context.identifier("id"), services.now())
        let delivery = try await services.store.record { transaction in
            guard let hook = try transaction.webhook(id) else { throw Refusal.missing(.webhook) }
            guard hook.isActive else {
                throw Refusal.conflict("This webhook is disabled.", code: .webhookDisabled)
            }
            // One of them tells all there is to know.
            if try transaction.pendingDeliveries(of: id, circle: "") >= Self.mostTrials {
                throw Refusal.quota("A webhook has", Self.mostTrials, "trial messages that wait")
            }
            let delivery = WebhookDelivery(
                id: "msg_" + FeedLedger.makeID(), webhookID: id, circleID: "", firstNumber: 0, lastNumber: 0, now: now)
            try transaction.insertDelivery(delivery)
            return delivery
        }
        return try .json(delivery.json, status: .accepted)
    }

    @Sendable
    private func deliveries(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, page) = (try context.identifier("id"), try Page(request))
        let before = try page.number ?? Int.max
        let found = try await services.store.read { transaction in
            guard try transaction.webhook(id) != nil else { throw Refusal.missing(.webhook) }
            return try transaction.deliveries(of: id, before: before, limit: page.fetchLimit)
        }
        return try page.answer(found, key: { String($0.ordinal) }, json: \.json)
    }

    /// The webhook without its secret; the address to the host application, which gave it.
    private func shown(_ hook: Webhook) -> [ByteString: JSONValue] {
        let url = try? services.sealingKey.open(hook.sealedURL, for: WebhookMessage.urlPurpose(hook.id))
        let grace = hook.formerEndsAt.flatMap { $0 > services.now() ? $0 : nil }
        return [
            "id": .string(hook.id), "url": JSONValue(url),
            "circles": hook.circles.map { .array($0.map(JSONValue.string)) } ?? .null,
            "types": hook.subjects.map { .array($0.map { .string($0.rawValue) }) } ?? .null,
            "state": hook.isActive ? "active" : "disabled", "disabledReason": JSONValue(hook.disabledReason),
            "secretHint": .string(hook.secretHint), "formerSecretEndsAt": JSONValue(milliseconds: grace),
            "createdAt": JSONValue(milliseconds: hook.createdAt), "updatedAt": JSONValue(milliseconds: hook.updatedAt),
            "failingSince": JSONValue(milliseconds: hook.failingSince),
            "lastDeliveredAt": JSONValue(milliseconds: hook.lastDeliveredAt),
        ]
    }

    /// Over what a client can change alone.
    private func etag(_ hook: Webhook) throws -> String {
        var json = shown(hook)
        for name in ["failingSince", "lastDeliveredAt", "formerSecretEndsAt"] { json[name] = nil }
        return try JSONValue.object(json).etag
    }

    private static func url(_ fields: inout FieldReader, isRequired: Bool) -> String? {
        guard let text = fields.text("url", isRequired: isRequired, maximum: 2000) else { return nil }
        guard WebhookMessage.isUsable(text) else {
            fields.fault(
                "url",
                "This must be an address with http:// or https://, without user name and fragment, with a port from 1 to 65535."
            )
            return nil
        }
        return text
    }

    private static func circles(_ fields: inout FieldReader) -> [String]? {
        guard let value = fields.value("circles") else { return nil }
        let ids = value.array?.compactMap(\.string) ?? []
        guard let count = value.array?.count, (1...1000).contains(count), ids.count == count,
            ids.allSatisfy(Identifier.isValid)
        else {
            fields.fault(
                "circles", code: .wrongType, "This must be a list of 1 to 1000 ids of circles, or null for all.")
            return nil
        }
        return ids
    }

    private static func subjects(_ fields: inout FieldReader) -> [CircleChange.Subject]? {
        guard let value = fields.value("types") else { return nil }
        let subjects = value.array?.compactMap { $0.string.flatMap { CircleChange.Subject(rawValue: $0) } } ?? []
        guard let count = value.array?.count, count > 0, subjects.count == count else {
            let known = CircleChange.Subject.allCases.map(\.rawValue).joined(separator: ", ")
            fields.fault("types", code: .notAChoice, "This must be a list of some of \(known), or null for all.")
            return nil
        }
        return subjects
    }
}

extension WebhookDelivery {
    fileprivate var json: JSONValue {
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
