// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Devices")
struct DeviceTests {
    @Test("A device is registered by its user, opens what is for devices, and nothing from its end on")
    func life() async throws {
        try await TestServer.withPasswords { server in
            let token = try await server.session("ann")
            let body: JSONValue = ["deviceId": "phone-1", "name": "Ann's phone", "platform": "iOS"]
            let made = try await server.bearing(token, .post, "/sync/devices/register", body).expect(201)
            let secret = try #require(made.json["deviceToken"]?.string)
            let id = try #require(made.json["device"]?["id"]?.string)
            #expect(secret.hasPrefix("kal_dv_") && made.headers[.location] == "/v1/devices/\(id)")
            #expect(made.json["device"]?["deviceId"] == "phone-1" && made.json["device"]?["userId"] == "ann")
            func asDevice(_ secret: String, _ method: HTTPRequest.Method, _ path: String) async throws -> Answer {
                try await server.raw(method, path, headers: [.authorization: "Device \(secret)"])
            }
            let current = try await asDevice(secret, .get, "/v1/devices/current").expect(200)
            #expect(current.json["id"] == .string(id) && !current.text.contains(secret.dropFirst(7)))
            for (method, path) in [
                (HTTPRequest.Method.get, "/v1/circles"), (.get, "/v1/circles/c"), (.get, "/v1/circles/c/tasks"),
                (.put, "/v1/circles/c/tasks/t"), (.get, "/v1/devices"), (.get, "/v1/devices/\(id)"),
                (.delete, "/v1/devices/\(id)"), (.post, "/sync/devices/register"), (.get, "/v1/sessions"),
                (.get, "/auth/token"), (.put, "/v1/users/ann/password"), (.get, "/v1/keys"), (.get, "/v1/feeds/x"),
                (.post, "/v1/circles/c/imports"), (.post, "/v1/circles/c/batch"), (.get, "/v1/circles/none"),
            ] {
                try await asDevice(secret, method, path).expect(403)
            }
            // The scheme says what it is.
            try await server.bearing(secret, .get, "/v1/devices/current").expect(401)
            for wrong in [token, server.key, secret + "x", ""] {
                try await asDevice(wrong, .get, "/v1/devices/current").expect(401)
            }
            try await server.bearing(token, .get, "/v1/devices/current").expect(403)
            let other: HTTPFields = [.authorization: "Device \(secret)", .kalendsUser: "ben"]
            try await server.raw(.get, "/v1/devices/current", headers: other).expect(403)

            let again = try await server.bearing(
                token, .post, "/sync/devices/register", ["deviceId": "phone-1", "name": "New name"]
            ).expect(200)
            let second = try #require(again.json["deviceToken"]?.string)
            #expect(again.json["device"]?["id"] == .string(id) && again.json["device"]?["name"] == "New name")
            try await asDevice(secret, .get, "/v1/devices/current").expect(401)
            try await asDevice(second, .get, "/v1/devices/current").expect(200)
            let list = try await server.bearing(token, .get, "/v1/devices").expect(200)
            #expect(list.json["items"]?.array?.count == 1 && !list.text.contains(second.dropFirst(7)))
            try await server.bearing(token, .delete, "/v1/devices/\(id)").expect(204)
            try await asDevice(second, .get, "/v1/devices/current").expect(401)
            try await server.bearing(token, .get, "/v1/devices/\(id)").expect(404)
        }
    }

    @Test("Another user's device is not there, also when both call it the same")
    func others() async throws {
        try await TestServer.withPasswords { server in
            func register(_ user: String) async throws -> JSONValue {
                try await server.call(.post, "/sync/devices/register", ["deviceId": "phone"], as: user).expect(201).json
            }
            let (anns, bens) = (try await register("ann"), try await register("ben"))
            #expect(anns["device"]?["id"] != bens["device"]?["id"])
            let id = try #require(anns["device"]?["id"]?.string)
            try await server.call(.get, "/v1/devices/\(id)", as: "ben").expect(404)
            try await server.call(.delete, "/v1/devices/\(id)", as: "ben").expect(404)
            try await server.call(.get, "/v1/devices/\(id)", as: "ann").expect(200)
            try await server.call(.get, "/v1/devices").expect(403)
            try await server.call(.post, "/sync/devices/register", ["deviceId": "phone"]).expect(403)
            let faults = try await server.call(
                .post, "/sync/devices/register", ["deviceId": "a b", "name": 1, "x": 1], as: "ann")
            #expect(try faults.expect(422).pointers == ["/deviceId", "/name", "/x"])
            // Nothing of it is required: who gives no id gets one, and is another device each time.
            var ids: Set<String> = []
            for body in [nil, [:], ["label": "my-iphone"], ["label": "my-iphone", "name": "my-iphone"]] as [JSONValue?]
            {
                let made = try await server.call(.post, "/sync/devices/register", body, as: "ann").expect(201)
                #expect(made.json["device"]?["label"] == (body?["label"] ?? .null))
                #expect(made.json["device"]?["name"] == (body?["label"] ?? .null))
                ids.insert(try #require(made.json["device"]?["deviceId"]?.string))
            }
            #expect(ids.count == 4 && !ids.contains("phone"))
            let two: JSONValue = ["label": "a", "name": "b"]
            #expect(
                try await server.call(.post, "/sync/devices/register", two, as: "ann").expect(422).pointers
                    == ["/name"])
        }
    }

    @Test("Fifty devices are the most, of which one that is known takes no place")
    func limited() async throws {
        try await TestServer.withPasswords { server in
            func register(_ name: String) async throws -> Answer {
                try await server.call(.post, "/sync/devices/register", ["deviceId": .string(name)], as: "ann")
            }
            var last = ""
            for number in 0..<50 {
                last = try await register("d\(number)").expect(201).json["device"]?["id"]?.string ?? ""
            }
            try await register("d50").expect(409)
            try await register("d7").expect(200)
            try await server.call(.delete, "/v1/devices/\(last)", as: "ann").expect(204)
            try await register("d50").expect(201)
        }
    }
}
