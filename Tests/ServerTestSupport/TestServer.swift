// SPDX-License-Identifier: Apache-2.0

import CalDAVServer
import FeedTokens
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import ICalBridge
import Logging
import NIOCore
import Server
import Storage
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront

/// A clock that moves only when a test moves it.
final class TestClock: Sendable {
    private let time: Mutex<Int>

    /// 2026-03-02T12:00:00Z, a Monday, unless told otherwise.
    init(_ milliseconds: Int = 1_772_452_800_000) { time = Mutex(milliseconds) }

    var now: Int { time.withLock { $0 } }
    func advance(seconds: Int) { time.withLock { $0 += seconds * 1000 } }
    func advance(milliseconds: Int) { time.withLock { $0 += milliseconds } }

    /// Returns a time some days from now on the clock of Los Angeles in winter, as RFC 3339 writes it.
    func winterTime(day: Int, hour: Int) -> String {
        let date = CivilDate(daysSinceEpoch: now / 86_400_000 + day)
        return "\(date)T\(hour < 10 ? "0" : "")\(hour):00:00-08:00"
    }
}

/// A whole server with its own folder, called through its router.
struct TestServer: Sendable {
    let front: FrontServices
    var services: Services { front.services }
    let clock: TestClock
    let client: any TestClientProtocol
    /// A client for a server that listens on a port, which waits as long as it takes: the framework's own client gives
    /// up after 20 seconds, too soon for a server that runs beside hundreds of other tests.
    let patient: TestClient?
    let folder: URL
    /// A service key's text.
    let key: String
    let log: LogRecorder

    static func run(
        clock: TestClock = TestClock(), live: Bool = false, settings given: ServerSettings = ServerSettings(),
        worker: String = Programs.kalends, folds: Bool = true, keepsLimits: Bool = false,
        publicURL: String = "http://calendar.example", calendars: (any CalendarProviding)? = nil,
        open: @escaping StoreOpening = Engine.open,
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kalends-\(UUID().uuidString.prefix(8))")
        defer { try? FileManager.default.removeItem(at: folder) }
        var settings = given
        // A database that was named is the caller's, to be opened again.
        if settings.database == ServerSettings().database {
            settings.database = folder.appending(path: "k.sqlite").path
        }
        settings.publicURL = publicURL
        // Hashes as strong as people's take seconds each in unoptimized code.
        settings.passwordCost = min(settings.passwordCost, 4)
        // Room for thirty thousand accesses: more only takes time to write.
        settings.accessJournalBytes = min(settings.accessJournalBytes, 1 << 20)
        if !keepsLimits {
            // Clients run in this process too, and wait for all the other tests.
            for limit in [\ConnectionLimits.firstByte, \.header, \.bodyIdle, \.bodyWindow, \.write, \.idle] {
                settings.limits[keyPath: limit] = .seconds(600)
            }
        }
        // This process is the tests' runner, and no kalends.
        settings.readWorker = worker
        let installation = try await Installation.opened(
            settings, now: { clock.now }, calendars: calendars,
            open: settings.isShared ? nil : TestedStore.opening(open))
        let log = LogRecorder()
        let logger = Logger(label: "test") { _ in log }
        let secret = Secret.make(.serviceKey)
        try await installation.services.store.write { transaction in
            try transaction.insertServiceKey(
                id: FeedLedger.makeID(), name: "test", hash: secret.hash, hint: secret.hint, now: clock.now)
        }
        let app = Application(
            router: try Routes.router(
                installation.front, isLocal: false, doors: CalDAVDoor.doors(installation.front)),
            server: EdgeSetup.http(installation.front, limits: settings.limits, logger: logger),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)), logger: logger)
        let folding = AccessFolding(counter: installation.services.counter, logger: logger)
        let background = Task { if folds { try await folding.run() } }
        defer { background.cancel() }
        try await app.test(live ? .live : .router) { client in
            let patient = client.port.map {
                TestClient(host: "localhost", port: $0, configuration: .init(timeout: .seconds(600)))
            }
            patient?.connect()
            do {
                try await body(
                    TestServer(
                        front: installation.front, clock: clock, client: client, patient: patient, folder: folder,
                        key: secret.reveal(), log: log))
            } catch {
                try await patient?.shutdown()
                throw error
            }
            try await patient?.shutdown()
        }
        try await installation.close()
    }

    /// Calls the API as the host application, or as a user for whom the host application acts.
    func call(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue? = nil, as user: String? = nil,
        headers: HTTPFields = [:]
    ) async throws -> Answer {
        var headers = headers
        headers[.authorization] = "Bearer \(key)"
        headers[.contentType] = "application/json"
        if let user { headers[.kalendsUser] = user }
        return try await raw(
            method, path, headers: headers, body: try body.map { ByteBuffer(bytes: try $0.serialized()) })
    }

    func raw(
        _ method: HTTPRequest.Method, _ path: String, headers: HTTPFields = [:], body: ByteBuffer? = nil
    ) async throws -> Answer {
        let answer = try await answer(method, path, headers, body)
        if let fault = try DescribedAnswers.of(front).fault(method, path, answer) { Issue.record("\(fault)") }
        return answer
    }

    private func answer(
        _ method: HTTPRequest.Method, _ path: String, _ headers: HTTPFields, _ body: ByteBuffer?
    ) async throws -> Answer {
        guard let patient else {
            let answer = try await client.execute(uri: path, method: method, headers: headers, body: body)
            return Answer(
                status: answer.status.code, headers: answer.headers, body: Array(answer.body.readableBytesView))
        }
        var headers = headers
        headers[.connection] = "keep-alive"
        let answer = try await patient.execute(
            TestClient.Request(path, method: method, authority: "localhost", headers: headers, body: body))
        return Answer(
            status: answer.status.code, headers: answer.headers,
            body: answer.body.map { Array($0.readableBytesView) } ?? [])
    }

    /// Creates a circle `c` in Los Angeles with Ann (owner), Ben (member), Vic (viewer), and the patients Mom and Dad.
    func makeCircle(zone: String = "America/Los_Angeles") async throws {
        try await call(.put, "/v1/circles/c", ["name": "Our family", "timeZone": .string(zone)]).expect(201)
        for (id, name, role) in [("ann", "Ann", "owner"), ("ben", "Ben", "member"), ("vic", "Vic", "viewer")] {
            try await call(.put, "/v1/circles/c/members/\(id)", ["displayName": .string(name), "role": .string(role)])
                .expect(201)
        }
        for (id, name) in [("mom", "Mom"), ("dad", "Dad")] {
            try await call(.put, "/v1/circles/c/patients/\(id)", ["displayName": .string(name)]).expect(201)
        }
    }

    func put(_ collection: String, _ id: String, _ value: JSONValue) async throws {
        let answer = try await call(.put, "/v1/circles/c/\(collection)/\(id)", value)
        #expect(answer.status == 200 || answer.status == 201, "\(answer.text)")
    }

    /// Creates a feed and returns its id and the path of its address.
    func makeFeed(
        user: String = "ann", label: String? = nil, config: JSONValue = [:]
    ) async throws -> (id: String, path: String) {
        let answer = try await call(
            .post, "/v1/circles/c/feeds",
            ["userId": .string(user), "label": label.map(JSONValue.string) ?? .null, "config": config]
        ).expect(201)
        return (try #require(answer.json["id"]?.string), try Self.path(answer))
    }

    static func path(_ answer: Answer) throws -> String {
        let url = try #require(answer.json["url"]?.string)
        return String(url.dropFirst("http://calendar.example".count))
    }
}

