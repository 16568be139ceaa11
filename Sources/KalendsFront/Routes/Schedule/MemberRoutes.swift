// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore
import Storage

/// The members of a circle.
struct MemberRoutes: Sendable {
    let members: Members

    func add(to routes: inout RouteTable) {
        routes.section(.circles)
        let one = Schema.named("Member")
        routes.on(
            .get, "/v1/circles/{circle}/members", "listMembers", "List members", .circle(.read), .scope(.readSchedule),
            query: .page, [.list(of: one)], list)
        routes.on(
            .get, "/v1/circles/{circle}/members/{user}", "getMember", "Read a member", .circle(.read),
            .scope(.readSchedule), [.ok(one)], hasTag: true, get)
        routes.on(
            .put, "/v1/circles/{circle}/members/{user}", "putMember", "Add or change a member", .circle(.manage),
            .scope(.manageCircles), details: "A user cannot take the role of the circle's last owner: 409.",
            body: .json(.named("MemberInput")), [.ok(one), .created(one)], refusals: [409], hasTag: true, put)
        routes.on(
            .delete, "/v1/circles/{circle}/members/{user}", "deleteMember", "Remove a member", .circle(.manage),
            .scope(.manageCircles),
            details: "Members may also remove themselves, except the last owner of a circle with other members: 409. "
                + "The member's feeds end.", [.noContent], refusals: [409], hasTag: true, delete)
    }

    static let body = InputBody(
        .required("displayName", .text()), .required("role", InputType<Member.Role>.choice),
        ignoring: ["id", "circleId", "createdAt", "updatedAt"],
        example: ["displayName": "Jane", "role": "member"])

    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, page) = (try context.identifier("circle"), try Page(request, context))
        let members = try await members.list(page.request, in: circle, for: try context.caller())
        return try page.answer(members, key: \.userID, json: \.json)
    }

    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, user) = (try context.identifier("circle"), try context.identifier("user"))
        let member = try await members.get(user, in: circle, for: try context.caller())
        return try .resource(member.json, for: request)
    }

    private func put(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, caller) = (try context.identifier("circle"), try context.caller())
        let user = try context.newIdentifier("user")
        let (name, role) = try Self.body.read(try await request.json(context))
        let (member, isNew) = try await members.put(
            user, in: circle, displayName: name, role: role, if: request.condition { try $0.json.etag }, for: caller)
        return try .resource(member.json, isNew: isNew)
    }

    private func delete(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, user) = (try context.identifier("circle"), try context.identifier("user"))
        try await members.delete(
            user, in: circle, if: request.condition { try $0.json.etag }, for: try context.caller())
        return .noContent
    }
}
