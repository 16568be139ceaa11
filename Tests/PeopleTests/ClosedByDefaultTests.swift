// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Routes are closed unless they say whom they let in")
struct ClosedByDefaultTests {
    @Test("Each route asks of a key what the documentation says, and no route is missing from it")
    func oracle() async throws {
        try await TestServer.run { server in
            let routes = try Routes.table(server.front, isLocal: false).described
            for route in routes {
                let expected = ScopeOracle.need(route)
                #expect(route.operation.need == expected, "\(route.method) \(route.path)")
            }
            let listed = ScopeOracle.scoped.flatMap(\.routes) + ScopeOracle.wholeKey + ScopeOracle.noKey
            #expect(Set(listed) == Set(routes.map { "\($0.method.rawValue) \($0.path)" }))
            #expect(Set(listed).count == listed.count)
            #expect(Set(ScopeOracle.scoped.map(\.scope)) == Set(Scope.allCases))
        }
    }

    @Test("A route for known callers cannot say that it asks nothing of a key")
    func openKey() async {
        await #expect(processExitsWith: .failure) {
            _ = Operation("openToKeys", "A slip", .circle(.manage), .noKey, [.noContent])
        }
    }

    @Test("A route for everybody cannot name a scope that nobody would look at")
    func uselessScope() async {
        await #expect(processExitsWith: .failure) {
            _ = Operation("scopeOfNobody", "A slip", .anyone, .scope(.audit), [.noContent])
        }
    }

    @Test("A table that knows nobody takes no route that needs a credential")
    func nobody() async {
        await #expect(processExitsWith: .failure) {
            var routes = RouteTable()
            let operation = Operation("unguarded", "A slip", .installation, .wholeKey, [.noContent])
            routes.on(.get, "/v1/unguarded", operation) { _, _ in Response(status: .noContent) }
        }
    }

    @Test("The public port's table takes no route without a description")
    func undescribed() async {
        await #expect(processExitsWith: .failure) {
            try await TestServer.run { server in
                var routes = try Routes.table(server.front, isLocal: false)
                routes.onlyForOperator(.get, "/v1/undescribed") { _, _ in Response(status: .noContent) }
            }
        }
    }
}