/// Sends a request again that a busy server had no memory for, as a client does; at most 20 times.
func patiently(_ send: () async throws -> Answer) async throws -> Answer {
    var answer = try await send()
    for _ in 0..<20 where answer.status == 503 {
        try await Task.sleep(for: .milliseconds(100))
        answer = try await send()
    }
    return answer
}

struct Answer: Sendable {
    var status: Int
    var headers: HTTPFields
    var body: [UInt8]

    var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
    var text: String { String(decoding: body, as: UTF8.self) }

    /// The pointers of a problem document's errors.
    var pointers: [String] { json["errors"]?.array?.compactMap { $0["pointer"]?.string } ?? [] }

    @discardableResult
    func expect(_ status: Int, sourceLocation: SourceLocation = #_sourceLocation) throws -> Answer {
        #expect(self.status == status, "\(text.prefix(2000))", sourceLocation: sourceLocation)
        return self
    }

    /// The unfolded lines of a calendar.
    var calendarLines: [String] {
        text.replacingOccurrences(of: "\r\n ", with: "").components(separatedBy: "\r\n")
    }

    func values(_ name: String) -> [String] { Self.values(name, calendarLines) }

    /// Returns the values of events' properties, leaving out those of zones and of the calendar itself.
    func eventValues(_ name: String) -> [String] {
        var isInEvent = false
        let lines = calendarLines.filter { line in
            if line == "BEGIN:VEVENT" { isInEvent = true }
            if line == "END:VEVENT" { isInEvent = false }
            return isInEvent
        }
        return Self.values(name, lines)
    }

    private static func values(_ name: String, _ lines: [String]) -> [String] {
        lines.filter { $0.hasPrefix(name + ":") || $0.hasPrefix(name + ";") }
            .map { String($0[$0.index(after: $0.firstIndex(of: ":") ?? $0.startIndex)...]) }
    }
}

/// Keeps every line that is logged, at every level.
final class LogRecorder: LogHandler, Sendable {
    private let lines = Mutex<[String]>([])

    var text: String { lines.withLock { $0.joined(separator: "\n") } }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        lines.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
    }
}
