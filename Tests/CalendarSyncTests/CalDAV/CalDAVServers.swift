// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Foundation
import Glibc
import ICalBridge
import TestSupport
import Testing

/// Radicale and Xandikos, each behind the proxy that makes faults; they are started once for all tests and end with
/// them.
enum CalDAVServers {
    struct Failure: Error {
        var message: String
    }

    static let python = ProcessInfo.processInfo.environment["KALENDS_PYTHON"]

    enum Name: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case radicale, xandikos, cyrus, davical
        var testDescription: String { rawValue }

        /// The servers that KALENDS_CALDAV_SERVERS names, or the two of every test run when it names none.
        static let tested: [Name] = {
            let said = ProcessInfo.processInfo.environment["KALENDS_CALDAV_SERVERS"] ?? "radicale xandikos"
            return said.split(separator: " ").compactMap { Name(rawValue: String($0)) }
        }()
    }

    /// The proxies' addresses, by the servers' names.
    private static let started = Task.detached { () throws -> [String: String] in
        let folder = FileManager.default.temporaryDirectory.appending(path: "kalends-caldav-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let ready = folder.appending(path: "ready").path
        let log = folder.appending(path: "log").path
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        let script = URL(filePath: #filePath).appending(path: "../../../Providers/caldav_faults.py").standardized.path
        // It sees by itself that this process is gone.
        _ = try SpawnedProgram(
            python ?? "", ["-B", script, ready] + Name.tested.map(\.rawValue), environment: plainEnvironment, in: nil,
            input: "/dev/null", output: log, error: log)
        for _ in 0..<12_000 {
            if let text = try? String(contentsOfFile: ready, encoding: .utf8) {
                let words = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
                return Dictionary(uniqueKeysWithValues: words.map { ($0[0], $0[1]) })
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw Failure(message: "No server: " + ((try? String(contentsOfFile: log, encoding: .utf8)) ?? ""))
    }

    static func address(_ name: Name) async throws -> String {
        guard let address = try await started.value[name.rawValue] else { throw Failure(message: "No \(name).") }
        return address
    }
}

/// A provider with its own calendar at one of the servers.
struct CalDAVRoom {
    static let clock: @Sendable () -> Int = { Int(Date().timeIntervalSince1970 * 1000) }
    static let window = TimeRange(from: Instant(seconds: 0), to: Instant(seconds: 4_000_000_000))

    let http: LoopbackHTTP
    let provider: CalDAVCalendar
    let account: CalDAVAccount
    let calendar: String
    let key: String

    /// - Parameter fault: returns the fault that a request asks for; nil for none.
    init(
        _ name: CalDAVServers.Name, clock: @escaping @Sendable () -> Int = CalDAVRoom.clock,
        fault: @escaping @Sendable (ProviderRequest) -> String? = { _ in nil }
    ) async throws {
        http = LoopbackHTTP { request in fault(request).map { [("X-Fault", $0)] } ?? [] }
        let address = try await CalDAVServers.address(name)
        let quiet = LoopbackHTTP()
        account = try await CalDAVDiscovery(
            url: address, username: "alice", password: "secret", http: quiet, clock: clock
        ).account()
        key = UUID().uuidString
        provider = try CalDAVCalendar(
            account: account, username: "alice", password: "secret", calendarKey: key, objects: DirectObjects(),
            http: http, clock: clock)
        let maker = try CalDAVCalendar(
            account: account, username: "alice", password: "secret", calendarKey: key, objects: DirectObjects(),
            http: quiet, clock: clock)
        calendar = try await maker.createCalendar(named: "Care", timeZone: "Europe/Berlin").id
    }

    static func mark(_ id: String, generation: Int = 0) -> EventMark {
        EventMark(
            installation: "inst-1", connection: "conn-1", circle: "circle-1", item: ItemKey(.appointments, id),
            generation: generation)
    }

    /// A mark that only this room uses: a server may require UIDs to differ among all calendars of an account.
    func mark(_ id: String) -> EventMark {
        var mark = Self.mark(id)
        mark.connection = key
        return mark
    }

    func create(_ id: String, _ entry: Entry) async -> WriteAnswer {
        await provider.write(
            [WriteRequest(key: id, mark: mark(id), kind: .create(entry))], in: calendar)[0]
    }

    func changes(since cursor: String? = nil, known: [ByteString: String] = [:]) async throws -> ChangeSet {
        try await provider.changes(in: calendar, since: cursor, window: Self.window, known: known)
    }
}

extension WriteAnswer {
    var event: RemoteEvent? {
        switch self {
        case .written(let event): event
        case .taken(let event): event
        default: nil
        }
    }

    var failure: ProviderFailure? { if case .failed(let failure) = self { failure } else { nil } }
}

extension RemoteEvent {
    /// The server's own etag, whoever read the event last.
    var tag: String? { etag.map { String($0.drop { $0 != "\"" }) } }

    /// The event without the records of reading it.
    var plain: RemoteEvent {
        var event = self
        event.etag = tag
        event.isAsWritten = false
        // Some servers give it with a listing only.
        event.updatedAt = nil
        return event
    }

    var entry: Entry? {
        switch content {
        case .entry(let entry), .master(let entry): entry
        case .unreadable: nil
        }
    }
}

extension ChangeSet {
    var events: [RemoteEvent] {
        changes.compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    var removed: [String] {
        changes.compactMap { if case .removed(let id) = $0 { id } else { nil } }
    }
}

/// Entries of every kind that CalDAV stores completely.
enum CalDAVSamples {
    /// 2026-12-03 09:00 in Berlin.
    static let start = Instant(seconds: 1_796_284_800)

    static func single(_ title: String = "Haircut", start: Instant = start, zone: String = "Europe/Berlin") -> Entry {
        Entry(
            title: title, notes: "Bring the\nkey; and, coffee", location: "Main St. 5",
            span: .timed(start: start, end: start.adding(seconds: 3600), zone: zone), reminders: [10, 1440])
    }

    static let days = Entry(
        title: "Away", span: .days(first: CivilDate(daysSinceEpoch: 20_790), until: CivilDate(daysSinceEpoch: 20_793)),
        status: .tentative, availability: .free)

    static var series: Entry {
        var entry = single("Visit")
        entry.repetition = Repetition(
            rrule: "FREQ=WEEKLY;COUNT=10", exdates: [start.adding(seconds: 14 * 86_400)],
            rdates: [start.adding(seconds: 3 * 86_400)])
        let moved = start.adding(seconds: 7 * 86_400)
        entry.occurrences = [
            moved: .changed(
                Entry(
                    title: "Visit, later", notes: "", location: "Elsewhere",
                    span: .timed(
                        start: moved.adding(seconds: 7200), end: moved.adding(seconds: 10_800), zone: "Europe/Berlin")))
        ]
        return entry
    }

    static let all: [Entry] = [
        single(), single("In UTC", zone: "UTC"), single("Ünïcödé 🎉 & <b>bold</b> \\n;,"),
        single("Far", zone: "America/New_York"), days, series,
    ]
}
