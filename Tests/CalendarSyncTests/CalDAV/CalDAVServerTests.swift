// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Foundation
import ICalBridge
import Testing

@Suite(.enabled(if: CalDAVServers.python != nil, "KALENDS_PYTHON names no Python; make test makes one"))
struct CalDAVServerTests {
    @Test("Discovery finds principal and homes from a bare address", arguments: CalDAVServers.Name.tested)
    func discovery(_ name: CalDAVServers.Name) async throws {
        let address = try await CalDAVServers.address(name)
        let http = LoopbackHTTP()
        let account = try await CalDAVDiscovery(
            url: address, username: "alice", password: "secret", http: http, clock: CalDAVRoom.clock
        ).account()
        let (principal, home) =
            switch name {
            case .radicale: ("alice/", "alice/")
            case .xandikos: ("alice/", "alice/calendars/")
            case .cyrus: ("dav/principals/user/alice/", "dav/calendars/user/alice/")
            case .davical: ("caldav.php/alice/", "caldav.php/alice/")
            }
        #expect(account.principal == address + principal)
        #expect(account.homes == [address + home])
        // The well-known address, the redirect with the same method, the principal.
        #expect(http.sent.map(\.method) == ["PROPFIND", "PROPFIND", "PROPFIND"])
    }

    @Test("A wrong password is refused at the first answer and not tried again")
    func wrongPassword() async throws {
        let http = LoopbackHTTP()
        let discovery = try CalDAVDiscovery(
            url: try await CalDAVServers.address(.radicale), username: "alice", password: "wrong", http: http,
            clock: CalDAVRoom.clock)
        let failure = await #expect(throws: ProviderFailure.self) { try await discovery.account() }
        #expect(failure?.kind == .unauthorized)
        #expect(http.sent.count { $0.status == 401 } == 1)
    }

