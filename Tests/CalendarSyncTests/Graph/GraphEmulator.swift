// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import ICalBridge
import Synchronization
import TestSupport

@testable import CalendarSync

/// The emulator of Graph as a separate program; it ends with its last reference, or with the test program.
final class GraphEmulator: Sendable {
    let root: String
    private let program: ConversingProgram
    private let control = LoopbackHTTP()

    static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Providers").standardizedFileURL

    init() async throws {
        program = try ConversingProgram(
            "/usr/bin/env", ["python3", "-B", Self.script.appending(path: "graph_emulator.py").path],
            environment: Corpora.environment, in: Self.script)
        let line = try await program.firstLine()
        guard line.hasPrefix("ready ") else { throw Failure(text: line) }
        root = String(line.dropFirst(6))
    }

    struct Failure: Error { var text: String }

    /// Sends a request to the emulator's control, or to Graph as the person in Outlook.
    @discardableResult
    func ask(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
        let headers = [
            ("X-Person", "1"), ("Content-Type", "application/json"),
            ("Prefer", "IdType=\"ImmutableId\", outlook.body-content-type=\"text\""),
        ].map { (name: $0.0, value: $0.1) }
        let answer = try await control.send(
            ProviderRequest(method, root + path, headers: headers, body: try body?.serialized()))
        guard answer.status < 300 else {
            throw Failure(text: "\(method) \(path): \(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
        }
        return answer.body.isEmpty ? .null : try JSONValue(parsing: answer.body)
    }

    func settings(_ settings: JSONValue) async throws { try await ask("POST", "/control/settings", settings) }
    func fault(_ fault: JSONValue) async throws { try await ask("POST", "/control/faults", fault) }

    /// Returns the requests since the last call: method, path, status and the steps of a batch.
    func takeLog() async throws -> [JSONValue] {
        let log = try await ask("GET", "/control/log").array ?? []
        try await ask("DELETE", "/control/log")
        return log
    }

    /// Returns all events as they are stored.
    func events() async throws -> [JSONValue] { try await ask("GET", "/control/events").array ?? [] }

    func person(_ method: String, _ id: String, _ body: JSONValue? = nil) async throws {
        try await ask(method, "/v1.0/me/events/\(PercentEncoding.encode(id))", body)
    }
}

/// Tokens whose renewals are counted.
final class TestTokens: AccessTokens {
    private let state = Mutex((current: "eyJ0.static", renewals: 0))
    /// Whether a renewal returns a valid token.
    private let mends: Bool

    init(mends: Bool = true) { self.mends = mends }

    var renewals: Int { state.withLock { $0.renewals } }

    func current() async throws(ProviderFailure) -> String { state.withLock { $0.current } }

    func renewed(after token: String) async throws(ProviderFailure) -> String {
        state.withLock { state in
            if state.current == token {
                state.renewals += 1
                if mends { state.current = "eyJ0.alice.renewed\(state.renewals)" }
            }
            return state.current
        }
    }
}

/// Sends the requests of a batch one by one, and has a person make one edit right after the first PATCH among them.
final class MeddlingBatches: ProviderHTTP {
    private let http: any ProviderHTTP
    private let edit: @Sendable () async throws -> Void
    private let isDone = Mutex(false)

    init(_ http: any ProviderHTTP, edit: @escaping @Sendable () async throws -> Void) {
        (self.http, self.edit) = (http, edit)
    }

    func send(_ request: ProviderRequest) async throws(TransportFailure) -> ProviderAnswer {
        guard let steps = (try? JSONValue(parsing: request.body ?? []))?["requests"]?.array else {
            return try await http.send(request)
        }
        var responses: [JSONValue] = []
        for step in steps {
            do {
                var members = step.object ?? [:]
                members["dependsOn"] = nil
                var single = request
                single.body = try JSONValue.object(["requests": [.object(members)]]).serialized()
                responses += try JSONValue(parsing: try await http.send(single).body)["responses"]?.array ?? []
                let isNow = isDone.withLock { isDone in
                    guard step["method"]?.string == "PATCH", !isDone else { return false }
                    isDone = true
                    return true
                }
                if isNow { try await edit() }
            } catch {
                throw .unanswered("\(error)")
            }
        }
        let body = try? JSONValue.object(["responses": .array(responses)]).serialized()
        return ProviderAnswer(status: 200, body: body ?? [])
    }
}

/// An emulator with a provider in front of it, and a calendar of ours.
struct GraphRoom {
    let emulator: GraphEmulator
    let http = LoopbackHTTP(seconds: 120)
    let tokens = TestTokens()
    let gate = MailboxGate()
    let calendar: String
    let graph: GraphCalendar
    /// The waits after refused requests, in milliseconds.
    let pauses: Pauses

