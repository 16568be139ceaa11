// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("What a key that is bound to circles reads")
struct BoundKeyCanaryTests {
    /// Stands in every text beyond the key's circle, in hosts in small letters.
    private static let word = "verborgen"

    @Test(
        "No answer to any route has a word of another circle, or of what is the user's alone", arguments: [nil, "ann"])
    func words(user: String?) async throws {
        try await TestServer.run { server in
            for (id, owner) in [("c", "ann"), ("d", "dora")] {
                let circle: JSONValue = ["name": .string(id == "c" ? "C" : Self.word), "timeZone": "UTC"]
                try await server.call(.put, "/v1/circles/\(id)", circle).expect(201)
                let member: JSONValue = ["displayName": .string(id == "c" ? "Ann" : Self.word), "role": "owner"]
                try await server.call(.put, "/v1/circles/\(id)/members/\(owner)", member).expect(201)
                let patient: JSONValue = ["displayName": .string(id == "c" ? "Dad" : Self.word)]
                try await server.call(.put, "/v1/circles/\(id)/patients/dad", patient).expect(201)
            }
            let (own, foreign) = (
                try await RoutePaths(server), try await RoutePaths(server, circle: "d", owner: "dora")
            )
            try await Self.fill(server)
            let made = try await server.call(.post, "/v1/keys", ["name": "bound", "circles": ["c"]]).expect(201)
            let key = try #require(made.json["key"]?.string)
            let routes = try Routes.table(server.front, isLocal: false).described.filter {
                $0.operation.access.needsCredential
            }
            var shown: Set<String> = []
            for route in routes where route.method == .get {
                for person in [nil, "ann", "dora"] {
                    let answer = try await Self.ask(server, route, foreign, server.key, person)
                    if Self.has(answer) { shown.insert(route.operation.id) }
                    // What is a user's own is asked for by the user's name, too.
                    guard let person, route.path.hasPrefix("/v1/users/{user}") else { continue }
                    let path = foreign.path(of: route).replacing("/users/xia", with: "/users/\(person)")
                    if Self.has(try await server.call(.get, path, as: person)) { shown.insert(route.operation.id) }
                }
            }
            // The word is there to be found.
            #expect(shown.count >= 25, "\(shown.sorted())")
            // Routes that only read come first, since the others change the data.
            for route in routes.filter({ $0.method == .get }) + routes.filter({ $0.method != .get }) {
                for paths in [own, foreign] {
                    let answer = try await Self.ask(server, route, paths, key, user)
                    #expect(!Self.has(answer), "\(route.method) \(route.path): \(answer.text.prefix(400))")
                }
            }
        }
    }

    private static func has(_ answer: Answer) -> Bool {
        answer.text.lowercased().contains(word)
            || answer.headers.contains { $0.value.lowercased().contains(word) }
    }

    private static func ask(
        _ server: TestServer, _ route: RouteTable.Route, _ paths: RoutePaths, _ key: String, _ user: String?
    ) async throws -> Answer {
        var headers: HTTPFields = [.authorization: "Bearer \(key)"]
        headers[.kalendsUser] = user
        let body = try RoutePaths.body(of: route)
        if let body { headers[.contentType] = body.type }
        return try await server.raw(route.method, paths.path(of: route), headers: headers, body: body?.bytes)
    }

    /// Puts the word into each text of an example.
    private static func planted(_ name: String) throws -> JSONValue {
        let texts: Set<ByteString> = ["title", "notes", "location", "provider", "description", "displayName", "label"]
        let example = try #require(Components.all(.all)[name]?.example?.object)
        return .object(
            Dictionary(
                uniqueKeysWithValues: example.map { name, value in
                    (name, texts.contains(name) && value.string != nil ? .string(word) : value)
                }))
    }

    private static func fill(_ server: TestServer) async throws {
        let (path, text) = ("/v1/circles/d", JSONValue.string(word))
        try await server.call(.put, "\(path)/members/ann", ["displayName": text, "role": "member"]).expect(201)
        for (kind, name) in [
            ("tasks", "Task"), ("shifts", "Shift"), ("appointments", "Appointment"), ("follow-ups", "FollowUp"),
        ] {
            try await server.call(.put, "\(path)/\(kind)/x", try planted("\(name)Input")).expect(200)
            try await server.call(.put, "\(path)/\(kind)/\(word)", try planted("\(name)Input")).expect(201)
        }
        try await server.call(
            .put, "\(path)/appointments/x/occurrences/20260122T180000Z", ["provider": text, "notes": text]
        ).expect(200)
        for (circle, user) in [("c", "ann"), ("d", "ann"), ("d", "dora")] {
            try await server.call(
                .post, "/v1/circles/\(circle)/feeds",
                ["userId": .string(user), "label": text, "config": ["includePersonal": .bool(circle == "c")]]
            ).expect(201)
        }
        let file =
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:\(word)\r\nDTSTART:20260303T100000Z\r\n"
            + "SUMMARY:\(word)\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
        for mode in ["preview", "commit"] {
            try await server.raw(
                .post, "\(path)/imports?mode=\(mode)",
                headers: [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"],
                body: ByteBuffer(string: file)
            ).expect(201)
        }
        let url = JSONValue.string("https://\(word).example/")
        try await server.call(.post, "\(path)/subscriptions", ["url": url, "label": text]).expect(201)
        for user in ["ann", "dora"] {
            try await server.call(
                .post, "\(path)/connections", ["provider": "caldav", "label": text], as: user
            ).expect(201)
            try await server.call(
                .put, "/v1/users/\(user)/events/\(word)", try planted("PersonalEventInput"), as: user
            ).expect(201)
            try await server.call(
                .patch, "/v1/users/\(user)/office-days/settings", ["officeTitle": text], as: user
            ).expect(200)
            try await server.call(.post, "/v1/app-passwords", ["label": text], as: user).expect(201)
            try await server.call(
                .post, "/sync/devices/register", ["deviceId": "p", "label": text], as: user
            ).expect(201)
        }
        try await server.call(.post, "/v1/webhooks", ["url": url]).expect(201)
        try await server.call(.post, "/v1/keys", ["name": text]).expect(201)
    }
}
