// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import KalendsCore

@Suite("Bodies while they arrive")
struct ArrivingBodyTests {
    @Test(
        "What is short is counted nowhere; what is long gives back its room when it is taken, and its place at the end")
    func counted() throws {
        let intake = Intake(ServerSettings())
        var body = try ArrivingBody(intake, from: .unknown)
        try body.append(Array(repeating: 1, count: MemoryShare.free))
        #expect(intake.bodies.slots == 0)
        try body.append([2])
        #expect(intake.bodies.slots == 1 && intake.bodies.bytes == MemoryShare.free + 1)
        #expect(try body.take() == Array(repeating: 1, count: MemoryShare.free) + [2])
        #expect(body.count == 0 && intake.bodies.bytes == 0 && intake.bodies.slots == 1)
        try body.append([3])
        #expect(try body.take() == [3])
        _ = consume body
        #expect(intake.bodies.bytes == 0 && intake.bodies.slots == 0)
    }

    @Test("Eight of the largest bodies begin and finish, and a ninth is refused before it begins")
    func stated() throws {
        let (intake, length) = (Intake(ServerSettings()), 16 << 20)
        var bodies = try (0..<8).map { _ in try ArrivingBody(intake, from: .unknown, length: length) }
        #expect(throws: Refusal.self) { try ArrivingBody(intake, from: .unknown, length: length) }
        // Those that do not state their length find only what others have left.
        var endless = try ArrivingBody(intake, from: Sender(network: "another"))
        #expect(throws: Refusal.self) {
            while true { try endless.append(Array(repeating: 0, count: 1 << 20)) }
        }
        for index in bodies.indices { try bodies[index].append(Array(repeating: 0, count: length)) }
        #expect(bodies.allSatisfy { $0.count == length })
    }
}
