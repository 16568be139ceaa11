// SPDX-License-Identifier: Apache-2.0

import Base
import CalendarSync
import Foundation
import Glibc
import ICalBridge
import TestSupport
import Testing

/// The emulator of Google, started for one test and ended with it.
final class GoogleEmulator: Sendable {
    struct Failure: Error {
        var message: String
    }

    let address: String
    private let program: SpawnedProgram
    private let folder: URL

    init() async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "kalends-google-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let ready = folder.appending(path: "ready").path
        let log = folder.appending(path: "log").path
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        // It sees by itself that this process is gone.
        program = try SpawnedProgram(
            "/usr/bin/env", ["python3", "-B", Self.program("google_emulator.py"), "--ready", ready],
            environment: Corpora.environment, in: nil, input: "/dev/null", output: log, error: log)
        for _ in 0..<24_000 {
            if let text = try? String(contentsOfFile: ready, encoding: .utf8) {
                address = String(text.dropLast())
                return
            }
            try await Task.sleep(for: .milliseconds(25))
        }
        throw Failure(message: "No emulator: " + ((try? String(contentsOfFile: log, encoding: .utf8)) ?? ""))
    }

    deinit {
        if program.isRunning { kill(program.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: folder)
    }

    static func program(_ name: String) -> String {
        URL(filePath: #filePath).appending(path: "../../../Providers/\(name)").standardized.path
    }
}

/// A token that never changes.
struct FixedToken: AccessTokens {
    var token: String
    func current() async throws(ProviderFailure) -> String { token }
    func renewed(after token: String) async throws(ProviderFailure) -> String {
        throw ProviderFailure(.unauthorized, "There is no other token.")
    }
}

/// A connection's provider at the emulator, with its own calendar, and the person who edits there.
struct GoogleBench {
    static let window = TimeRange(from: Instant(seconds: 0), to: Instant(seconds: 4_000_000_000))
    /// Thursday 2026-12-03, 09:00 in Berlin.
    static let morning = Instant(seconds: 1_796_284_800)

    let emulator: GoogleEmulator
    let http = LoopbackHTTP()
    let provider: GoogleCalendar
    var calendar = ""
    private let tokens: FixedToken
    private let person = LoopbackHTTP()
    private var personToken = ""

    init(scopes: [String] = GoogleScope.all) async throws {
        let emulator = try await GoogleEmulator()
        self.emulator = emulator
        let body: JSONValue = ["scopes": .array(scopes.map(JSONValue.string))]
        let token = try await Self.post(emulator.address + "/control/person", body, person)["token"]?.string ?? ""
        personToken = try await Self.post(emulator.address + "/control/person", [:], person)["token"]?.string ?? ""
        tokens = FixedToken(token: token)
        provider = Self.provider(emulator, http, tokens)
        let calendar = try await provider.createCalendar(named: "Care", timeZone: "Europe/Berlin")
        self.calendar = calendar.id
        http.takeSent()
    }

    static func provider(
        _ emulator: GoogleEmulator, _ http: any ProviderHTTP, _ tokens: any AccessTokens
    ) -> GoogleCalendar {
        GoogleCalendar(
            http: http, tokens: tokens, baseURL: emulator.address,
            now: { Instant(seconds: Int(Date().timeIntervalSince1970)) }, pause: { _ in }, random: { _ in 0 })
    }

    /// Returns the provider beside a person who makes an edit right after the answer to the first request of a method.
    func provider(
        after method: String, _ edit: @escaping @Sendable () async throws -> Void
    ) -> GoogleCalendar {
        Self.provider(emulator, MeddlingHTTP(http, after: method, edit: edit), tokens)
    }

    @discardableResult
    private static func post(_ url: String, _ body: JSONValue, _ http: LoopbackHTTP) async throws -> JSONValue {
        let answer = try await http.send(ProviderRequest("POST", url, body: try body.serialized()))
        guard answer.status == 200 else {
            throw GoogleEmulator.Failure(message: String(decoding: answer.body, as: UTF8.self))
        }
        return try JSONValue(parsing: answer.body)
    }

    @discardableResult
    func control(_ name: String, _ body: JSONValue) async throws -> JSONValue {
        try await Self.post(emulator.address + "/control/" + name, body, person)
    }

    func read(_ name: String) async throws -> JSONValue {
        let answer = try await person.send(ProviderRequest("GET", emulator.address + "/control/" + name))
        return try JSONValue(parsing: answer.body)
    }

    /// Sets a knob of this bench's calendar.
    func knob(_ values: [ByteString: JSONValue]) async throws {
        try await control("calendar", .object(values.merging(["id": .string(calendar)]) { $1 }))
    }

    /// Makes an edit of the person at Google, below the calendar's events.
    @discardableResult
    func edit(_ method: String, _ path: String = "", _ body: JSONValue? = nil) async throws -> JSONValue {
        let name = calendar.replacing("@", with: "%40")
        let url = "\(emulator.address)/calendar/v3/calendars/\(name)/events\(path)"
        var headers = [(name: "Authorization", value: "Bearer " + personToken)]
        if body != nil { headers.append(("Content-Type", "application/json")) }
        let answer = try await person.send(
            ProviderRequest(method, url, headers: headers, body: try body?.serialized()))
        guard (200...299).contains(answer.status) else {
            throw GoogleEmulator.Failure(message: String(decoding: answer.body, as: UTF8.self))
        }
        return answer.body.isEmpty ? .null : try JSONValue(parsing: answer.body)
    }

    /// Returns the calendar's live events as the emulator stores them, without changed occurrences.
    func stored() async throws -> [JSONValue] {
        let accounts = try await read("state")["accounts"]?.object ?? [:]
        let calendars = accounts.values.flatMap { $0.array ?? [] }
        let events = calendars.first { $0["id"]?.string == calendar }?["events"]?.array ?? []
        return events.filter { $0["status"] != "cancelled" && $0["recurringEventId"] == nil }
    }

    // MARK: Entries

    static func mark(_ item: String, generation: Int = 0) -> EventMark {
        EventMark(
            installation: "inst", connection: "conn", circle: "circle", item: ItemKey(.appointments, item),
            generation: generation)
    }

    static func single(_ title: String, hours: Int = 0) -> Entry {
        let start = morning.adding(seconds: hours * 3600)
        return Entry(
            title: title, notes: "Bring the card.\nSecond line.", location: "Main Street 1",
            span: .timed(start: start, end: start.adding(seconds: 3600), zone: "Europe/Berlin"), reminders: [15, 60])
    }

    /// Ten days, of which the third is left out, and the fifth is an hour later.
    static func series(_ title: String) -> Entry {
        var entry = single(title)
        entry.repetition = Repetition(rrule: "FREQ=DAILY;COUNT=10", exdates: [day(2)])
        entry.occurrences = [day(4): .changed(later(title, day: 4))]
        return entry
    }

    static func day(_ number: Int) -> Instant { morning.adding(seconds: number * 86_400) }

    static func later(_ title: String, day number: Int) -> Entry {
        let entry = single(title)
        let start = day(number).adding(seconds: 3600)
        return Entry(
            title: entry.title, notes: entry.notes, location: entry.location,
            span: .timed(start: start, end: start.adding(seconds: 3600), zone: "Europe/Berlin"))
    }

    static func instanceID(_ series: String, _ original: Instant) -> String { "/\(series)_\(original.basic)" }

    func create(_ items: [(String, Entry)]) async -> [WriteAnswer] {
        await provider.write(
            items.map { WriteRequest(key: "create-" + $0, mark: Self.mark($0), kind: .create($1)) }, in: calendar)
    }

    func createOne(_ item: String, _ entry: Entry) async throws -> RemoteEvent {
        guard case .written(let event)? = await create([(item, entry)]).first else {
            throw GoogleEmulator.Failure(message: "\(item) was not written.")
        }
        return event
    }

    func update(_ item: String, _ event: RemoteEvent, from: Entry? = nil, to: Entry) async throws -> WriteAnswer {
        let before = try from ?? #require(event.entry)
        let kind = WriteRequest.Kind.update(id: event.id, etag: event.etag, from: before, to: to)
        return await provider.write(
            [WriteRequest(key: "update-" + item, mark: Self.mark(item), kind: kind)], in: calendar)[0]
    }

    func delete(_ item: String, _ event: RemoteEvent) async -> WriteAnswer {
        let kind = WriteRequest.Kind.delete(id: event.id, etag: event.etag)
        return await provider.write(
            [WriteRequest(key: "delete-" + item, mark: Self.mark(item), kind: kind)], in: calendar)[0]
    }

    func changes(since cursor: String?) async throws -> ChangeSet {
        try await provider.changes(in: calendar, since: cursor, window: Self.window)
    }

    func failure<Value>(_ body: () async throws -> Value) async -> ProviderFailure.Kind? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? ProviderFailure)?.kind
        }
    }
}

extension WriteAnswer {
    var written: RemoteEvent? { if case .written(let event) = self { event } else { nil } }
    var failedKind: ProviderFailure.Kind? { if case .failed(let failure) = self { failure.kind } else { nil } }
}
