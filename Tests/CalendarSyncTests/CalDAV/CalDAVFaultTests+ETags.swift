// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import Testing

/// What servers do to the etags of what they are given.
extension CalDAVFaultTests {
    @Test("A missing or weak etag after a PUT is met with a look", arguments: ["etag=none", "etag=W/\"x\""])
    func missingETag(_ fault: String) async throws {
        for name in CalDAVServers.Name.tested {
            let room = try await room(name)
            faults.plan("PUT", fault)
            let event = try #require(await room.create("a", CalDAVSamples.single()).event)
            #expect(room.http.takeSent().map(\.method) == ["PUT", "REPORT"])
            #expect(try await room.changes().events == [event])
        }
    }

    @Test(
        "An etag goes back as the server wrote it, and in its other form where the server wants that",
        arguments: [["PUT", "DELETE", "GET", "REPORT"], ["REPORT"], ["PUT", "DELETE"]])
    func unquotedETag(_ methods: [String]) async throws {
        let room = try await room(.radicale)
        for method in methods { faults.plan(method, "unquoted", times: 50) }
        let cursor = try await room.changes().cursor
        _ = try #require(await room.create("a", CalDAVSamples.single()).event)
        let event = try #require(try await room.changes().events.first)
        var other = CalDAVSamples.single()
        other.title = "Other"
        let update = update(room, event, from: CalDAVSamples.single(), to: other)
        let changed = try #require(await room.provider.write([update], in: room.calendar)[0].event)
        #expect(changed.entry == other)
        // A version that is no longer there is not overwritten in any form.
        #expect(await room.provider.write([update], in: room.calendar) == [.mismatch])
        let known = [ByteString(changed.id): try #require(changed.etag)]
        #expect(try await room.changes(since: cursor, known: known).events.isEmpty)
        let delete = WriteRequest(key: "d", mark: room.mark("a"), kind: .delete(id: changed.id, etag: changed.etag))
        #expect(await room.provider.write([delete], in: room.calendar) == [.deleted])
        #expect(try await room.changes().changes.isEmpty)
    }
}
