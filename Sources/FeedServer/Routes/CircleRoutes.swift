// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import ICalBridge
import Storage

/// Circles, their members and patients.
struct CircleRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(
            RouteTable.Section(
                name: "Circles", about: "A family, a ward, a team: who belongs to it, and whom it cares for."))
        let (circle, one): (String, Schema) = ("/v1/circles/{circle}", .named("Circle"))
        routes.on(
            .get, "/v1/circles",
            Operation("listCircles", "List circles", .caller, query: .page, [.list(of: one)]), list)
        routes.on(
            .get, circle, Operation("getCircle", "Read a circle", .circle(.read), [.ok(one)], hasTag: true), get)
        routes.on(
            .put, circle,
            Operation(
                "putCircle", "Make or change a circle", .circle(.manage),
                details: "Only the host application makes one.",
                body: .json(.named("CircleInput")), [.ok(one), .created(one)], hasTag: true), put)
        routes.on(
            .delete, circle,
            Operation(
                "deleteCircle", "Delete a circle with all that is in it", .circle(.manage), [.noContent], hasTag: true),
            delete)
        addMembers(to: &routes, circle)
        addPatients(to: &routes, circle)
    }

    private func addMembers(to routes: inout RouteTable, _ circle: String) {
        let one = Schema.named("Member")
        routes.on(
            .get, "\(circle)/members",
            Operation("listMembers", "List members", .circle(.read), query: .page, [.list(of: one)]), listMembers)
        routes.on(
            .get, "\(circle)/members/{user}",
            Operation("getMember", "Read a member", .circle(.read), [.ok(one)], hasTag: true), getMember)
        routes.on(
            .put, "\(circle)/members/{user}",
            Operation(
                "putMember", "Add or change a member", .circle(.manage), body: .json(.named("MemberInput")),
                [.ok(one), .created(one)], hasTag: true), putMember)
        routes.on(
            .delete, "\(circle)/members/{user}",
            Operation(
                "deleteMember", "Take a member out", .circle(.manage),
                details: "Everybody may leave on their own. The member's feeds end.", [.noContent], hasTag: true),
            deleteMember)
    }

    private func addPatients(to routes: inout RouteTable, _ circle: String) {
        let one = Schema.named("Patient")
        routes.on(
            .get, "\(circle)/patients",
            Operation("listPatients", "List patients", .circle(.read), query: .page, [.list(of: one)]), listPatients)
        routes.on(
            .get, "\(circle)/patients/{patient}",
            Operation("getPatient", "Read a patient", .circle(.read), [.ok(one)], hasTag: true), getPatient)
        routes.on(
            .put, "\(circle)/patients/{patient}",
            Operation(
                "putPatient", "Add or change a patient", .circle(.manage), body: .json(.named("PatientInput")),
                [.ok(one), .created(one)], hasTag: true), putPatient)
        routes.on(
            .delete, "\(circle)/patients/{patient}",
            Operation("deletePatient", "Take a patient out", .circle(.manage), [.noContent], hasTag: true),
            deletePatient)
    }

    @Sendable
    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let page = try Page(request)
        let user = try context.caller().userID
        let found = try await services.store.read {
            try $0.circles(of: user, after: page.after, limit: page.fetchLimit)
        }
        return try page.answer(found, key: \.id, json: \.json)
    }

    @Sendable
    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("circle"), try context.caller())
        let circle = try await services.store.read { try Rights.circle(id, for: caller, .read, in: $0) }
        return try .resource(circle.json, for: request)
    }

    @Sendable
    private func put(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, now) = (try context.newIdentifier("circle"), try context.caller(), services.now())
        var fields = FieldReader(try await request.json(context))
        let name = fields.text("name", isRequired: true)
        let zone = fields.timeZone("timeZone", isRequired: true)
        fields.finish(ignoring: ["id", "createdAt", "updatedAt"])
        try fields.check()
        guard let name, let zone else { throw Refusal.invalid(fields.faults) }
        let (headers, actor) = (request.headers, try context.actor())
        let (circle, isNew) = try await whenFree(id) { transaction in
            transaction.concerns(circle: id)
            let old = try transaction.circle(id)
            if old == nil {
                // Only the host application opens circles; to a user one that is not theirs is not there.
                guard caller.isInstallation else { throw Refusal.missing(.circle) }
            } else {
                _ = try Rights.circle(id, for: caller, .manage, in: transaction)
            }
            try ConditionalGet.checkPreconditions(headers, etag: try old?.json.etag)
            let (circle, isNew) = try transaction.putCircle(id, name: name, timeZone: zone.identifier, now: now)
            if isNew {
                try AuditTrail.note(.circleCreated, id, circle: id, by: actor, in: transaction, now: now)
            } else {
                try AuditTrail.noteChange(
                    .circleChanged, id, circle: id,
                    ["name": old?.name != circle.name, "timeZone": old?.timeZone != circle.timeZone], by: actor,
                    in: transaction, now: now)
            }
            return (circle, isNew)
        }
        try await services.tidying.revise(in: id)
        return try .resource(circle.json, isNew: isNew)
    }

    /// Writes once nothing is left of a former circle of this id.
    private func whenFree<Value: Sendable>(
        _ id: String, _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        while true {
            do {
                return try await services.store.write(body)
            } catch is CircleIsBeingRemoved {
                guard !services.turns.isClosing else {
                    throw Refusal(status: .serviceUnavailable, code: .busy, detail: "The server is about to end.")
                }
                try await services.tidying.purge(circle: id)
            }
        }
    }

    @Sendable
    private func delete(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, now) = (try context.identifier("circle"), try context.caller(), services.now())
        let (headers, actor) = (request.headers, try context.actor())
        try await services.store.write { transaction in
            transaction.concerns(circle: id)
            let circle = try Rights.circle(id, for: caller, .manage, in: transaction)
            try ConditionalGet.checkPreconditions(headers, etag: try circle.json.etag)
            _ = try transaction.deleteCircle(id, now: now)
            try AuditTrail.note(.circleDeleted, id, circle: id, by: actor, in: transaction, now: now)
        }
        services.renderer.forget(circle: id)
        services.tidying.afterDeleting(circle: id)
        return .noContent
    }

    @Sendable
    private func listMembers(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, page) = (try context.identifier("circle"), try context.caller(), try Page(request))
        let members = try await services.store.read { transaction in
            _ = try Rights.circle(id, for: caller, .read, in: transaction)
            return try transaction.membersEverKnown(in: id)
        }
        let shown = members.filter { $0.leftAt == nil && $0.userID > page.after }.prefix(page.fetchLimit)
        return try page.answer(Array(shown), key: \.userID, json: \.json)
    }

    @Sendable
    private func getMember(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, user, caller) = (
            try context.identifier("circle"), try context.identifier("user"), try context.caller()
        )
        let member = try await services.store.read { transaction in
            _ = try Rights.circle(id, for: caller, .read, in: transaction)
            return try transaction.member(user, in: id)
        }
        guard let member else { throw Refusal.missing(.member) }
        return try .resource(member.json, for: request)
    }

    @Sendable
    private func putMember(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, now) = (try context.identifier("circle"), try context.caller(), services.now())
        let user = try context.newIdentifier("user")
        var fields = FieldReader(try await request.json(context))
        let name = fields.text("displayName", isRequired: true)
        let role = fields.choice("role", Member.Role.self, isRequired: true)
        fields.finish(ignoring: ["id", "circleId", "createdAt", "updatedAt"])
        try fields.check()
        guard let name, let role else { throw Refusal.invalid(fields.faults) }
        let (headers, actor) = (request.headers, try context.actor())
        let most = services.settings.quotas.held(to: caller).membersPerCircle
        let (member, isNew) = try await services.store.write { transaction in
            transaction.concerns(circle: id)
            _ = try Rights.circle(id, for: caller, .manage, in: transaction)
            let old = try transaction.member(user, in: id)
            try ConditionalGet.checkPreconditions(headers, etag: try old?.json.etag)
            if try old == nil && transaction.memberEverKnown(user, in: id) == nil
                && transaction.memberCount(in: id) >= most
            {
                throw Refusal.quota("A circle has", most, "members, counting those who have left")
            }
            let (member, isNew) = try transaction.putMember(user, in: id, displayName: name, role: role, now: now)
            if old?.role != role || old?.displayName != name {
                try AuditTrail.note(
                    isNew ? .memberAdded : .memberChanged, user, circle: id,
                    detail: Self.roles(before: old?.role, after: role), by: actor, in: transaction, now: now)
            }
            return (member, isNew)
        }
        try await services.tidying.revise(in: id)
        return try .resource(member.json, isNew: isNew)
    }

    @Sendable
    private func deleteMember(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, now) = (try context.identifier("circle"), try context.caller(), services.now())
        let (user, headers, actor) = (try context.identifier("user"), request.headers, try context.actor())
        try await services.store.write { transaction in
            transaction.concerns(circle: id)
            // Everybody may leave; to make others leave is the owner's.
            _ = try Rights.circle(id, for: caller, caller.userID == user ? .read : .manage, in: transaction)
            guard let member = try transaction.member(user, in: id) else { throw Refusal.missing(.member) }
            try ConditionalGet.checkPreconditions(headers, etag: try member.json.etag)
            let feeds = try transaction.feeds(of: user, in: id).filter { $0.revokedAt == nil }
            guard try transaction.removeMember(user, from: id, now: now) else { throw Refusal.missing(.member) }
            var detail = Self.roles(before: member.role, after: nil).object ?? [:]
            detail["revokedFeeds"] = .array(feeds.map { .string($0.id) })
            try AuditTrail.note(
                .memberRemoved, user, circle: id, detail: .object(detail), by: actor, in: transaction, now: now)
        }
        return .noContent
    }

    @Sendable
    private func listPatients(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, page) = (try context.identifier("circle"), try context.caller(), try Page(request))
        let patients = try await services.store.read { transaction in
            _ = try Rights.circle(id, for: caller, .read, in: transaction)
            return try transaction.patientsEverKnown(in: id)
        }
        let shown = patients.filter { $0.removedAt == nil && $0.id > page.after }.prefix(page.fetchLimit)
        return try page.answer(Array(shown), key: \.id, json: \.json)
    }

    @Sendable
    private func getPatient(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, patient, caller) = (
            try context.identifier("circle"), try context.identifier("patient"), try context.caller()
        )
        let found = try await services.store.read { transaction in
            _ = try Rights.circle(id, for: caller, .read, in: transaction)
            return try transaction.patientEverKnown(patient, in: id)
        }
        guard let found, found.removedAt == nil else { throw Refusal.missing(.patient) }
        return try .resource(found.json, for: request)
    }

    @Sendable
    private func putPatient(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, now) = (try context.identifier("circle"), try context.caller(), services.now())
        let patient = try context.newIdentifier("patient")
        var fields = FieldReader(try await request.json(context))
        let name = fields.text("displayName", isRequired: true)
        fields.finish(ignoring: ["id", "circleId", "createdAt", "updatedAt"])
        try fields.check()
        guard let name else { throw Refusal.invalid(fields.faults) }
        let (headers, actor) = (request.headers, try context.actor())
        let most = services.settings.quotas.held(to: caller).patientsPerCircle
        let (stored, isNew) = try await services.store.write { transaction in
            transaction.concerns(circle: id)
            _ = try Rights.circle(id, for: caller, .manage, in: transaction)
            let known = try transaction.patientEverKnown(patient, in: id)
            let old = known.flatMap { $0.removedAt == nil ? $0 : nil }
            try ConditionalGet.checkPreconditions(headers, etag: try old?.json.etag)
            if try known == nil && transaction.patientCount(in: id) >= most {
                throw Refusal.quota("A circle has", most, "patients, counting those who were taken out")
            }
            let (stored, isNew) = try transaction.putPatient(patient, in: id, displayName: name, now: now)
            if isNew {
                try AuditTrail.note(.patientAdded, patient, circle: id, by: actor, in: transaction, now: now)
            } else {
                try AuditTrail.noteChange(
                    .patientChanged, patient, circle: id, ["displayName": old?.displayName != name], by: actor,
                    in: transaction, now: now)
            }
            return (stored, isNew)
        }
        try await services.tidying.revise(in: id)
        return try .resource(stored.json, isNew: isNew)
    }

    @Sendable
    private func deletePatient(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, now) = (try context.identifier("circle"), try context.caller(), services.now())
        let (patient, headers, actor) = (try context.identifier("patient"), request.headers, try context.actor())
        try await services.store.write { transaction in
            transaction.concerns(circle: id)
            _ = try Rights.circle(id, for: caller, .manage, in: transaction)
            let old = try transaction.patientEverKnown(patient, in: id).flatMap { $0.removedAt == nil ? $0 : nil }
            guard let old else { throw Refusal.missing(.patient) }
            try ConditionalGet.checkPreconditions(headers, etag: try old.json.etag)
            guard try transaction.removePatient(patient, from: id, now: now) else { throw Refusal.missing(.patient) }
            try AuditTrail.note(.patientRemoved, patient, circle: id, by: actor, in: transaction, now: now)
        }
        return .noContent
    }

    /// What a member might do before and after, null for nothing.
    private static func roles(before: Member.Role?, after: Member.Role?) -> JSONValue {
        ["roleBefore": JSONValue(before?.rawValue), "roleAfter": JSONValue(after?.rawValue)]
    }
}

extension Circle {
    var json: JSONValue {
        [
            "id": .string(id), "name": .string(name), "timeZone": .string(timeZone),
            "createdAt": JSONValue(milliseconds: createdAt), "updatedAt": JSONValue(milliseconds: updatedAt),
        ]
    }
}

extension Member {
    var json: JSONValue {
        [
            "id": .string(userID), "circleId": .string(circleID), "displayName": .string(displayName),
            "role": .string(role.rawValue), "createdAt": JSONValue(milliseconds: createdAt),
            "updatedAt": JSONValue(milliseconds: updatedAt),
        ]
    }
}

extension Patient {
    var json: JSONValue {
        [
            "id": .string(id), "circleId": .string(circleID), "displayName": .string(displayName),
            "createdAt": JSONValue(milliseconds: createdAt), "updatedAt": JSONValue(milliseconds: updatedAt),
        ]
    }
}
