// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import PhoneTexts
import Storage
import Testing

@testable import ServerTestSupport

@Suite("The connectors' pages")
struct ConnectorPageTests {
    private static let list = "/app/connectors"
    private static let apple = "/app/connectors/apple"
    private static let texts = ConnectorTexts(app: "Kalends")

    private static func event(_ id: String) -> JSONValue {
        ["externalId": .string(id), "title": .string(id), "date": "2026-03-10", "startTime": "09:00"]
    }

    private static func plan(_ server: TestServer) async throws -> Answer {
        try await server.call(
            .post, "/api/apple_sync/planned_upsert",
            [
                "range_start": "2026-03-01T00:00:00Z", "range_end": "2026-03-31T00:00:00Z",
                "events": [
                    [
                        "external_id": "x", "title": "Dentist", "start_at": "2026-03-10T09:00:00Z",
                        "end_at": "2026-03-10T10:00:00Z", "is_all_day": false, "source_calendar_name": "Home",
                    ]
                ],
            ], as: "ann")
    }

    private static func connections(_ server: TestServer) async throws -> [JSONValue] {
        try await server.call(.get, "/v1/circles/c/connections", as: "ann").expect(200).json["items"]?.array ?? []
    }

    private static func planned(_ server: TestServer) async throws -> Int {
        let path = "/v1/users/ann/planned?from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z"
        return try await server.call(.get, path, as: "ann").expect(200).json["items"]?.array?.count ?? -1
    }

    @Test("Apple Calendar is connected and disconnected by its page, which says what the phone says")
    func life() async throws {
        try await TestServer.withPasswords { server in
            let ann = try await Browser.signedIn("ann", server)
            var page = try await ann.open(Self.list).expect(200)
            for text in [Self.texts.menu, Self.texts.name, Self.texts.status(isConnected: false)] {
                #expect(page.text.contains(text))
            }
            #expect(page.text.contains(Self.texts.subtitle(isConnected: false)))
            page = try await ann.open(Self.apple).expect(200)
            #expect(page.text.contains(Self.texts.explanation))
            for capability in Self.texts.capabilities { #expect(page.text.contains(capability.text)) }
            // To look at it connects nothing.
            #expect(try await Self.connections(server).isEmpty)

            page = try await ann.send(page, to: Self.apple + "/connect").expect(200)
            #expect(ann.history.last == Self.apple + "?done=appleConnected")
            #expect(try await Self.connections(server).map { $0["provider"] } == ["apple"])
            for text in [
                Self.texts.account, Self.texts.readToggle, Self.texts.writeToggle, Self.texts.managePermissions,
                Self.texts.disconnect,
            ] {
                #expect(page.text.contains(text.replacing("'", with: "&#39;")), "\(text)")
            }
            // A second tab that connects makes no second connection.
            try await ann.post(
                Self.apple + "/connect", [("token", try #require(HTMLForm.all(in: page.text).first?.token))]
            ).expect(200)
            #expect(try await Self.connections(server).count == 1)
            page = try await ann.open(Self.list).expect(200)
            #expect(page.text.contains(Self.texts.subtitle(isConnected: true)))

            page = try await ann.open(Self.apple + "?ask=disconnect").expect(200)
            page = try await ann.send(page, to: Self.apple + "/disconnect").expect(200)
            #expect(page.text.contains(Self.texts.disconnected))
            #expect(page.text.contains(Self.texts.status(isConnected: false)))
            #expect(try await Self.connections(server).isEmpty)
        }
    }

    @Test("What may not be read is refused to the phone and forgotten here; what may not be written waits")
    func uses() async throws {
        try await TestServer.withPasswords { server in
            let phone = try await Phone(server)
            let ann = try await Browser.signedIn("ann", server)
            var page = try await ann.send(
                try await ann.open(Self.apple), to: Self.apple + "/connect"
            ).expect(200)
            try await Self.plan(server).expect(200)
            #expect(try await Self.planned(server) == 1)
            #expect(try await phone.upsert(Self.event("a"))["created"] == 1)

            page = try await ann.send(page, to: Self.apple, ["read": nil, "write": nil]).expect(200)
            #expect(page.text.contains("name=\"read\"") && !page.text.contains("checked"))
            #expect(try await Self.connections(server).first?["state"] == "paused")
            #expect(try await Self.planned(server) == 0)
            let refused = try await Self.plan(server).expect(409)
            #expect(refused.json["code"] == "connector-off")
            let rejected = try await phone.upsert(Self.event("b"), Self.event("a"))
            #expect(rejected["rejected"]?.array?.count == 2 && rejected["created"] == 0)

            page = try await ann.send(page, to: Self.apple, ["read": "true", "write": "true"]).expect(200)
            #expect(try await Self.connections(server).first?["state"] == "active")
            try await Self.plan(server).expect(200)
            #expect(try await phone.upsert(Self.event("b"))["created"] == 1)

            // After the end nothing is read until somebody connects again, here or by the API.
            _ = try await ann.send(
                try await ann.open(Self.apple + "?ask=disconnect"), to: Self.apple + "/disconnect")
            #expect(try await Self.planned(server) == 0)
            try await Self.plan(server).expect(409)
            try await server.call(.post, "/v1/circles/c/connections", ["provider": "apple"], as: "ann").expect(201)
            try await Self.plan(server).expect(200)
        }
    }

    @Test("Nobody's connector is anybody else's")
    func others() async throws {
        try await TestServer.withPasswords { server in
            let ann = try await Browser.signedIn("ann", server)
            _ = try await ann.send(try await ann.open(Self.apple), to: Self.apple + "/connect").expect(200)
            let ben = try await Browser.signedIn("ben", server)
            let page = try await ben.open(Self.apple).expect(200)
            #expect(page.text.contains(Self.texts.explanation))
            let token = try #require(HTMLForm.all(in: page.text).first?.token)
            try await ben.post(Self.apple + "/disconnect", [("token", token)]).expect(200)
            #expect(try await Self.connections(server).count == 1)
        }
    }
}