    final class Pauses: Sendable {
        private let list = Mutex<[Int]>([])
        var all: [Int] { list.withLock { $0 } }
        func add(_ milliseconds: Int) { list.withLock { $0.append(milliseconds) } }
    }

    static let window = TimeRange(from: .at("2026-10-23T00:00:00Z"), to: .at("2027-12-27T00:00:00Z"))

    init() async throws {
        emulator = try await GraphEmulator()
        let pauses = Pauses()
        self.pauses = pauses
        graph = Self.graph(emulator, http, tokens, gate, pauses)
        calendar = try await graph.createCalendar(named: "Kalends - Oma", timeZone: "Europe/Berlin").id
        _ = try await emulator.takeLog()
    }

    private static func graph(
        _ emulator: GraphEmulator, _ http: any ProviderHTTP, _ tokens: TestTokens, _ gate: MailboxGate, _ pauses: Pauses
    ) -> GraphCalendar {
        GraphCalendar(
            http: http, tokens: tokens, baseURL: emulator.root + "/v1.0", gate: gate,
            now: { Instant(seconds: Int(Date().timeIntervalSince1970)) }, pause: { pauses.add($0) })
    }

    /// Returns the provider beside a person who makes an edit right after the first PATCH.
    func graph(_ edit: @escaping @Sendable () async throws -> Void) -> GraphCalendar {
        Self.graph(emulator, MeddlingBatches(http, edit: edit), tokens, gate, pauses)
    }

    func mark(_ item: String, generation: Int = 0) -> EventMark {
        EventMark(
            installation: "inst-1", connection: "conn-1", circle: "circle-1", item: ItemKey(.appointments, item),
            generation: generation)
    }

    func write(_ kind: WriteRequest.Kind, _ item: String = "a", generation: Int = 0) async -> WriteAnswer {
        let request = WriteRequest(key: "key-\(item)", mark: mark(item, generation: generation), kind: kind)
        return await graph.write([request], in: calendar).first ?? .mismatch
    }

    /// Creates an event, and returns it as it is stored there.
    func created(_ entry: Entry, _ item: String = "a") async throws -> RemoteEvent {
        try await written(.create(entry), item)
    }

    func written(_ kind: WriteRequest.Kind, _ item: String = "a") async throws -> RemoteEvent {
        let answer = await write(kind, item)
        guard case .written(let event) = answer else { throw GraphEmulator.Failure(text: "\(answer)") }
        return event
    }

    func looked(_ id: String) async throws -> RemoteEvent? {
        guard case .present(let event)? = try await graph.look(at: [id], in: calendar).first?.look else { return nil }
        return event
    }
}

extension Instant {
    static func at(_ text: String) -> Instant { Instant(rfc3339: text) ?? Instant(seconds: 0) }
}

extension RemoteEvent {
    /// The whole entry; nil when only a part is known.
    var whole: Entry? { if case .entry(let entry) = content { entry } else { nil } }
}

extension Entry {
    static func single(
        _ title: String = "Physio", start: String = "2026-12-03T08:00:00Z", minutes: Int = 60, notes: String = "",
        location: String = "", reminders: [Int] = [], status: Status = .confirmed, availability: Availability = .busy
    ) -> Entry {
        let begin = Instant.at(start)
        return Entry(
            title: title, notes: notes, location: location,
            span: .timed(start: begin, end: begin.adding(seconds: minutes * 60), zone: "Europe/Berlin"),
            reminders: reminders, status: status, availability: availability)
    }

    /// Thursdays at nine in Berlin.
    static func series(
        _ title: String = "Physio", rule: String = "FREQ=WEEKLY;COUNT=10;BYDAY=TH", exdates: [String] = []
    ) -> Entry {
        var entry = single(title)
        entry.repetition = Repetition(rrule: rule, exdates: exdates.map(Instant.at))
        return entry
    }

    func changing(_ original: String, _ change: (inout Entry) -> Void) -> Entry {
        var entry = self
        var changed = entry.shown(at: .at(original))
        change(&changed)
        entry.occurrences[.at(original)] = .changed(changed)
        return entry
    }
}
