// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Foundation
import ICalBridge
import Synchronization
import Testing

/// Requested faults, each for the first matching requests of a method.
final class Faults: Sendable {
    private let plannedFaults = Mutex<[(method: String, fault: String, times: Int)]>([])

    func plan(_ method: String, _ fault: String, times: Int = 1) {
        plannedFaults.withLock { $0.append((method, fault, times)) }
    }

    func take(_ request: ProviderRequest) -> String? {
        plannedFaults.withLock { plannedFaults in
            guard let index = plannedFaults.firstIndex(where: { $0.method == request.method && $0.times > 0 }) else {
                return nil
            }
            plannedFaults[index].times -= 1
            return plannedFaults[index].fault
        }
    }
}

@Suite(.enabled(if: CalDAVServers.python != nil, "KALENDS_PYTHON names no Python; make test makes one"))
struct CalDAVFaultTests {
    let faults = Faults()

    func room(
        _ name: CalDAVServers.Name, clock: @escaping @Sendable () -> Int = CalDAVRoom.clock
    ) async throws -> CalDAVRoom {
        try await CalDAVRoom(name, clock: clock) { [faults] in faults.take($0) }
    }

    func update(_ room: CalDAVRoom, _ event: RemoteEvent, from: Entry, to: Entry) -> WriteRequest {
        WriteRequest(
            key: "u", mark: room.mark("a"), kind: .update(id: event.id, etag: event.etag, from: from, to: to))
    }

    @Test("After a lost answer the event is found, and made once", arguments: CalDAVServers.Name.tested)
    func lostCreate(_ name: CalDAVServers.Name) async throws {
        let room = try await room(name)
        let entry = CalDAVSamples.series
        faults.plan("PUT", "lost-answer")
        #expect(await room.create("a", entry).failure?.kind == .unanswered)
        let found = try await room.provider.find([room.mark("a")], in: room.calendar)
        #expect(found.map(\.entry) == [entry])
        guard case .taken(let event?) = await room.create("a", entry) else {
            Issue.record("It was made twice.")
            return
        }
        #expect(found.map(\.id) == [event.id] && found.map(\.tag) == [event.tag])
        #expect(try await room.changes().events == found)
        #expect(try await room.provider.find([room.mark("b")], in: room.calendar).isEmpty)
    }

    @Test("After a lost answer an update is a mismatch, and a delete is done", arguments: CalDAVServers.Name.tested)
    func lostUpdate(_ name: CalDAVServers.Name) async throws {
        let room = try await room(name)
        let entry = CalDAVSamples.single()
        var other = entry
        other.notes = "Other"
        let event = try #require(await room.create("a", entry).event)
        let request = update(room, event, from: entry, to: other)
        faults.plan("PUT", "lost-answer")
        #expect(await room.provider.write([request], in: room.calendar)[0].failure?.kind == .unanswered)
        #expect(await room.provider.write([request], in: room.calendar) == [.mismatch])
        guard case .present(let now) = try await room.provider.look(at: [event.id], in: room.calendar)[0].look else {
            Issue.record("It is gone.")
            return
        }
        #expect(now.entry == other)
        let delete = WriteRequest(key: "d", mark: room.mark("a"), kind: .delete(id: now.id, etag: now.etag))
        faults.plan("DELETE", "lost-answer")
        #expect(await room.provider.write([delete], in: room.calendar)[0].failure?.kind == .unanswered)
        #expect(await room.provider.write([delete], in: room.calendar) == [.deleted])
        #expect(try await room.changes().changes.isEmpty)
    }

    @Test("An event that never reached the server does not exist, and a second try creates it once")
    func neverApplied() async throws {
        let room = try await room(.radicale)
        faults.plan("PUT", "never-applied")
        #expect(await room.create("a", CalDAVSamples.days).failure?.kind == .unanswered)
        #expect(try await room.provider.find([room.mark("a")], in: room.calendar).isEmpty)
        #expect(await room.create("a", CalDAVSamples.days).event?.entry == CalDAVSamples.days)
    }

