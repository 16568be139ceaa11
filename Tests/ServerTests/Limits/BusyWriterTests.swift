// SPDX-License-Identifier: Apache-2.0

import Glibc
import HTTPTypes
import NIOCore
import Storage
import Synchronization
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("A transaction that holds the writer")
struct BusyWriterTests {
    private final class Flag: Sendable {
        private let state = Atomic(false)

        var isRaised: Bool { state.load(ordering: .acquiring) }
        func raise() { state.store(true, ordering: .releasing) }
    }

    /// Holds the writer until the test releases it, or until a read has waited for it so long that the test has failed.
    private final class Holder: Sendable {
        static let longest = Duration.seconds(120)

        private let isHeld = Flag()
        private let isLetGo = Flag()

        func hold(_ server: TestServer) async throws -> Task<Void, any Error> {
            let task = Task {
                try await server.services.store.record { [self] _ in
                    isHeld.raise()
                    let began = ContinuousClock.now
                    while !isLetGo.isRaised, began.duration(to: .now) < Self.longest { usleep(1_000) }
                }
            }
            while !isHeld.isRaised { try await Task.sleep(for: .milliseconds(1)) }
            return task
        }

        func letGo() { isLetGo.raise() }
    }

    /// Routes of GET whose purpose is to write: they issue a token, hand out a profile once, end an attempt to sign in, or
    /// prepare the changes that a phone asks for; or they write first into the audit trail who takes a person's data.
    private static let writing = [
        "/auth/token", "/v1/connections/callback", "/sync/apple/events/changes", "/sync/events/changes",
        "/profiles/{profile}", "/v1/users/{user}/export",
    ]

    @Test("keeps no read waiting, with a credential that was never used before either")
    func reads() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let paths = try await RoutePaths(server)
            let key = try #require(
                try await server.call(.post, "/v1/keys", ["name": "fresh"]).expect(201).json["key"]?.string)
            let phone = try await Phone(server)
            let holder = Holder()
            let held = try await holder.hold(server)
            let fresh: HTTPFields = [.authorization: "Bearer \(key)"]
            try await server.raw(.get, "/v1/circles/c", headers: fresh).expect(200)
            try await phone.call(.get, "/sync/apple/status").expect(200)
            var asked = 0
            for route in try Routes.table(server.front, isLocal: false).described
            where route.method == .get && !Self.writing.contains(where: { $0 == route.path }) {
                var headers = fresh
                if RoutePaths.needsUser(route.operation.access) { headers[.kalendsUser] = "xia" }
                let began = ContinuousClock.now
                let answer = try await server.raw(.get, paths.path(of: route), headers: headers)
                #expect(answer.status < 500, "\(route.path)")
                #expect(began.duration(to: .now) < .seconds(30), "\(route.path) waited for the writer")
                asked += 1
            }
            #expect(asked > 40)
            holder.letGo()
            try await held.value
            await server.services.uses.close()
            let used = try await server.call(.get, "/v1/keys").expect(200).json["items"]?.array ?? []
            #expect(used.first { $0["name"] == "fresh" }?["lastUsedAt"]?.string != nil)
        }
    }

    @Test("counts among the metrics while it is open, and is given up when the server stops")
    func gauge() async throws {
        try await TestServer.run { server in
            let (store, maintenance) = (server.services.store, server.services.maintenance)
            let began = Flag()
            let stuck = Task {
                try await store.record { transaction in
                    try transaction.set("stuck", to: "yes")
                    began.raise()
                    while true { _ = try transaction.setting("stuck") }
                }
            }
            while !began.isRaised { try await Task.sleep(for: .milliseconds(1)) }
            maintenance.writes.reset()
            maintenance.giveUpWrite(after: .seconds(3_600))
            while maintenance.writes.longest < .milliseconds(20) { try await Task.sleep(for: .milliseconds(5)) }
            #expect(maintenance.writes.open != nil)
            maintenance.giveUpWrite(after: .zero)
            await #expect(throws: (any Error).self) { try await stuck.value }
            #expect(try await store.read { try $0.setting("stuck") } == nil)
            // The next one is not concerned.
            try await store.record { try $0.set("next", to: "yes") }
            #expect(try await store.read { try $0.setting("next") } == "yes")
        }
    }

    @Test("does not write many notes of uses together: others write between them")
    func notes() async throws {
        try await TestServer.run { server in
            let (uses, writes) = (server.services.uses, server.services.maintenance.writes)
            let holder = Holder()
            let busy = try await holder.hold(server)
            // All but the first wait, and are written together.
            for number in 0..<50 {
                uses.add("key \(number)") { transaction in
                    usleep(20_000)
                    try transaction.set("note \(number)", to: "written")
                }
            }
            holder.letGo()
            try await busy.value
            writes.reset()
            await uses.close()
            // All together take a second at least.
            #expect(writes.longest < .milliseconds(900))
            for number in 0..<50 {
                let note = try await server.services.store.read { try $0.setting("note \(number)") }
                #expect(note == "written")
            }
        }
    }
}
