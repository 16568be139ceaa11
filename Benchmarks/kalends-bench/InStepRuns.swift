// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge

/// Reads objects in this process: what is measured here is the engine.
private struct OwnObjects: ObjectReading {
    func answers(to questions: [ObjectQuestion]) async throws(ProviderFailure) -> [ObjectAnswer] {
        questions.map { $0.answer() }
    }
}

/// Runs of the engine with a new calendar at a server.
struct InStepRuns {
    struct Failure: Error {
        var message: String
    }

    private let http = LoopbackClient()
    private let provider: CalDAVCalendar
    private let calendar: String
    private let store: InStepStore
    private let policy: SyncPolicy

    init(url: String, username: String, password: String, events: Int) async throws {
        let account = try await CalDAVDiscovery(
            url: url, username: username, password: password, http: http, clock: systemMilliseconds
        ).account()
        let provider = try CalDAVCalendar(
            account: account, username: username, password: password,
            calendarKey: "bench-\(systemMilliseconds())", objects: OwnObjects(), http: http, clock: systemMilliseconds)
        self.provider = provider
        calendar = try await provider.createCalendar(named: "Bench", timeZone: "Europe/Berlin").id
        store = InStepStore(events: events)
        let now = Instant(seconds: systemMilliseconds() / 1000)
        policy = SyncPolicy(
            installation: "bench", connection: "bench-\(now.seconds)", circle: "bench",
            fingerprint: Fingerprint(
                account: account.principal, calendar: calendar, pastDays: 30, futureDays: 400, filter: "", mapping: 1),
            window: TimeRange(from: now.adding(seconds: -30 * 86_400), to: now.adding(seconds: 400 * 86_400)))
    }

    /// Returns the milliseconds and the requests of one run.
    func measure(_ name: String) async throws -> (milliseconds: Double, requests: Int) {
        switch name {
        case "one change": await store.rename()
        case "one change there": try await editThere()
        default: break
        }
        let before = http.count
        let clock = ContinuousClock()
        let begun = clock.now
        let run = SyncRun(
            provider: provider, store: store, policy: policy,
            now: { Instant(seconds: systemMilliseconds() / 1000) },
            makeID: { String(UInt64.random(in: 0...UInt64.max), radix: 36) })
        let record = RunRecord(
            id: name, trigger: .manual, startedAt: Instant(seconds: systemMilliseconds() / 1000))
        let outcome = try await run.run(record)
        let time = begun.duration(to: clock.now) / .milliseconds(1)
        guard outcome.record.status == .success else {
            throw Failure(message: "\(name): \(outcome.record.error ?? "held"), \(outcome.record.counts)")
        }
        return (time, http.count - before)
    }

    /// Writes a note into an event, as somebody else would.
    private func editThere() async throws {
        guard let link = await store.anyLink, let id = link.externalID, let from = link.agreed?.theirs else {
            throw Failure(message: "Nothing is linked.")
        }
        var to = from
        to.notes = "Edited there"
        let mark = EventMark(
            installation: policy.installation, connection: policy.connection, circle: policy.circle, item: link.item,
            generation: link.generation)
        let request = WriteRequest(
            key: "there", mark: mark, kind: .update(id: id, etag: link.etag, from: from, to: to))
        guard case .written = await provider.write([request], in: calendar)[0] else {
            throw Failure(message: "The edit there failed.")
        }
    }
}