    @Test("An etag that lies is corrected by the next listing, and its content is the same")
    func lyingETag() async throws {
        let room = try await room(.xandikos)
        let cursor = try await room.changes().cursor
        faults.plan("PUT", "etag=\"stale\"")
        let event = try #require(await room.create("a", CalDAVSamples.single()).event)
        let known = [ByteString(event.id): try #require(event.etag)]
        let seen = try #require(try await room.changes(since: cursor, known: known).events.first)
        #expect(seen.tag != event.tag)
        #expect(seen.content == event.content)
        // Written under the lie, it would be a mismatch and not an overwrite.
        var other = CalDAVSamples.single()
        other.title = "Other"
        let request = update(room, event, from: CalDAVSamples.single(), to: other)
        #expect(await room.provider.write([request], in: room.calendar) == [.mismatch])
    }

    @Test(
        "What a server drops and says nothing of is read when it costs no request, and is known as its own doing",
        arguments: CalDAVServers.Name.tested)
    func rewriting(_ name: CalDAVServers.Name) async throws {
        let room = try await room(name)
        let cursor = try await room.changes().cursor
        faults.plan("PUT", "strip=VALARM", times: 20)
        let requests = (0..<20).map {
            WriteRequest(key: "\($0)", mark: room.mark("\($0)"), kind: .create(CalDAVSamples.single()))
        }
        let events = await room.provider.write(requests, in: room.calendar).compactMap(\.event)
        #expect(events.count == 20)
        let known = Dictionary(uniqueKeysWithValues: events.map { (ByteString($0.id), $0.etag ?? "") })
        #expect(try await room.changes(since: cursor, known: known).changes.isEmpty)
        let other = try #require(await room.create("other", CalDAVSamples.single()).event)
        room.http.takeSent()
        let seen = try await room.changes(since: cursor, known: known).events
        #expect(room.http.takeSent().map(\.method) == ["REPORT", "REPORT"])
        // Cyrus shows with its answer to a write what it has: there is nothing left to read.
        let isShown = name == .cyrus
        #expect(seen.count == (isShown ? 1 : 21))
        if isShown { #expect(events.allSatisfy { $0.entry?.reminders == [] }) }
        for event in seen {
            #expect(event.isAsWritten == (event.id != other.id))
            #expect(event.entry?.reminders == (event.id == other.id ? CalDAVSamples.single().reminders : []))
        }
        // Once it was read, it is known, and not read again.
        let read = known.merging(seen.map { (ByteString($0.id), $0.etag ?? "") }) { $1 }
        _ = try #require(await room.create("third", CalDAVSamples.single()).event)
        #expect(try await room.changes(since: cursor, known: read).events.count == 1)
        // A person's edit has another etag, and is an edit.
        let first = try #require(events.first)
        var text = String(decoding: try await room.raw("GET", first.id).body, as: UTF8.self)
        text = text.replacingOccurrences(of: "SUMMARY:Haircut", with: "SUMMARY:Shave")
        _ = try await room.raw("PUT", first.id, body: Array(text.utf8))
        let edited = try #require(
            try await room.changes(since: cursor, known: known).events.first { $0.id == first.id })
        #expect(!edited.isAsWritten && edited.entry?.title == "Shave")
    }

    @Test(
        "A dead token leads to one full listing, in whatever way the server refuses it",
        arguments: ["403; body=dead-token", "412; body=dead-token", "409", "410", "400", "500", "403"])
    func deadToken(_ fault: String) async throws {
        let room = try await room(.radicale)
        let cursor = try await room.changes().cursor
        let event = try #require(await room.create("a", CalDAVSamples.single()).event)
        room.http.takeSent()
        faults.plan("REPORT", "status=\(fault)")
        let all = try await room.changes(since: cursor, known: [ByteString(event.id): event.etag ?? ""])
        // A full listing names every event, also what is known.
        #expect(all.isFull && all.events.map(\.id) == [event.id])
        #expect(room.http.sent.map(\.method) == ["REPORT", "REPORT", "REPORT"])
        faults.plan("REPORT", "status=\(fault)", times: 2)
        faults.plan("PROPFIND", "status=403", times: 1)
        faults.plan("REPORT", "status=403", times: 1)
        await #expect(throws: ProviderFailure.self) { try await room.changes(since: cursor) }
    }

    @Test("A token of another server's calendar is dead", arguments: CalDAVServers.Name.tested)
    func foreignCursor(_ name: CalDAVServers.Name) async throws {
        let room = try await room(name)
        let other = try await CalDAVRoom(name)
        _ = await room.create("a", CalDAVSamples.single())
        // Radicale's tokens of two empty calendars are equal.
        let cursor = try await other.changes().cursor
        #expect(try await room.changes(since: cursor).isFull)
    }

    @Test("A server that silently accepts a dead token is fully listed once a week")
    func silence() async throws {
        let later = Mutex(0)
        let clock: @Sendable () -> Int = { CalDAVRoom.clock() + later.withLock { $0 } }
        let room = try await room(.radicale, clock: clock)
        let cursor = try await room.changes().cursor
        #expect(try await room.changes(since: cursor).isFull == false)
        later.withLock { $0 = 7 * 86_400_000 + 1 }
        #expect(try await room.changes(since: cursor).isFull)
    }

    @Test("Without sync-collection, ctag and etags say what changed", arguments: CalDAVServers.Name.tested)
    func withoutTokens(_ name: CalDAVServers.Name) async throws {
        for fault in ["status=403; body=no-report", "status=501", "drop-token"] {
            let room = try await room(name)
            let one = try #require(await room.create("a", CalDAVSamples.single("One")).event)
            let two = try #require(await room.create("b", CalDAVSamples.single("Two")).event)
            room.http.takeSent()
            faults.plan("REPORT", fault)
            let all = try await room.changes()
            #expect(
                all.isFull && Set(all.events) == [one, two].reduce(into: []) { $0.insert($1) } || all.events.count == 2)
            #expect(room.http.takeSent().map(\.method) == ["REPORT", "PROPFIND", "REPORT"])
            // Unchanged: one request.
            let quiet = try await room.changes(since: all.cursor)
            #expect(quiet.changes.isEmpty && room.http.takeSent().map(\.method) == ["PROPFIND"])
            let delete = WriteRequest(key: "d", mark: room.mark("a"), kind: .delete(id: one.id, etag: one.etag))
            #expect(await room.provider.write([delete], in: room.calendar) == [.deleted])
            let three = try #require(await room.create("c", CalDAVSamples.single("Three")).event)
            let next = try await room.changes(since: quiet.cursor)
            #expect(next.removed == [one.id] && next.events.map(\.id) == [three.id] && !next.isFull)
            // And when there is no ctag either.
            faults.plan("REPORT", fault)
            faults.plan("PROPFIND", "drop-ctag")
            let bare = try await room.changes()
            room.http.takeSent()
            #expect(try await room.changes(since: bare.cursor).changes.isEmpty)
            #expect(room.http.takeSent().map(\.method) == ["PROPFIND"])
            // And when a collection cannot be listed but by a query.
            faults.plan("REPORT", fault)
            faults.plan("PROPFIND", "status=403")
            let asked = try await room.changes()
            #expect(asked.isFull && Set(asked.events.map(\.id)) == [two.id, three.id])
        }
    }

