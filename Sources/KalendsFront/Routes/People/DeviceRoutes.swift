// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import KalendsCore
import Storage

/// A user's devices, each with its own token, which can be revoked without the others.
struct DeviceRoutes: Sendable {
    let devices: Devices

    func add(to routes: inout RouteTable) {
        routes.section(.users)
        let (device, new): (Schema, Schema) = (.named("Device"), .named("NewDevice"))
        routes.on(
            .post, "/sync/devices/register", "registerDevice", "Register a device", .user, .scope(.users),
            details:
                "A device that registers again with its `deviceId` gets a new token; one without an id gets an id.",
            body: .json(.named("DeviceInput"), isRequired: false), [.ok(new), .created(new)], refusals: [409],
            deprecations: [Self.formerName], register)
        routes.on(
            .get, "/v1/devices", "listDevices", "List the user's devices", .user, .scope(.users), query: .page,
            [.list(of: device)], list)
        routes.on(
            .get, "/v1/devices/current", "getCurrentDevice", "Read the requesting device", .device, .scope(.users),
            [.ok(device)], refusals: [404], current)
        routes.on(.get, "/v1/devices/{id}", "getDevice", "Read a device", .user, .scope(.users), [.ok(device)], get)
        routes.on(
            .delete, "/v1/devices/{id}", "deleteDevice", "Revoke a device's token", .user, .scope(.users), [.noContent],
            delete)
    }

    static let formerName = Deprecation(
        .field("name"), since: "2026-11-29", sunset: "2027-07-01",
        instead: "`label` takes its place, in answers too.")

    static let body = InputBody(
        .optional("label", .looseText()),
        .optional("deviceId", .identifier.described("The device's own id; the server makes one if it is missing.")),
        .optional("platform", .looseText()),
        .optional("name", .looseText().described("The former name of `label`.")),
        example: ["label": "my-iphone", "deviceId": "phone-1", "platform": "ios"])

    private func register(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let caller = try context.caller()
        var fields = FieldReader(try await request.json(context))
        let (label, deviceID, platform, name) = Self.body.values(&fields)
        if let label = label ?? nil, let name = name ?? nil, label != name {
            fields.fault("name", code: .contradiction, "This is the former name of label: give one of them.")
        }
        try fields.end()
        return try await context.answering { (made: (Device, Secret, isNew: Bool)) in
            let (device, secret, isNew) = made
            return try .json(
                ["deviceToken": .string(secret.reveal()), "device": device.json], status: isNew ? .created : .ok,
                headers: [.location: "/v1/devices/\(device.id)"])
        } to: {
            try await devices.register(
                deviceID ?? nil, called: (label ?? nil) ?? name ?? nil, platform: platform ?? nil, for: caller)
        }
    }

    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (caller, page) = (try context.caller(), try Page(request, context))
        let devices = try await devices.list(page.request, for: caller)
        return try page.answer(devices, key: \.id, json: \.json)
    }

    private func current(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try .json(try await devices.current(for: try context.caller()).json)
    }

    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try .json(try await devices.get(try context.identifier("id"), for: try context.caller()).json)
    }

    private func delete(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try await devices.delete(try context.identifier("id"), for: try context.caller())
        return .noContent
    }
}

extension Device: Viewed {
    static let view = View<Device>([
        .text("id", \.id), .id("deviceId", \.deviceID), .id("userId", \.userID), .text("label", \.name),
        .text("name", \.name).documented(
            Schema.string.orNull.described("The same as `label`.").deprecated(DeviceRoutes.formerName.sentence)),
        .text("platform", \.platform),
        .instant("createdAt", \.createdAt), .instant("registeredAt", \.registeredAt),
        .instant("lastUsedAt", \.lastUsedAt),
        .text("problem", \.problem).documented(
            Schema.choice(PhoneProblem.self).orNull.described(
                "The reason why the device cannot use its calendars, as it last reported.")),
        .instant("problemAt", \.problemAt).described("Since when."),
    ])
}
