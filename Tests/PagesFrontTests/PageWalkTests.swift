// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Storage
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Every page and every person")
struct PageWalkTests {
    @Test("A page lets in whom its route names, in their own circle and in a foreign one, and nobody else")
    func walk() async throws {
        try await TestServer.withPasswords { server in
            try await server.call(.put, "/v1/circles/d", ["name": "D", "timeZone": "UTC"]).expect(201)
            try await server.call(.put, "/v1/circles/d/members/zed", ["displayName": "Z", "role": "owner"]).expect(201)
            for user in ["vic", "zed"] {
                try await server.call(.put, "/v1/users/\(user)/password", ["password": .string("\(user)'s password")])
                    .expect(201)
            }
            let known = try await PageIds.all(server)
            let people: [(String, Member.Role?)] = [
                ("ann", .owner), ("ben", .member), ("vic", .viewer), ("zed", nil),
            ]
            let routes = try Routes.table(server.front, isLocal: false).pages
            var asked: Set<String> = []
            for (user, role) in people {
                let browser = try await Browser.signedIn(user, server)
                let token = try #require(HTMLForm.all(in: try await browser.open("/app/account").text).first?.token)
                for route in routes {
                    guard let expected = Self.expected(route, user, role) else { continue }
                    for circle in ["c", "d"] where circle == "c" || route.path.contains("{circle}") {
                        let names = PageIds.names(in: route.path)
                        guard let path = PageIds.path(route.path, known.merging(["circle": circle]) { $1 }) else {
                            continue
                        }
                        // Circle d has only Zed, and none of the named things.
                        let isHome = names == ["circle"] && user == "zed"
                        let status = circle == "c" ? expected : isHome ? 200 : 404
                        let label = "\(user): \(route.method) \(path)"
                        if route.method == .get {
                            let answer = try await browser.open(path, follows: false)
                            let isFitting = answer.status == status || (status == 200 && answer.status == 303)
                            #expect(isFitting, "\(label) → \(answer.status), not \(status)")
                        } else if status != 200, circle == "c" || user != "zed" {
                            // Whoever may is left out here: what a form does has tests of its own.
                            let answer = try await browser.post(path, [("token", token)], follows: false)
                            // A file's token is looked at first.
                            let isUpload = if case .upload = route.body { true } else { false }
                            let isFitting = answer.status == status || isUpload && [400, 403].contains(answer.status)
                            #expect(isFitting, "\(label) → \(answer.status), not \(status)")
                        }
                        asked.insert("\(route.method.rawValue) \(route.path)")
                    }
                }
            }
            // Every page that is not for everybody, or for the operator, was asked for as each of them.
            let all = routes.filter { $0.access.needsCredential && $0.access != .operatorPages }
                .map { "\($0.method.rawValue) \($0.path)" }
            #expect(Set(all).subtracting(asked) == PageIds.withoutIds, "\(Set(all).subtracting(asked).sorted())")
        }
    }

    @Test("The navigation leads to the import only for those who may import")
    func navigation() async throws {
        try await TestServer.withPasswords { server in
            try await server.call(.put, "/v1/users/vic/password", ["password": "vic's password"]).expect(201)
            for (user, isThere) in [("ann", true), ("ben", true), ("vic", false)] {
                let page = try await Browser.signedIn(user, server).open("/app/circles/c", follows: false).expect(200)
                #expect(page.text.contains("/app/circles/c/import") == isThere, "\(user)")
                #expect(page.text.contains("/app/circles/c/subscriptions"), "\(user)")
            }
        }
    }

    /// Returns the expected status in circle c, where whatever is named is Ann's; nil for a page that needs no session.
    private static func expected(_ route: PageRoute, _ user: String, _ role: Member.Role?) -> Int? {
        switch route.access {
        case .circle(let right): role.map { $0.right >= right ? 200 : 403 } ?? 404
        case .feed, .connection: user == "ann" ? 200 : 404
        case .session: user == "ann" || PageIds.names(in: route.path).allSatisfy { $0 == "date" } ? 200 : 404
        default: nil
        }
    }
}

/// The things that exist once, by the names in the paths of pages.
enum PageIds {
    /// A sign-in that an app began has its ticket from the app.
    static let withoutIds: Set<String> = ["GET /app/login/{ticket}", "POST /app/login/{ticket}"]

    static func names(in path: String) -> [String] { path.matches(of: /\{([a-z]+)\}/).map { String($0.1) } }

    /// A route's path to what the ids name; nil if one is missing.
    static func path(_ path: String, _ ids: [String: String]) -> String? {
        let names = names(in: path)
        guard names.allSatisfy({ ids[$0] != nil }), !path.hasSuffix("**") else { return nil }
        return names.reduce(path) { $0.replacing("{\($1)}", with: ids[$1] ?? "") }
    }

    /// One of each kind in circle c, Ann's where it is somebody's.
    static func all(_ server: TestServer) async throws -> [String: String] {
        _ = try await RoutePaths(server)
        let ann = try await Browser.signedIn("ann", server)
        var found = ["circle": "c", "id": "x", "date": "2026-03-02"]
        func first(_ path: String) async throws -> String {
            let answer = try await server.call(.get, path, as: "ann").expect(200)
            return try #require(answer.json["items"]?.array?.first?["id"]?.string, "nothing in \(path)")
        }
        for name in ["feed", "connection", "import", "subscription"] {
            found[name] = try await first("/v1/circles/c/\(name)s")
        }
        for name in ["run", "conflict"] {
            found[name] = try await first("/v1/connections/\(found["connection"] ?? "")/\(name)s")
        }
        found["password"] = try await first("/v1/app-passwords")
        found["number"] = try await server.call(.get, "/v1/circles/c/changes?limit=1").json["latest"]?.integer
            .map(String.init)
        let apps = CalDAVCaller(passwordID: "p", userID: "ann", mayWrite: true, circleIDs: nil, own: true)
        _ = try await server.services.ownCalendars.make("garden", components: [.event], properties: [], for: apps)
        try await server.call(.post, "/sync/devices/register", ["deviceId": "phone"], as: "ann").expect(201)
        _ = try await Browser.signedIn("ann", server)
        let devices = try await ann.open("/app/devices").expect(200).text
        for (name, part) in [("session", "sessions"), ("device", "devices"), ("calendar", "calendars")] {
            let forms = HTMLForm.all(in: devices).map(\.action).filter { $0.hasPrefix("/app/\(part)/") }
            found[name] = try #require(
                forms.first?.split(separator: "/").dropFirst(2).first.map(String.init), "no \(name)")
        }
        return found
    }
}
