// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("The pace of bodies")
struct BodyPaceTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private static func at(_ seconds: Int64) -> NIODeadline { start + .seconds(seconds) }

    /// Returns after how many seconds a body is found too slow, when it is checked every five seconds.
    private static func cut(after limit: Int64, _ bytes: (Int64) -> Int) -> Int64? {
        var pace = BodyPace(ConnectionLimits())
        pace.waits(from: start)
        for second in 1...limit {
            let count = bytes(second)
            if count > 0 { pace.came(count, at: at(second)) }
            if second % 5 == 0, pace.isTooSlow(at: at(second)) { return second }
        }
        return nil
    }

    @Test("Haste earns no time: a client that sends 64 MiB at once and then almost nothing is found within seconds")
    func earned() {
        #expect(Self.cut(after: 3600) { $0 == 1 ? 64 << 20 : 0 } ?? .max <= 20)
        #expect(Self.cut(after: 3600) { $0 == 1 ? 64 << 20 : 1 } ?? .max <= 30)
        #expect(Self.cut(after: 3600) { $0 % 14 == 1 ? 1 : 0 } ?? .max <= 30)
    }

    @Test("A body at the least rate goes on for hours, also in gushes")
    func steady() {
        let rate = ConnectionLimits().bodyRate
        #expect(Self.cut(after: 7200) { _ in rate } == nil)
        #expect(Self.cut(after: 7200) { $0 % 5 == 0 ? 5 * rate : 0 } == nil)
    }

    @Test("The time in which the server does not read does not count as a client's delay")
    func resting() {
        var pace = BodyPace(ConnectionLimits())
        pace.waits(from: Self.start)
        pace.came(10, at: Self.at(1))
        pace.rests(from: Self.at(2))
        let whileResting = pace.isTooSlow(at: Self.at(10_000))
        pace.waits(from: Self.at(10_000))
        let (soon, late) = (pace.isTooSlow(at: Self.at(10_010)), pace.isTooSlow(at: Self.at(10_016)))
        #expect(!whileResting && !soon && late)
    }

    @Test("An upload that sends nearly everything and then nothing is cut, and its place is free again")
    func upload() async throws {
        var settings = ServerSettings()
        settings.limits.tick = .milliseconds(100)
        settings.limits.bodyIdle = .milliseconds(800)
        try await TestServer.run(live: true, settings: settings, keepsLimits: true) { server in
            try await server.makeCircle()
            let port = try #require(server.client.port)
            // At 4,096 bytes a second this many would have earned more than the ten minutes of an exchange.
            let text =
                "POST /v1/circles/c/imports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(server.key)\r\n"
                + "Content-Type: text/calendar\r\nContent-Length: 5000010\r\n\r\n"
                + String(repeating: "x", count: 5_000_000)
            let answer = try await RawConnection(port: port).exchange(text) { _ in false }
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"))
            try await eventually("The place is free.") { server.services.intake.files.slots == 0 }
            #expect(server.services.intake.files.slots == 0 && server.services.intake.files.bytes == 0)
        }
    }
}
