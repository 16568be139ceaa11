// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import ICalBridge
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("A feed as a collection that nobody changes")
struct FeedCollectionTests {
    private func token(_ path: String) throws -> Secret {
        let part = try #require(path.split(separator: "/").dropFirst().first)
        return try #require(Secret(.feed, text: part))
    }

    @Test("Its members are what the feed shows, and it ends with the feed")
    func reading() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.put("tasks", "pills", ["title": "Pills", "dueAt": "2026-03-06T08:00:00-08:00"])
            try await server.put("tasks", "far", ["title": "Far", "dueAt": "2036-03-06T08:00:00-08:00"])
            let feed = try await server.makeFeed(config: ["detail": "titles"])
            let source = server.services.feedCollection(try token(feed.path))
            guard case .live(let own, _) = try await source.open("name.ics") else {
                Issue.record("not open")
                return
            }
            #expect(own.kind == .feed(feed.id) && !own.mayWrite && own.userID == "ann")
            let members = try await source.members(of: own, after: nil, limit: 10)
            #expect(members.count == 1)
            let name = try #require(members.first?.name)
            let found = try await source.resources(of: own, named: [name, "none.ics"])
            #expect(found.count == 2 && found[1] == nil)
            let text = String(decoding: try #require(found[0]).text.get(), as: UTF8.self)
            #expect(text.contains("SUMMARY:CK: Pills") && text.utf8.count == members.first?.size)
            #expect(try await source.members(of: own, after: name, limit: 10).isEmpty)
            #expect(try await source.changes(of: own, after: own.number, limit: 9).changed.isEmpty)
            let caller = CalDAVCaller(passwordID: "p", userID: "ann", mayWrite: true, circleIDs: nil, own: true)
            await #expect(throws: CollectionFault.self) {
                try await source.delete(name, from: own, if: WriteConditions(), for: caller, room: nil)
            }
            server.clock.advance(seconds: 5)
            try await server.put("tasks", "pills", ["title": "Tea", "dueAt": "2026-03-06T08:00:00-08:00"])
            // Each answer shows one state of the feed, and the next request sees the next one.
            let next = server.services.feedCollection(try token(feed.path))
            await #expect(throws: CollectionFault.self) {
                try await next.changes(of: own, after: own.number, limit: 9)
            }
            let later = try await next.members(of: own, after: nil, limit: 10)
            #expect(later.map(\.name) == [name] && later.first?.etag != members.first?.etag)
            try await server.call(.post, "/v1/feeds/\(feed.id)/revoke").expect(200)
            guard case .ended = try await next.open("name.ics") else {
                Issue.record("not ended")
                return
            }
            let unknown = server.services.feedCollection(Secret.make(.feed))
            guard case .unknown = try await unknown.open("name.ics") else {
                Issue.record("known")
                return
            }
        }
    }
}
