// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Testing

@testable import CalendarSync

@Suite struct DAVAddressTests {
    @Test("Spellings of one address are equal")
    func spellings() throws {
        let base = try #require(DAVAddress("https://Dav.Example.test:443/alice/cal/"))
        #expect(base.text == "https://dav.example.test/alice/cal/")
        let member = try #require(DAVAddress("a@b%20c.ics", relativeTo: base))
        #expect(member.path == "/alice/cal/a%40b%20c.ics")
        for text in [
            "/alice/cal/a%40b%20c.ics", "/alice/cal/%61%40b%20c%2eics",
            "https://dav.example.test/alice/cal/a@b%20c.ics",
            "//dav.example.test/alice/cal/a@b%20c.ics", "HTTPS://DAV.example.test:443/alice/cal/a%40b%20c.ics",
        ] {
            #expect(DAVAddress(text, relativeTo: base) == member)
        }
        #expect(member.isMember(of: base))
        // An encoded slash stays within its segment.
        let inner = try #require(DAVAddress("/alice/cal/a%2Fb.ics", relativeTo: base))
        #expect(inner.path == "/alice/cal/a%2Fb.ics" && inner.isMember(of: base))
        for text in ["/alice/cal/", "/alice/cal/x/y.ics", "/alice/other.ics", "https://other.test/alice/cal/a.ics"] {
            #expect(DAVAddress(text, relativeTo: base)?.isMember(of: base) == false)
        }
    }

    @Test("An address that is too long when it is encoded is not one, and every other is read back")
    func length() throws {
        let base = try #require(DAVAddress("https://dav.example.test/alice/cal/"))
        for (count, fits) in [(600, true), (676, true), (677, false), (1_300, false)] {
            let address = DAVAddress(String(repeating: "ж", count: count), relativeTo: base)
            #expect((address != nil) == fits, "\(count)")
            guard let address else { continue }
            #expect(DAVAddress(address.text) == address)
            #expect(DAVAddress(address.collection.text) == address.collection)
        }
    }

    @Test(
        "A text that could lead elsewhere is not a valid address",
        arguments: [
            "", "ftp://a/", "javascript:x", "//", "https://", "https:///x", "https://user@host/", "https://u:p@h/",
            "/a/../b", "/a/%2e%2e/b", "/./a", "/a?b", "/a#b", "/a b", "/a\r\nX: y", "/a\\b", "https://h:0/",
            "https://h:99999/", "https://h:8a/", "https://ex\u{e4}mple.test/", "https://[::1", "/a%00b", "/a%0d%0ab",
            "https://a b/", "https://a%2eb/",
        ])
    func refused(_ text: String) {
        #expect(DAVAddress(text, relativeTo: DAVAddress("https://dav.example.test/")) == nil)
    }