    @Test(
        "The collection, other hosts and other calendars are not events, however they are listed",
        arguments: CalDAVServers.Name.tested)
    func strangers(_ name: CalDAVServers.Name) async throws {
        let room = try await room(name)
        let event = try #require(await room.create("a", CalDAVSamples.single()).event)
        faults.plan("REPORT", "member; foreign; respell", times: 2)
        #expect(try await room.changes().events.map(\.id) == [event.id])
        faults.plan("REPORT", "status=501")
        faults.plan("PROPFIND", "member; foreign; respell")
        #expect(try await room.changes().events.map(\.id) == [event.id])
        #expect(room.http.sent.allSatisfy { $0.path.hasPrefix(room.path) })
    }

    @Test("Events that a multiget leaves out, or cannot write as XML, are asked for by themselves")
    func cutShort() async throws {
        let room = try await room(.radicale)
        let requests = (0..<6).map {
            WriteRequest(key: "\($0)", mark: room.mark("\($0)"), kind: .create(CalDAVSamples.single("E\($0)")))
        }
        let events = Set(await room.provider.write(requests, in: room.calendar).compactMap(\.event?.id))
        let cursor = try await room.changes().cursor
        room.http.takeSent()
        faults.plan("REPORT", "cut=9")
        faults.plan("REPORT", "cut=2")
        let all = try await room.changes()
        #expect(Set(all.events.map(\.id)) == events && all.isFull)
        #expect(room.http.takeSent().count { $0.method == "GET" } == 4)
        faults.plan("REPORT", "control", times: 20)
        let looks = try await room.provider.look(at: Array(events).sorted(), in: room.calendar)
        #expect(looks.allSatisfy { if case .present(let event) = $0.look { event.entry != nil } else { false } })
        _ = cursor
    }

