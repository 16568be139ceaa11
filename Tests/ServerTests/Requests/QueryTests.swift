// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Testing

@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Parameters of queries")
struct QueryTests {
    @Test("Every route refuses a parameter that it does not know, and names those that it knows")
    func unknown() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let paths = try await RoutePaths(server)
            for route in try Routes.table(server.front, isLocal: false).described
            where route.operation.access != .feedToken && !route.operation.takesAnyQuery {
                let isPerson = [.user, .oneself, .phone, .companion].contains(route.operation.access)
                let user: String? = isPerson ? "xia" : nil
                if [.session, .device].contains(route.operation.access) { continue }
                let path = "\(paths.path(of: route))?limti=5"
                let answer =
                    route.operation.access == .anyone
                    ? try await server.raw(route.method, path)
                    : try await server.call(route.method, path, as: user)
                try answer.expect(400)
                #expect(answer.json["code"] == "unknown-parameter", "\(route.path)")
                #expect(answer.pointers == ["/query/limti"])
                for known in route.operation.query where known.location == .query {
                    #expect(answer.json["detail"]?.string?.contains(known.name) == true, "\(route.path)")
                }
            }
        }
    }

    @Test("A parameter that is given twice, or spelt in other ways, does not count")
    func odd() async throws {
        try await TestServer.run { server in
            for query in ["limit=1&limit=2", "%6Cimit=1", "Limit=1", "limit=1&x", "=1"] {
                try await server.call(.get, "/v1/circles?\(query)").expect(400)
            }
            for query in ["", "limit=1", "limit=1&"] {
                try await server.call(.get, "/v1/circles?\(query)").expect(200)
            }
        }
    }

    @Test("What calendar apps add to a feed's address does not matter")
    func feeds() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            try await server.raw(.get, "\(feed.path)?nocache=123").expect(200)
        }
    }
}
