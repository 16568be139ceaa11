// SPDX-License-Identifier: Apache-2.0

import Base
import CalendarSync
import Foundation
import Synchronization
import Testing

@testable import KalendsCore
@testable import Outbound
@testable import ServerTestSupport

@Suite("Where a domain says that its calendars are (RFC 6764)")
struct ServiceLookupTests {
    /// - Parameter seconds: how long to wait for an answer.
    private static func services(
        seconds: Int = 30, _ answer: @escaping @Sendable ([UInt8], String, Int) -> [UInt8]?
    ) async throws -> [CalDAVService] {
        let server = try await NameServer(answer)
        var rules = DestinationRules()
        rules.services = SystemServiceResolver(server: ("127.0.0.1", server.port), seconds: seconds)
        let found = await AccountServices(rules: rules, asker: "ann").services(of: "example.org")
        await server.stop()
        return found
    }

    @Test("SRV and TXT records are asked of a name server, and read in the order of their priorities")
    func found() async throws {
        let asked = Mutex<[String]>([])
        let found = try await Self.services { question, name, type in
            asked.withLock { $0.append("\(name) \(type)") }
            return type == 33
                ? DNSWriter.answer(
                    question,
                    [
                        DNSWriter.service(20, 0, 8443, "second.example.org"),
                        DNSWriter.service(10, 5, 443, "Light.example.org"),
                        DNSWriter.service(10, 50, 443, "heavy.example.org"),
                    ])
                : DNSWriter.answer(question, [DNSWriter.text("v=1", "path=/dav/calendars/")])
        }
        #expect(found.map(\.host) == ["heavy.example.org", "light.example.org", "second.example.org"])
        #expect(found.map(\.port) == [443, 443, 8443])
        #expect(found.allSatisfy { $0.path == "/dav/calendars/" })
        #expect(asked.withLock { $0 } == ["_caldavs._tcp.example.org 33", "_caldavs._tcp.example.org 16"])
    }

    @Test("No record, a refusal, silence, the root as a target, and other messages give no services")
    func none() async throws {
        #expect(try await Self.services { question, _, _ in DNSWriter.answer(question, []) }.isEmpty)
        #expect(try await Self.services { question, _, _ in DNSWriter.answer(question, [], code: 3) }.isEmpty)
        #expect(try await Self.services { question, _, _ in DNSWriter.answer(question, [], code: 2) }.isEmpty)
        #expect(try await Self.services(seconds: 1) { _, _, _ in nil }.isEmpty)
        let root = try await Self.services { question, _, _ in
            DNSWriter.answer(question, [DNSWriter.service(0, 0, 443, ""), DNSWriter.service(0, 0, 0, "a.example.org")])
        }
        #expect(root.isEmpty)
        let odd = try await Self.services(seconds: 1) { question, _, type in
            type == 33 ? DNSWriter.answer(question, [DNSWriter.service(0, 0, 443, "a b.example.org")]) : nil
        }
        #expect(odd.isEmpty)
        // What is no name of the DNS is not asked for.
        let quiet = NamedServices()
        var rules = DestinationRules()
        rules.services = quiet
        for domain in ["10.0.0.7", "localhost", "a..b", "[::1]"] {
            #expect(await AccountServices(rules: rules, asker: "ann").services(of: domain).isEmpty)
        }
        #expect(quiet.questions.isEmpty)
    }

    @Test("Silent name servers of one user's domains let nobody else wait")
    func silent() async throws {
        let server = try await NameServer { question, name, type in
            guard name.hasSuffix(".good.example") else { return nil }
            return DNSWriter.answer(question, type == 33 ? [DNSWriter.service(1, 1, 443, "dav.good.example")] : [])
        }
        var rules = DestinationRules()
        rules.services = SystemServiceResolver(server: ("127.0.0.1", server.port), seconds: 2)
        let stuck = (0..<20).map { [rules] number in
            Task { await AccountServices(rules: rules, asker: "mal").services(of: "silent\(number).example") }
        }
        // All of these have been asked, or wait.
        try await Task.sleep(for: .milliseconds(300))
        let began = ContinuousClock.now
        let found = await AccountServices(rules: rules, asker: "ann").services(of: "good.example")
        #expect(found.map(\.host) == ["dav.good.example"] && .now - began < .seconds(20))
        for task in stuck { task.cancel() }
        for task in stuck { #expect(await task.value.isEmpty) }
        await server.stop()
    }

    @Test("A message that is cut, altered, or leads in circles is read without harm, and within its bounds")
    func hostile() {
        let question: [UInt8] =
            [1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0] + DNSWriter.name("_caldavs._tcp.example.org") + [0, 33, 0, 1]
        let whole = DNSWriter.answer(
            question,
            [
                DNSWriter.service(1, 2, 443, "dav.example.org"), DNSWriter.text("path=/x"),
                DNSWriter.service(3, 4, 443, String(repeating: "abcdefghi.", count: 20) + "org"),
            ])
        #expect(DNSMessage(whole)?.services.count == 2 && DNSMessage(whole)?.texts == ["path=/x"])
        for length in 0..<whole.count {
            let message = DNSMessage(Array(whole[..<length]))
            #expect((message?.services.count ?? 0) <= 1)
        }
        var random = SystemRandomNumberGenerator()
        for _ in 0..<50_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let message = DNSMessage(bytes) else { continue }
            for service in message.services {
                #expect(service.target.utf8.count <= 253 && (1...65_535).contains(service.port))
            }
            _ = message.texts
        }
        // A target that points at itself, and one that points ahead.
        for pointer in [question.count + 12 + 6, question.count + 12 + 8] as [Int] {
            let circle = DNSWriter.answer(
                question, [(33, [0, 0, 0, 0, 1, 0xBB] + DNSWriter.pair(0xC000 | pointer))])
            #expect(DNSMessage(circle)?.services.isEmpty ?? true)
        }
        // One that points back at the question's name.
        let back = DNSWriter.answer(question, [(33, [0, 0, 0, 0, 1, 0xBB, 3] + Array("dav".utf8) + [0xC0, 12])])
        #expect(DNSMessage(back)?.services.first?.target == "dav._caldavs._tcp.example.org")
    }
}
