// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import Storage

/// A user's devices, each with a token of its own that can be taken away without the others.
struct DeviceRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.users)
        let (device, new): (Schema, Schema) = (.named("Device"), .named("NewDevice"))
        routes.on(
            .post, "/sync/devices/register",
            Operation(
                "registerDevice", "Register a device", .user, .scope(.users),
                details: "Again for the same `deviceId` it gets a new token.",
                body: .json(.named("DeviceInput")), [.ok(new), .created(new)], refusals: [409]), register)
        routes.on(
            .get, "/v1/devices",
            Operation("listDevices", "List one's devices", .user, .scope(.users), query: .page, [.list(of: device)]),
            list)
        routes.on(
            .get, "/v1/devices/current",
            Operation(
                "getCurrentDevice", "The device that asks", .device, .scope(.users), [.ok(device)], refusals: [404]),
            current)
        routes.on(
            .get, "/v1/devices/{id}",
            Operation("getDevice", "Read one of one's devices", .user, .scope(.users), [.ok(device)]), get)
        routes.on(
            .delete, "/v1/devices/{id}",
            Operation("deleteDevice", "Take a device's token away", .user, .scope(.users), [.noContent]), delete)
    }

    @Sendable
    private func register(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, now) = (try Rights.user(try context.caller().identity), services.now())
        var fields = FieldReader(try await request.json(context))
        let deviceID = fields.identifier("deviceId", isRequired: true)
        let name = fields.text("name")
        let platform = fields.text("platform")
        fields.finish()
        try fields.check()
        guard let deviceID else { throw Refusal.invalid(fields.faults) }
        let (secret, id, actor) = (Secret.make(.device), FeedLedger.makeID(), try context.caller().actor)
        let most = services.settings.quotas.devicesPerUser
        let (device, isNew) = try await services.store.record { transaction in
            let isNew = try transaction.device(named: deviceID, of: user) == nil
            if isNew, try transaction.deviceCount(of: user) >= most {
                throw Refusal.conflict(
                    "This user has \(most) devices, the most there may be. Delete one.", code: .limitReached)
            }
            try transaction.putDevice(
                id: id, of: user, deviceID: deviceID, name: name, platform: platform, hash: secret.hash, now: now)
            guard let device = try transaction.device(named: deviceID, of: user) else { throw Refusal.missing(.device) }
            try AuditTrail.note(
                .deviceRegistered, device.id, detail: ["token": isNew ? "first" : "replaced", "user": .string(user)],
                by: actor, in: transaction, now: now)
            return (device, isNew)
        }
        return try .json(
            ["deviceToken": .string(secret.reveal()), "device": device.json], status: isNew ? .created : .ok,
            headers: [.location: "/v1/devices/\(device.id)"])
    }

    @Sendable
    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, page) = (try Rights.user(try context.caller().identity), try Page(request))
        let devices = try await services.store.read {
            try $0.devices(of: user, after: page.after, limit: page.fetchLimit)
        }
        return try page.answer(devices, key: \.id, json: \.json)
    }

    @Sendable
    private func current(_ request: Request, _ context: KalendsContext) async throws -> Response {
        guard case .device(let id, let user) = try context.caller().identity else { throw Refusal.missing(.device) }
        return try await answer(id, of: user)
    }

    @Sendable
    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try await answer(try context.identifier("id"), of: try Rights.user(try context.caller().identity))
    }

    private func answer(_ id: String, of user: String) async throws -> Response {
        guard let device = try await services.store.read({ try $0.device(id, of: user) }) else {
            throw Refusal.missing(.device)
        }
        return try .json(device.json)
    }

    @Sendable
    private func delete(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, user) = (try context.identifier("id"), try Rights.user(try context.caller().identity))
        let (actor, now) = (try context.caller().actor, services.now())
        let wasThere = try await services.store.record { transaction in
            guard try transaction.deleteDevice(id, of: user) else { return false }
            try AuditTrail.note(
                .deviceRemoved, id, detail: ["user": .string(user)], by: actor, in: transaction, now: now)
            return true
        }
        guard wasThere else { throw Refusal.missing(.device) }
        return .noContent
    }
}

extension Device {
    fileprivate var json: JSONValue {
        [
            "id": .string(id), "deviceId": .string(deviceID), "userId": .string(userID), "name": JSONValue(name),
            "platform": JSONValue(platform), "createdAt": JSONValue(milliseconds: createdAt),
            "registeredAt": JSONValue(milliseconds: registeredAt), "lastUsedAt": JSONValue(milliseconds: lastUsedAt),
        ]
    }
}
