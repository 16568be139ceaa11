// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import HTTPTypes
import HummingbirdTesting
import ICalBridge
import NIOCore
import Pages
import Storage
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

/// A kind of item that only the server of these tests has: everything about it is defined here.
private struct MedicationContent: ItemContent {
    enum Meal: String, CaseIterable { case before, with, after }

    var patient = ""
    var drug = ""
    var takenAt = Instant(seconds: 0)
    var meal = Meal.with
    var timeZone: String?
    var notes: String?

    static let parts: [ItemPart<MedicationContent>] = [
        .required("patientId", \.patient, .identifier), .required("drug", \.drug, .text),
        .required("takenAt", \.takenAt, .instant), .given("meal", \.meal, .choice), .timeZone,
        .optional("notes", \.notes, .notes),
    ]

    static let collection: ScheduleItem.Collection = "medications"
    static let name = "Medication"
    static let resource = Refusal.Resource("medication", .itemNotFound)
    static let example: JSONValue = ["patientId": "mom", "drug": "Iron", "takenAt": "2026-01-21T08:00:00-08:00"]
    static let namesInTitles: Set<NameInTitle> = [.patient]

    var patientID: String? { patient }

    func title(_ names: CircleNames) -> String { drug }

    func careItem(_ names: CircleNames, in zone: TimeZoneReference) -> CareItem {
        var item = CareItem(
            category: "Medication", label: "Meds", title: [names.patient(patient), drug],
            span: .timed(start: takenAt, end: takenAt.adding(seconds: 300), zone: zone.identifier), availability: .free)
        item.notes = "\(meal.rawValue) a meal"
        return item
    }

    mutating func move(to span: TimeSpan) throws {
        guard case .timed(let start, _, _) = span else { throw InboundRefusal("This is taken at a time.") }
        takenAt = start
    }

    mutating func rename(_ title: String, _ names: CircleNames) throws { drug = title }
}

@Suite("Kinds of items")
struct ItemKindTests {
    private static let path = "/v1/circles/c/medications"
    private static let iron: JSONValue = ["patientId": "mom", "drug": "Iron", "takenAt": "2026-03-03T08:00:00-08:00"]

    private static var settings: ServerSettings {
        var settings = ServerSettings()
        settings.kinds = ItemKinds(ItemKinds.all.list + [MedicationContent.self])
        return settings
    }

    @Test("A kind that was described is put, read, listed, changed and deleted like the others")
    func routes() async throws {
        try await TestServer.run(settings: Self.settings) { server in
            try await server.makeCircle()
            let made = try await server.call(.put, Self.path + "/iron", Self.iron).expect(201)
            #expect(made.json["meal"] == "with" && made.json["takenAt"] == "2026-03-03T08:00:00-08:00")
            #expect(made.json["timeZone"] == .null && made.json["notes"] == .null && made.json["sequence"] == 0)
            let read = try await server.call(.get, Self.path + "/iron").expect(200)
            #expect(read.body == made.body && read.headers[.eTag] == made.headers[.eTag])
            // What was read can be put again, and changes nothing.
            #expect(try await server.call(.put, Self.path + "/iron", read.json).expect(200).body == made.body)
            #expect(try await server.call(.get, Self.path).expect(200).json["items"] == [made.json])
            let refused = try await server.call(
                .put, Self.path + "/iron", ["patientId": "nobody", "drug": "", "takenAt": "soon", "meal": 3, "dose": 1]
            ).expect(422)
            #expect(Set(refused.pointers) == ["/patientId", "/drug", "/takenAt", "/meal", "/dose"])
            let changed = try await server.call(
                .put, Self.path + "/iron", ["patientId": "mom", "drug": "Iron", "takenAt": "2026-03-04T08:00:00Z"]
            ).expect(200)
            #expect(changed.json["sequence"] == 1)
            #expect(try await server.call(.get, Self.path + "/iron/reach").expect(200).json["readers"] == [])
            try await server.call(.delete, Self.path + "/iron").expect(204)
            let missing = try await server.call(.get, Self.path + "/iron").expect(404)
            #expect(missing.json["code"] == "item-not-found")
            #expect(missing.json["detail"] == "There is no such medication, or you may not see it.")
        }
    }

