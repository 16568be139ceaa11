// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Pages by hand: a person's own calendars")
struct OwnCalendarPageTests {
    @Test("They are listed by the names that the person chose, and deleted by nobody else")
    func calendars() async throws {
        try await TestServer.withPasswords { server in
            let ann = try await Browser.signedIn("ann", server)
            #expect(try await !ann.open("/app/devices").expect(200).text.contains("/app/calendars/"))
            let caller = CalDAVCaller(passwordID: "p", userID: "ann", mayWrite: true, circleIDs: nil, own: true)
            let own = server.services.ownCalendars
            let name = StoredProperty(
                namespace: "DAV:", name: "displayname",
                xml: Array("<d:displayname xmlns:d='DAV:'>A &lt; B</d:displayname>".utf8))
            _ = try await own.make("4F9A", components: [.event], properties: [name], for: caller)
            _ = try await own.make("own~garden", components: [.event], properties: [], for: caller)
            let id = try #require(try await server.services.store.read { try $0.ownCalendar("4F9A", of: "ann") }).id
            let page = try await ann.open("/app/devices").expect(200)
            #expect(page.text.contains("A &lt; B") && page.text.contains("garden") && !page.text.contains("4F9A"))
            let path = "/app/calendars/\(id)/delete"
            let ben = try await Browser.signedIn("ben", server)
            let token = try #require(HTMLForm.all(in: try await ben.open("/app/devices").text).first?.token)
            try await ben.post(path, [("token", token)]).expect(404)
            #expect(try await own.collections(of: caller).count == 2)
            try await ann.send(page, to: path).expect(200)
            #expect(try await own.collections(of: caller).map(\.segment) == ["own~garden"])
        }
    }
}
