// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore
import Storage

/// The patients of a circle.
struct PatientRoutes: Sendable {
    let patients: Patients

    func add(to routes: inout RouteTable) {
        routes.section(.circles)
        let one = Schema.named("Patient")
        routes.on(
            .get, "/v1/circles/{circle}/patients", "listPatients", "List patients", .circle(.read),
            .scope(.readSchedule), query: .page, [.list(of: one)], list)
        routes.on(
            .get, "/v1/circles/{circle}/patients/{patient}", "getPatient", "Read a patient", .circle(.read),
            .scope(.readSchedule), [.ok(one)], hasTag: true, get)
        routes.on(
            .put, "/v1/circles/{circle}/patients/{patient}", "putPatient", "Add or change a patient", .circle(.manage),
            .scope(.manageCircles), body: .json(.named("PatientInput")), [.ok(one), .created(one)], hasTag: true, put)
        routes.on(
            .delete, "/v1/circles/{circle}/patients/{patient}", "deletePatient", "Remove a patient", .circle(.manage),
            .scope(.manageCircles), [.noContent], hasTag: true, delete)
    }

    static let body = InputBody(
        .required("displayName", .text()), ignoring: ["id", "circleId", "createdAt", "updatedAt"],
        example: ["displayName": "Mom"])

    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, page) = (try context.identifier("circle"), try Page(request, context))
        let patients = try await patients.list(page.request, in: circle, for: try context.caller())
        return try page.answer(patients, key: \.id, json: \.json)
    }

    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, id) = (try context.identifier("circle"), try context.identifier("patient"))
        let patient = try await patients.get(id, in: circle, for: try context.caller())
        return try .resource(patient.json, for: request)
    }

    private func put(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, caller) = (try context.identifier("circle"), try context.caller())
        let id = try context.newIdentifier("patient")
        let name = try Self.body.read(try await request.json(context))
        let (patient, isNew) = try await patients.put(
            id, in: circle, displayName: name, if: request.condition { try $0.json.etag }, for: caller)
        return try .resource(patient.json, isNew: isNew)
    }

    private func delete(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, id) = (try context.identifier("circle"), try context.identifier("patient"))
        try await patients.delete(
            id, in: circle, if: request.condition { try $0.json.etag }, for: try context.caller())
        return .noContent
    }
}