    @Test("503 with Retry-After ends a batch, and nothing more is sent")
    func throttled() async throws {
        let room = try await room(.radicale)
        faults.plan("PUT", "status=503; retry-after=120", times: 100)
        let requests = (0..<50).map {
            WriteRequest(key: "\($0)", mark: room.mark("\($0)"), kind: .create(CalDAVSamples.single()))
        }
        let answers = await room.provider.write(requests, in: room.calendar)
        #expect(answers.allSatisfy { $0.failure?.kind == .unavailable(retryAfter: 120) })
        #expect(room.http.sent.count <= 8)
        faults.plan("REPORT", "status=429; retry-after=7")
        let failure = await #expect(throws: ProviderFailure.self) { try await room.changes() }
        #expect(failure?.kind == .throttled(retryAfter: 7))
    }

    @Test("A refused password ends a batch: it is not tried fifty times")
    func refusedPassword() async throws {
        let room = try await room(.radicale)
        faults.plan("PUT", "status=401", times: 100)
        let requests = (0..<50).map {
            WriteRequest(key: "\($0)", mark: room.mark("\($0)"), kind: .create(CalDAVSamples.single()))
        }
        let answers = await room.provider.write(requests, in: room.calendar)
        #expect(answers.allSatisfy { $0.failure?.kind == .unauthorized })
        #expect(room.http.sent.count <= 8)
    }

    @Test("A redirect on the same host keeps method and body; one to another host gets nothing")
    func redirects() async throws {
        let room = try await room(.radicale)
        let target = room.path + "elsewhere.ics"
        faults.plan("PUT", "temporary-redirect=\(target)")
        #expect(await room.create("a", CalDAVSamples.single()).event != nil)
        #expect(try await room.raw("GET", target).status == 200)
        room.http.takeSent()
        faults.plan("REPORT", "redirect=https://calendar.example/")
        let failure = await #expect(throws: ProviderFailure.self) { try await room.changes() }
        #expect(failure?.kind == .refused && failure?.code == "other-host")
        #expect(room.http.sent.count == 1)
    }

