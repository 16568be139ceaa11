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
            // One of each kind, Ann's where somebody's.
            _ = try await RoutePaths(server)
            func first(_ list: String) async throws -> String {
                let answer = try await server.call(.get, "/v1/circles/c/\(list)", as: "ann").expect(200)
                return try #require(answer.json["items"]?.array?.first?["id"]?.string)
            }
            let known = ["feed": try await first("feeds"), "connection": try await first("connections"), "id": "x"]
            let people: [(String, Member.Role?)] = [
                ("ann", .owner), ("ben", .member), ("vic", .viewer), ("zed", nil),
            ]
            var asked = 0
            for (user, role) in people {
                let browser = try await Browser.signedIn(user, server)
                for route in try Routes.table(server.front, isLocal: false).pages where route.method == .get {
                    guard let expected = Self.expected(route.access, user, role) else { continue }
                    for circle in ["c", "d"] where circle == "c" || route.path.contains("{circle}") {
                        let names = route.path.matches(of: /\{([a-z]+)\}/).map { String($0.1) }
                        let values = known.merging(["circle": circle]) { $1 }
                        guard names.allSatisfy({ values[$0] != nil }) else { continue }
                        let path = names.reduce(route.path) {
                            $0.replacing("{\($1)}", with: values[$1] ?? "")
                        }
                        let answer = try await browser.open(path, follows: false)
                        // In circle d there is Zed alone, and nothing of what is named.
                        let isHome = names == ["circle"] && user == "zed"
                        let status = circle == "c" ? expected : isHome ? 200 : 404
                        let isFitting = answer.status == status || (status == 200 && answer.status == 303)
                        #expect(isFitting, "\(user): \(path) → \(answer.status), not \(status)")
                        asked += 1
                    }
                }
            }
            #expect(asked >= 60)
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

    /// Returns the expected status in circle c; nil for a page that needs no session.
    private static func expected(_ access: Access, _ user: String, _ role: Member.Role?) -> Int? {
        switch access {
        case .circle(let right): role.map { $0.right >= right ? 200 : 403 } ?? 404
        case .feed, .connection: user == "ann" ? 200 : 404
        case .session: 200
        default: nil
        }
    }
}
