// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import PhoneTexts
import Storage
import Testing

@testable import ServerTestSupport

@Suite("The connectors' pages: what the phone reports")
struct ConnectorPhoneTests {
    private static let apple = "/app/connectors/apple"
    private static let upsert = "/sync/apple/events/upsert"

    private static func run(
        _ body: @escaping @Sendable (TestServer, Browser, Phone) async throws -> Void
    ) async throws {
        try await TestServer.withPasswords { server in
            let ann = try await Browser.signedIn("ann", server)
            _ = try await ann.send(try await ann.open(apple), to: apple + "/connect").expect(200)
            let phone = try await Phone(server)
            _ = try await phone.changes()
            try await body(server, ann, phone)
        }
    }

    private static func say(_ problem: JSONValue, _ phone: Phone) async throws {
        try await phone.call(.post, upsert, ["events": [], "problem": problem]).expect(200)
    }

    private static func texts(_ ann: Browser) async throws -> [String] {
        [try await ann.open("/app/connectors").expect(200).text, try await ann.open(apple).expect(200).text]
    }

    @Test(
        "What keeps a phone from its calendars is on the page until the phone reports otherwise, also without office days",
        arguments: [
            ("permissionRevoked", "Needs permission"), ("calendarGone", "Calendar not found"),
            ("calendarReadOnly", "Calendar is read-only"), ("switchedOff", "Switched off on the phone"),
            ("disconnected", "Disconnected by the phone"),
        ])
    func troubles(_ problem: String, _ badge: String) async throws {
        try await Self.run { server, ann, phone in
            for text in try await Self.texts(ann) { #expect(text.contains(">Connected<")) }
            try await Self.say(.string(problem), phone)
            for text in try await Self.texts(ann) {
                #expect(text.contains(badge) && !text.contains(">Connected<"))
            }
            let device = try await phone.call(.get, "/v1/devices/current").expect(200).json
            #expect(device["problem"] == .string(problem))
            let since = device["problemAt"]
            #expect(since?.string != nil)
            // The same report again is not a new one.
            server.clock.advance(seconds: 60)
            try await Self.say(.string(problem), phone)
            #expect(try await phone.call(.get, "/v1/devices/current").expect(200).json["problemAt"] == since)
            // What another phone reports of itself changes nothing for the one that carries.
            try await Self.say(.null, try await Phone(server, named: "phone-2"))
            #expect(try await Self.texts(ann).allSatisfy { $0.contains(badge) })
            try await Self.say(.null, phone)
            for text in try await Self.texts(ann) { #expect(text.contains(">Connected<")) }
            #expect(try await phone.call(.get, "/v1/devices/current").expect(200).json["problem"] == .null)
        }
    }

    @Test("A phone that asks again is not disconnected, and one that sends its plans may read")
    func signs() async throws {
        try await Self.run { server, ann, phone in
            try await Self.say("disconnected", phone)
            #expect(try await Self.texts(ann)[1].contains("You disconnected Apple Calendar on your phone"))
            _ = try await phone.changes()
            #expect(try await Self.texts(ann)[1].contains(">Connected<"))
            try await Self.say("permissionRevoked", phone)
            _ = try await phone.changes()
            #expect(try await Self.texts(ann)[1].contains("Needs permission"))
            let plans: JSONValue = [
                "range_start": "2026-03-01T00:00:00Z", "range_end": "2026-03-31T00:00:00Z", "events": [],
            ]
            try await phone.call(.post, "/api/apple_sync/planned_upsert", plans).expect(200)
            #expect(try await Self.texts(ann)[1].contains(">Connected<"))
        }
    }

    @Test("A phone that was not heard of for a day is last seen then, and not connected")
    func quiet() async throws {
        try await Self.run { server, ann, phone in
            server.clock.advance(seconds: 23 * 3600)
            #expect(try await Self.texts(ann).allSatisfy { $0.contains(">Connected<") })
            server.clock.advance(seconds: 2 * 3600)
            for text in try await Self.texts(ann) {
                #expect(text.contains("Last seen ") && !text.contains(">Connected<"))
            }
            _ = try await phone.changes()
            #expect(try await Self.texts(ann).allSatisfy { $0.contains(">Connected<") })
        }
    }

    @Test(
        "An end on the server's page is a definite answer for the phone; a circle's end leaves its own calendars",
        arguments: [true, false])
    func ended(_ isByPage: Bool) async throws {
        try await Self.run { server, ann, phone in
            func state() async throws -> JSONValue? {
                try await phone.call(.get, "/sync/apple/status").expect(200).json["connector"]?["state"]
            }
            func page() async throws -> JSONValue {
                try await phone.call(.get, "/sync/events/changes?since=0").expect(200).json
            }
            #expect(try await state() == "connected")
            #expect(try await page()["connector"] == nil)
            if isByPage {
                _ = try await ann.send(
                    try await ann.open(Self.apple + "?ask=disconnect"), to: Self.apple + "/disconnect")
            } else {
                let all = try await server.call(.get, "/v1/circles/c/connections", as: "ann").expect(200).json
                let id = try #require(all["items"]?.array?.first?["id"]?.string)
                try await server.call(.delete, "/v1/connections/\(id)", as: "ann").expect(204)
            }
            #expect(try await state() == (isByPage ? "disconnected" : "notConnected"))
            #expect(try await page()["connector"] == (isByPage ? "disconnected" : nil))
            _ = try await ann.send(try await ann.open(Self.apple), to: Self.apple + "/connect").expect(200)
            #expect(try await state() == "connected")
            #expect(try await page()["connector"] == nil)
        }
    }

    @Test("Somebody who never connected is not told that a connection has ended")
    func never() async throws {
        try await TestServer.withPasswords { server in
            let phone = try await Phone(server)
            let status = try await phone.call(.get, "/sync/apple/status").expect(200).json
            #expect(status["connector"]?["state"] == "notConnected")
            let page = try await phone.call(.get, "/sync/events/changes?since=0").expect(200).json
            #expect(page["connector"] == nil)
        }
    }
}