    @Test(
        "A calendar that is gone is missing, and none of its events is gone by it",
        arguments: CalDAVServers.Name.tested)
    func missingCalendar(_ name: CalDAVServers.Name) async throws {
        let room = try await room(name)
        let event = try #require(await room.create("a", CalDAVSamples.single()).event)
        let cursor = try await room.changes().cursor
        _ = try await room.raw("DELETE", room.path)
        func kind(_ work: () async throws -> Void) async -> ProviderFailure.Kind? {
            do { try await work() } catch { return (error as? ProviderFailure)?.kind }
            return nil
        }
        #expect(await kind { _ = try await room.changes(since: cursor) } == .calendarMissing)
        #expect(await kind { _ = try await room.changes() } == .calendarMissing)
        #expect(await kind { _ = try await room.provider.look(at: [event.id], in: room.calendar) } == .calendarMissing)
        // Cyrus says only that it may not be done.
        let refusal = await room.create("b", CalDAVSamples.single()).failure?.kind
        #expect(refusal == (name == .cyrus ? .forbidden : .calendarMissing))
    }

    @Test(
        "What a person's program put into an event stays there through an update",
        arguments: CalDAVServers.Name.tested)
    func preserved(_ name: CalDAVServers.Name) async throws {
        let room = try await room(name)
        let cursor = try await room.changes().cursor
        let entry = CalDAVSamples.single()
        let first = try #require(await room.create("a", entry).event)
        var text = String(decoding: try await room.raw("GET", first.id).body, as: UTF8.self)
        text = text.replacingOccurrences(
            of: "BEGIN:VALARM",
            with:
                "X-PERSON;X-P=\"a:b\":kept as it is\r\nCATEGORIES:Own\r\nURL:https://example.test/a?b=c\r\nBEGIN:VALARM",
            range: text.range(of: "BEGIN:VALARM"))
        #expect((200..<300).contains(try await room.raw("PUT", first.id, body: Array(text.utf8)).status))
        let seen = try #require(try await room.changes(since: cursor).events.first)
        #expect(seen.entry == entry)
        var other = entry
        other.title = "Other"
        other.reminders = [5]
        other.span = CalDAVSamples.single(start: CalDAVSamples.start.adding(seconds: 86_400)).span
        room.http.takeSent()
        let written = try #require(
            await room.provider.write([update(room, seen, from: entry, to: other)], in: room.calendar)[0].event)
        #expect(room.http.takeSent().map(\.method) == ["GET", "PUT"])
        #expect(written.entry == other)
        let now = String(decoding: try await room.raw("GET", first.id).body, as: UTF8.self)
            .replacingOccurrences(of: "\r\n ", with: "")
        for kept in ["kept as it is", "X-P=", "CATEGORIES:Own", "URL:https://example.test/a?b=c", "SUMMARY:Other"] {
            #expect(now.contains(kept))
        }
        #expect(now.components(separatedBy: "BEGIN:VALARM").count == 2)
    }

    @Test("Guests are never written to: where a server schedules, the event is left as it is")
    func guests() async throws {
        for name in CalDAVServers.Name.tested {
            let room = try await room(name)
            let entry = CalDAVSamples.single()
            let first = try #require(await room.create("a", entry).event)
            var text = String(decoding: try await room.raw("GET", first.id).body, as: UTF8.self)
            text = text.replacingOccurrences(
                of: "BEGIN:VALARM",
                with: "ORGANIZER:mailto:a@example.test\r\nATTENDEE:mailto:b@example.test\r\nBEGIN:VALARM",
                range: text.range(of: "BEGIN:VALARM"))
            _ = try await room.raw("PUT", first.id, body: Array(text.utf8))
            let seen = try #require(try await room.changes().events.first)
            #expect(seen.entry == entry && seen.hasGuests == true && first.hasGuests == false)
            var other = entry
            other.title = "Other"
            let delete = WriteRequest(key: "d", mark: room.mark("a"), kind: .delete(id: seen.id, etag: seen.etag))
            let answers = await room.provider.write([update(room, seen, from: entry, to: other)], in: room.calendar)
            if name != .radicale {
                // They say calendar-auto-schedule.
                #expect(answers[0].failure?.code == "has-guests")
                #expect(await room.provider.write([delete], in: room.calendar)[0].failure?.code == "has-guests")
            } else {
                #expect(answers[0].event?.entry == other)
            }
        }
    }
}
