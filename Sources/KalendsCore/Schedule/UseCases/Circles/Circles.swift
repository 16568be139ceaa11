// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
package import Storage

/// Lists, creates, changes and deletes the circles that a caller may see.
package struct Circles: Sendable {
    let acts: Acts
    let tidying: Tidying
    /// Drops the cached renderings of a circle's feeds.
    let forgetRendering: @Sendable (_ circle: String) -> Void

    /// Returns the caller's own circles, or all circles for the installation, in order of id.
    package func list(_ page: PageRequest, for caller: Caller) async throws -> [Circle] {
        let (user, bound) = (caller.userID, caller.identity.bound)
        return try await acts.store.read { transaction in
            guard let bound else { return try transaction.circles(of: user, after: page.after, limit: page.limit) }
            return try transaction.circles(of: user, within: bound, after: page.after, limit: page.limit)
        }
    }

    package func get(_ id: String, for caller: Caller) async throws -> Circle {
        try await acts.read(in: id, for: caller, \.circle)
    }

    /// Creates or changes a circle; only the installation may create one. Throws `Refusal`.
    package func put(
        _ id: String, name: String, timeZone: TimeZoneReference, if condition: Precondition<Circle>, for caller: Caller
    ) async throws -> (Circle, isNew: Bool) {
        let put = try await whenFree(id) {
            try await acts.act(on: .circleOrNew(id), for: caller) { act in
                let old = act.target
                try condition.check(old)
                var asked = old ?? Circle(id: id, name: name, timeZone: timeZone.identifier)
                (asked.name, asked.timeZone) = (name, timeZone.identifier)
                let (circle, isNew) = try act.transaction.putCircle(asked, now: act.now)
                if isNew {
                    try caller.checkCircles(in: act.transaction)
                    return ActResult((circle, isNew), noting: AuditNote(.circleCreated, id))
                }
                let changed: [ByteString: Bool] = [
                    "name": old?.name != circle.name, "timeZone": old?.timeZone != circle.timeZone,
                ]
                return .changed((circle, isNew), noting: AuditNote(.circleChanged, id, changed: changed))
            }
        }
        try await tidying.revise(in: id)
        return put
    }

    /// Runs work; while a former circle with this id is still being removed, purges it and tries again.
    private func whenFree<Value>(_ id: String, _ work: () async throws -> Value) async throws -> Value {
        while true {
            do {
                return try await work()
            } catch is CircleIsBeingRemoved {
                guard !tidying.isClosing else {
                    throw Refusal(.unavailable, code: .busy, detail: "The server is about to stop.")
                }
                try await tidying.purge(circle: id)
            }
        }
    }

    /// Deletes a circle with everything in it.
    package func delete(_ id: String, if condition: Precondition<Circle>, for caller: Caller) async throws {
        try await acts.act(on: .circle(id, .manage), for: caller) { act in
            try condition.check(act.circle)
            _ = try act.transaction.deleteCircle(id, now: act.now)
            return ActResult(noting: AuditNote(.circleDeleted, id))
        }
        forgetRendering(id)
        tidying.afterDeleting(circle: id)
    }
}