    @Test("The password is sent only to the account's own hosts")
    func realm() throws {
        func allows(_ from: String, _ to: String) throws -> Bool {
            DAVRealm(try #require(DAVAddress(from))).allows(try #require(DAVAddress(to)))
        }
        #expect(try allows("https://example.test/", "https://example.test/dav/"))
        #expect(try allows("https://example.test/", "https://dav.example.test/"))
        #expect(try allows("https://example.test:8443/", "https://dav.example.test:8443/"))
        #expect(try allows("http://localhost:80/", "https://localhost/"))
        #expect(try allows("https://caldav.icloud.com/", "https://p42-caldav.icloud.com/"))
        for (from, to) in [
            ("https://example.test/", "http://example.test/"), ("https://example.test/", "https://example.test:8443/"),
            ("https://dav.example.test/", "https://example.test/"),
            ("https://a.example.test/", "https://b.example.test/"),
            ("https://example.test/", "https://evilexample.test/"),
            ("https://example.test/", "https://example.test.evil/"),
            ("https://test/", "https://dav.test/"), ("https://10.0.0.1/", "https://1.10.0.0.1/"),
            ("https://caldav.icloud.com/", "https://p42-caldav.icloud.com.evil/"),
            ("https://caldav.icloud.com/", "https://px-caldav.icloud.com/"),
            ("https://example.test/", "https://p1-caldav.icloud.com/"),
        ] {
            #expect(try !allows(from, to), "\(from) to \(to)")
        }
    }

    @Test("A password is never sent without TLS, except on this machine")
    func tls() async throws {
        let http = ScriptedHTTP([])
        for url in [
            "http://dav.example.test/", "http://10.0.0.1/", "http://127.0.0.1.evil.test/", "http://localhost.evil/",
        ] {
            let failure = #expect(throws: ProviderFailure.self) {
                try CalDAVDiscovery(url: url, username: "a", password: "b", http: http, clock: { 0 })
            }
            #expect(failure?.code == "https-required")
        }
        for url in [
            "http://127.0.0.1:5232/", "http://localhost/", "http://[::1]:1/", "https://dav.example.test",
            "dav.example.test",
        ] {
            #expect(throws: Never.self) {
                try CalDAVDiscovery(url: url, username: "a", password: "b", http: http, clock: { 0 })
            }
        }
        // A redirect and an answer that lead to a host without TLS get nothing either.
        let redirecting = ScriptedHTTP([.answer(301, "", [("Location", "http://dav.example.test/")])])
        let discovery = try CalDAVDiscovery(
            url: "https://dav.example.test/", username: "a", password: "b", http: redirecting, clock: { 0 })
        await #expect(throws: ProviderFailure.self) { try await discovery.account() }
        #expect(redirecting.requests.allSatisfy { $0.url.hasPrefix("https://") })
        #expect(throws: ProviderFailure.self) {
            try CalDAVDiscovery(url: "https://x.test", username: "a:b", password: "c", http: http, clock: { 0 })
        }
        #expect(throws: ProviderFailure.self) {
            try CalDAVDiscovery(url: "https://x.test", username: "a", password: "c\r\nX: y", http: http, clock: { 0 })
        }
        #expect(http.requests.isEmpty)
    }

    @Test("A home on another host is not an account's, and an iCloud account takes one request at a time")
    func homes() throws {
        func provider(_ home: String, _ entrance: String) throws -> CalDAVCalendar {
            try CalDAVCalendar(
                account: CalDAVAccount(principal: entrance, homes: [home], entrance: entrance), username: "a",
                password: "b", calendarKey: "k", objects: DirectObjects(), http: ScriptedHTTP([]), clock: { 0 })
        }
        #expect(try provider("https://p07-caldav.icloud.com/1/calendars/", "https://caldav.icloud.com/").width == 1)
        #expect(try provider("https://dav.example.test/c/", "https://example.test/").width == 8)
        #expect(throws: ProviderFailure.self) { try provider("https://evil.test/c/", "https://example.test/") }
        #expect(throws: ProviderFailure.self) { try provider("http://example.test/c/", "http://example.test/") }
    }

    @Test("Retry-After is read as seconds and as a date, and bounded")
    func retryAfter() throws {
        let session = try DAVSession(
            realm: DAVRealm(try #require(DAVAddress("https://x.test/"))), username: "a", password: "b",
            http: ScriptedHTTP([]), clock: { 0 })
        func wait(_ value: String) -> ProviderFailure.Kind {
            session.failure(
                ProviderAnswer(
                    status: 429,
                    headers: [("Retry-After", value), ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")])
            ).kind
        }
        #expect(wait("120") == .throttled(retryAfter: 120))
        #expect(wait("99999999999999") == .throttled(retryAfter: 86_400))
        #expect(wait("-5") == .throttled(retryAfter: nil))
        #expect(wait("Sun, 06 Nov 1994 08:50:37 GMT") == .throttled(retryAfter: 60))
        #expect(wait("soon") == .throttled(retryAfter: nil))
    }
}