    @Test(
        "A calendar is made once, adopted afterwards, and ours whatever it is called",
        arguments: CalDAVServers.Name.tested)
    func calendar(_ name: CalDAVServers.Name) async throws {
        let room = try await CalDAVRoom(name)
        let again = try await room.provider.createCalendar(named: "Another name", timeZone: "Europe/Berlin")
        #expect(again.id == room.calendar)
        #expect(again.name == "Care")
        #expect(again.isOurs && again.canWrite)
        let listed = try await room.provider.calendars().first { $0.id == room.calendar }
        #expect(listed == again)
        let own: String? =
            switch name {
            case .radicale, .davical: nil
            case .xandikos: "calendar"
            case .cyrus: "personal"
            }
        if let own { #expect(try await room.provider.calendars().contains { $0.name == own && !$0.isOurs }) }
    }

    @Test(
        "Every kind of entry is read back as it was written, by look, find and listing",
        arguments: CalDAVServers.Name.tested)
    func roundTrip(_ name: CalDAVServers.Name) async throws {
        let room = try await CalDAVRoom(name)
        for (index, entry) in CalDAVSamples.all.enumerated() {
            let (wanted, limitations) = room.provider.expressible(entry)
            #expect(limitations.isEmpty)
            #expect(wanted == entry)
            let answer = await room.create("item-\(index)", entry)
            let event = try #require(answer.event)
            #expect(event.mark == room.mark("item-\(index)"))
            let look = try await room.provider.look(at: [event.id], in: room.calendar)
            guard case .present(let seen) = look[0].look else {
                Issue.record("\(entry.title) is not there")
                continue
            }
            #expect(seen.entry == entry)
            #expect(seen.tag == event.tag)
            #expect(try await room.provider.find([room.mark("item-\(index)")], in: room.calendar) == [seen])
        }
        let all = try await room.changes()
        #expect(all.isFull)
        #expect(Set(all.events.compactMap(\.entry)) == Set(CalDAVSamples.all))
    }

    @Test(
        "An unchanged run is one request, a single change two, and what was written is not fetched again",
        arguments: CalDAVServers.Name.tested)
    func cost(_ name: CalDAVServers.Name) async throws {
        let room = try await CalDAVRoom(name)
        let first = try await room.changes()
        #expect(first.isFull && first.changes.isEmpty)
        let event = try #require(await room.create("a", CalDAVSamples.single()).event)
        var known: [ByteString: String] = [ByteString(event.id): try #require(event.etag)]
        #expect(room.http.takeSent().map(\.method) == ["REPORT", "PUT"])

        let echo = try await room.changes(since: first.cursor, known: known)
        #expect(echo.changes.isEmpty && !echo.isFull)
        #expect(room.http.takeSent().map(\.method) == ["REPORT"])

        var moved = CalDAVSamples.single()
        moved.title = "Haircut, moved"
        let update = WriteRequest(
            key: "u", mark: room.mark("a"),
            kind: .update(id: event.id, etag: event.etag, from: CalDAVSamples.single(), to: moved))
        let updated = try #require(await room.provider.write([update], in: room.calendar)[0].event)
        #expect(updated.entry == moved)
        // With the listing of the same run: two.
        #expect(room.http.takeSent().map(\.method) == ["PUT"])

        // Without knowing, the change is fetched: two.
        let seen = try await room.changes(since: echo.cursor)
        #expect(seen.events.map(\.entry) == [moved])
        #expect(seen.events.map(\.tag) == [updated.tag])
        #expect(room.http.takeSent().map(\.method) == ["REPORT", "REPORT"])

        known[ByteString(updated.id)] = updated.etag
        let delete = WriteRequest(
            key: "d", mark: room.mark("a"), kind: .delete(id: updated.id, etag: updated.etag))
        #expect(await room.provider.write([delete], in: room.calendar) == [.deleted])
        #expect(room.http.takeSent().map(\.method) == ["DELETE"])
        let gone = try await room.changes(since: seen.cursor, known: known)
        #expect(gone.removed == [event.id])
        #expect(try await room.provider.look(at: [event.id], in: room.calendar)[0].look == .gone)
    }

    @Test("Eight requests run at once, and none beside the writes", arguments: CalDAVServers.Name.tested)
    func batch(_ name: CalDAVServers.Name) async throws {
        let room = try await CalDAVRoom(name)
        let requests = (0..<120).map { index in
            WriteRequest(
                key: "\(index)", mark: room.mark("b\(index)"), kind: .create(CalDAVSamples.single("E\(index)")))
        }
        let answers = await room.provider.write(requests, in: room.calendar)
        #expect(answers.compactMap(\.event?.entry?.title) == (0..<120).map { "E\($0)" })
        #expect(room.http.most == 8)
        #expect(room.http.takeSent().count == 120)
        let all = try await room.changes()
        #expect(Set(all.events.map(\.plain)) == Set(answers.compactMap(\.event?.plain)))
        #expect(room.http.takeSent().count == 1 + 3)
        #expect(
            try await room.provider.find((0..<120).map { room.mark("b\($0)") }, in: room.calendar).count == 120)
    }

    @Test("Creating an existing event reports it as taken and overwrites nothing", arguments: CalDAVServers.Name.tested)
    func taken(_ name: CalDAVServers.Name) async throws {
        let room = try await CalDAVRoom(name)
        let first = try #require(await room.create("a", CalDAVSamples.single()).event)
        guard case .taken(let holder?) = await room.create("a", CalDAVSamples.single("Another")) else {
            Issue.record("It is not taken.")
            return
        }
        // The server's stamp came with the look only.
        #expect(holder.id == first.id && holder.tag == first.tag && holder.content == first.content)
        #expect(try await room.changes().events.map(\.content) == [first.content])
    }

    @Test(
        "A stale etag is a mismatch and changes nothing, by update and by delete",
        arguments: CalDAVServers.Name.tested)
    func stale(_ name: CalDAVServers.Name) async throws {
        let room = try await CalDAVRoom(name)
        let entry = CalDAVSamples.single()
        let first = try #require(await room.create("a", entry).event)
        var second = entry
        second.title = "Second"
        func update(_ etag: String?, from: Entry, to: Entry) -> WriteRequest {
            WriteRequest(
                key: "u", mark: room.mark("a"), kind: .update(id: first.id, etag: etag, from: from, to: to))
        }
        let now = try #require(
            await room.provider.write([update(first.etag, from: entry, to: second)], in: room.calendar)[0].event)
        var third = entry
        third.title = "Third"
        #expect(
            await room.provider.write([update(first.etag, from: entry, to: third)], in: room.calendar) == [.mismatch])
        // Also when the object has to be read first: the fresh etag is not put over the old text.
        let bare = "\"" + (first.etag ?? "").split(separator: "\"")[1] + "\""
        #expect(await room.provider.write([update(bare, from: entry, to: third)], in: room.calendar) == [.mismatch])
        #expect(await room.provider.write([update(nil, from: entry, to: third)], in: room.calendar) == [.mismatch])
        let delete = WriteRequest(key: "d", mark: room.mark("a"), kind: .delete(id: first.id, etag: first.etag))
        #expect(await room.provider.write([delete], in: room.calendar) == [.mismatch])
        #expect(try await room.changes().events.map(\.plain) == [now.plain])
        #expect(
            await room.provider.write([update(nil, from: second, to: third)], in: room.calendar)[0].event?.entry
                == third)
        let missing = WriteRequest(
            key: "m", mark: room.mark("x"),
            kind: .delete(id: first.id.replacingOccurrences(of: ".ics", with: "x.ics"), etag: "p0 \"x\""))
        #expect(await room.provider.write([missing], in: room.calendar) == [.deleted])
    }

    @Test("Another event with our UID is found and reported as what has it", arguments: CalDAVServers.Name.tested)
    func uidConflict(_ name: CalDAVServers.Name) async throws {
        let room = try await CalDAVRoom(name)
        let event = try #require(await room.create("a", CalDAVSamples.single()).event)
        // A program moved it to another name.
        let text = try await room.raw("GET", event.id).body
        _ = try await room.raw("DELETE", event.id)
        let other = event.id.replacingOccurrences(of: ".ics", with: "-moved.ics")
        #expect((200..<300).contains(try await room.raw("PUT", other, body: text).status))
        let answer = await room.create("a", CalDAVSamples.single("Again"))
        if name == .davical {
            // It keeps no UID unique (RFC 4791 section 5.3.2.1); before the create, a listing shows the event.
            #expect(answer.event?.id == event.id)
            #expect(try await room.changes().events.map(\.mark) == [room.mark("a"), room.mark("a")])
            return
        }
        #expect(answer.event?.id == other)
        guard case .taken = answer else {
            Issue.record("It was written twice.")
            return
        }
        #expect(try await room.provider.find([room.mark("a")], in: room.calendar).map(\.id) == [other])
        #expect(try await room.changes().events.map(\.mark) == [room.mark("a")])
    }

    @Test(
        "A person's copy of an event is theirs, and an event of theirs has no mark",
        arguments: CalDAVServers.Name.tested)
    func copies(_ name: CalDAVServers.Name) async throws {
        let room = try await CalDAVRoom(name)
        let event = try #require(await room.create("a", CalDAVSamples.single()).event)
        let text = String(decoding: try await room.raw("GET", event.id).body, as: UTF8.self)
            .replacingOccurrences(of: "\r\n ", with: "")
        let uid = try #require(text.firstMatch(of: #/UID:(.+)\r\n/#)?.1)
        let copy = text.replacingOccurrences(of: "UID:\(uid)", with: "UID:copy-1")
        #expect(try await room.raw("PUT", room.path + "copy.ics", body: Array(copy.utf8)).status == 201)
        let marks = try await room.changes().events.map(\.mark)
        #expect(marks.count == 2 && marks.contains(room.mark("a")) && marks.contains(nil))
    }
}

extension CalDAVRoom {
    var path: String { URL(string: calendar)?.path(percentEncoded: true) ?? "" }

    /// Sends a request as another program would.
    func raw(_ method: String, _ path: String, body: [UInt8]? = nil) async throws -> ProviderAnswer {
        let origin = calendar.prefix(calendar.count - self.path.count)
        return try await LoopbackHTTP().send(
            ProviderRequest(
                method, origin + path,
                headers: [
                    ("Authorization", "Basic " + Data("alice:secret".utf8).base64EncodedString()),
                    ("Content-Type", "text/calendar; charset=utf-8"),
                ], body: body))
    }
}