    @Test("It is stored by its fields, in batches too, and looked at with all that is stored")
    func stored() async throws {
        try await TestServer.run(settings: Self.settings) { server in
            try await server.makeCircle()
            let line: JSONValue = ["op": "put", "collection": "medications", "id": "iron", "value": Self.iron]
            let report = try await server.raw(
                .post, "/v1/circles/c/batch",
                headers: [.authorization: "Bearer \(server.key)", .contentType: "application/x-ndjson"],
                body: ByteBuffer(bytes: try line.serialized())
            ).expect(200).json
            #expect(report["applied"] == 1)
            let row = try #require(
                try await server.services.store.read { try $0.item("iron", MedicationContent.collection, in: "c") })
            #expect(row.content == #"{"drug":"Iron","meal":"with","patientId":"mom","takenAt":1772553600}"#)
            #expect(row.patientID == "mom" && row.startsAt == 1_772_553_600_000 && row.endsAt == 1_772_553_900_000)
            let (store, maintenance) = (server.services.store, server.services.maintenance)
            #expect(try await StoredRows.faults(in: store, maintenance, Self.settings.kinds).isEmpty)
            // A server without the kind does not understand it.
            #expect(try await StoredRows.faults(in: store, maintenance, .all).count == 1)
        }
    }

    @Test("Feeds show it as its description says, can leave it out, and follow the names in its titles")
    func feeds() async throws {
        try await TestServer.run(settings: Self.settings) { server in
            try await server.makeCircle()
            try await server.put("medications", "iron", Self.iron)
            let feed = try await server.makeFeed(config: ["includeTasks": false])
            let calendar = try await server.raw(.get, feed.path).expect(200)
            #expect(calendar.eventValues("SUMMARY") == ["CK Meds: Mom - Iron"])
            #expect(calendar.eventValues("DESCRIPTION") == ["with a meal"])
            #expect(calendar.eventValues("CATEGORIES") == ["Medication"])
            try await server.call(.put, "/v1/circles/c/patients/mom", ["displayName": "Rosa"]).expect(200)
            let renamed = try await server.raw(.get, feed.path).expect(200)
            #expect(renamed.eventValues("SUMMARY") == ["CK Meds: Rosa - Iron"])
            #expect(renamed.eventValues("SEQUENCE") == ["1"])
            let shown = try await server.call(.patch, "/v1/feeds/\(feed.id)", ["config": ["includeMedications": false]])
                .expect(200)
            #expect(shown.json["config"]?["includeMedications"] == false)
            #expect(shown.json["config"]?["includeTasks"] == false)
            #expect(try await server.raw(.get, feed.path).expect(200).eventValues("SUMMARY").isEmpty)
        }
    }

    @Test("The document describes it: its paths, its schemas, its settings and its code")
    func document() async throws {
        try await TestServer.run(settings: Self.settings) { server in
            let document = try await server.raw(.get, "/openapi.json").expect(200).json
            let paths = try #require(document["paths"])
            #expect(paths["/v1/circles/{circle}/medications"]?["get"]?["operationId"] == "listMedications")
            #expect(paths["/v1/circles/{circle}/medications/{id}"]?["put"]?["operationId"] == "putMedication")
            let schemas = try #require(document["components"]?["schemas"])
            #expect(
                schemas["Medication"]?["required"]?.array?.suffix(5)
                    == ["patientId", "drug", "takenAt", "meal", "notes"])
            #expect(schemas["MedicationInput"]?["required"] == ["patientId", "drug", "takenAt"])
            #expect(schemas["MedicationInput"]?["examples"] == [MedicationContent.example])
            #expect(
                schemas["BatchLine"]?["properties"]?["collection"]?["enum"]
                    == ["tasks", "shifts", "appointments", "follow-ups", "medications"])
            #expect(schemas["FeedConfig"]?["properties"]?["includeMedications"] != nil)
            #expect(schemas["ConnectionConfig"]?["properties"]?["syncMedications"] != nil)
            #expect(
                schemas["Problem"]?["properties"]?["code"]?["x-extensible-enum"]?.array?.contains("item-not-found")
                    == true)
        }
    }

    @Test("A server that does not know it has no such path and takes no such line")
    func unknown() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            #expect(try await server.call(.get, Self.path + "/iron").expect(404).json["code"] == "path-not-found")
            let feed = try await server.call(
                .post, "/v1/circles/c/feeds", ["userId": "ann", "config": ["includeMedications": true]])
            #expect(feed.status == 422 && feed.pointers == ["/config/includeMedications"])
            let schemas = try await server.raw(.get, "/openapi.json").json["components"]?["schemas"]
            #expect(
                schemas?["Problem"]?["properties"]?["code"]?["x-extensible-enum"]?.array?.contains("item-not-found")
                    == false)
        }
    }

    @Test("An item can be made from values, and the same rules hold as for requests")
    func values() throws {
        let zone = try #require(TimeZoneReference("Europe/Vienna"))
        var task = TaskContent()
        (task.title, task.dueAt, task.patientID) = ("Water the plants", Instant(seconds: 1_772_553_600), "mom")
        let draft = ItemDraft(task, in: zone)
        #expect(draft.faults.isEmpty && draft.content?.isSame(as: task) == true && draft.patientID == "mom")
        task.title = " "
        task.durationMinutes = 0
        task.reminders = [-1]
        #expect(ItemDraft(task, in: zone).faults.map(\.pointer) == ["/title", "/durationMinutes", "/reminders/0"])
    }

    @Test("Pages have words for each of a server's own kinds, and connected calendars are kept in step with it")
    func everywhere() {
        for kind in ItemKinds.all.list {
            #expect(EntryKind(kind) != .imported, "\(kind)")
            #expect(ItemKey.Collection(rawValue: kind.collection.rawValue) != nil, "\(kind)")
        }
    }
}
