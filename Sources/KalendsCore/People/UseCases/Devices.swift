// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
package import Storage

/// A user's devices, each with its own token that can be revoked separately.
package struct Devices: Sendable {
    let acts: Acts
    let quotas: Quotas
    let recently: RecentSignIn

    private static func actTarget(for user: String) -> ActTarget<Void> {
        .user(user, of: .device, touchingNoCircle: "A device's token opens no feed.")
    }

    /// Registers a device, or gives a registered device a new token; the secret is shown only this once.
    ///
    /// - Parameter name: the id that the device gave itself; nil to make one.
    package func register(
        _ name: String?, called title: String?, platform: String?, for caller: Caller
    ) async throws -> (Device, Secret, isNew: Bool) {
        let user = try Rights.user(caller.identity)
        let name = name ?? FeedLedger.makeID()
        let (secret, id, most) = (Secret.make(.device), FeedLedger.makeID(), quotas.devicesPerUser)
        return try await acts.act(on: Self.actTarget(for: user), for: caller) { act in
            let transaction = act.transaction
            let isNew = try transaction.device(named: name, of: user) == nil
            if isNew, try transaction.deviceCount(of: user) >= most {
                throw Refusal.conflict(
                    "This user has \(most) devices, which is the maximum. Delete one.", code: .limitReached)
            }
            try transaction.putDevice(
                id: id, of: user, deviceID: name, name: title, platform: platform, hash: secret.hash, now: act.now)
            guard let device = try transaction.device(named: name, of: user) else { throw Refusal.missing(.device) }
            let detail: JSONValue = ["token": isNew ? "first" : "replaced", "user": .string(user)]
            return ActResult(
                (device, secret, isNew: isNew), noting: AuditNote(.deviceRegistered, device.id, detail: detail))
        }
    }

    /// Returns the caller's own devices, in order of id.
    package func list(_ page: PageRequest, for caller: Caller) async throws -> [Device] {
        try await acts.readOwn(for: caller) { try $0.devices(page) }
    }

    /// Returns the calling device.
    package func current(for caller: Caller) async throws -> Device {
        guard case .device(let id, let user) = caller.identity else { throw Refusal.missing(.device) }
        return try await get(id, of: user)
    }

    package func get(_ id: String, for caller: Caller) async throws -> Device {
        try await get(id, of: try Rights.user(caller.identity))
    }

    private func get(_ id: String, of user: String) async throws -> Device {
        guard let device = try await acts.store.read({ try $0.device(id, of: user) }) else {
            throw Refusal.missing(.device)
        }
        return device
    }

    /// Revokes a device's token; throws 403 where the caller has to sign in again first.
    package func delete(_ id: String, for caller: Caller) async throws {
        let user = try Rights.user(caller.identity)
        try await acts.act(on: Self.actTarget(for: user), for: caller) { act in
            try recently.check(caller, in: act.transaction, now: act.now)
            guard try act.transaction.deleteDevice(id, of: user) else { throw Refusal.missing(.device) }
            return ActResult(noting: AuditNote(.deviceRemoved, id, detail: ["user": .string(user)]))
        }
    }
}

extension AuthorizedUser {
    /// Returns the user's devices, in order of id.
    package func devices(_ page: PageRequest) throws -> [Device] {
        try transaction.devices(of: id, after: page.after, limit: page.limit)
    }
}
