// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import ICalBridge
import Storage
import Testing

@testable import CalDAVServer
@testable import KalendsCore

@Suite struct AddressTests {
    private let paths = DAVPaths(base: "/kalends")

    @Test("Addresses are read as they are written, with and without the last slash")
    func roundTrip() {
        let all: [DAVAddress] = [
            .root, .principals, .calendars, .principal(user: "ann@example.org"), .home(user: "ä b"),
            .collection(user: "ann", segment: "c~tasks"), .collection(user: "ann", segment: "own~50% half"),
            .member(user: "ann", segment: "c", name: "a+b & c.ics"),
        ]
        for address in all {
            let href = paths.href(address)
            #expect(href.hasPrefix("/kalends/dav/"))
            #expect(paths.address(href: href) == address)
            #expect(paths.address(href: "https://calendar.example\(href)") == address)
            #expect(href.hasSuffix("/") == address.isCollection)
            if address.isCollection { #expect(paths.address(href: String(href.dropLast())) == address) }
        }
        #expect(paths.address(path: "/.well-known/caldav") == .root)
    }

    @Test(
        "What names nothing is not guessed at",
        arguments: [
            "/", "/dav/x", "/dav//", "/dav/calendars//c/", "/dav/calendars/ann/c/x.ics/", "/dav/calendars/ann/c/x/y",
            "/dav/calendars/ann/%2F/", "/dav/calendars/ann/a%00b/", "/dav/calendars/ann/%2E%2E/",
            "/dav/calendars/ann/%zz/", "/dav/calendars/ann/%FF/", "/dav/calendars/ann/c/x?y", "/dav/calendars/ann/c#x",
            "dav/", "/dav/calendars/ann/" + String(repeating: "a", count: 256) + "/",
        ])
    func nothing(path: String) { #expect(paths.address(href: path) == nil) }

    @Test("A segment has up to 255 bytes before it is encoded")
    func length() {
        let name = String(repeating: "ä", count: 127)
        #expect(paths.address(href: paths.href(.collection(user: "ann", segment: name)))?.segment?.string == name)
    }

    @Test("Below a feed's address everything is a member")
    func feed() {
        let paths = DAVPaths(base: "", feed: "/feeds/secret/calendar.ics")
        #expect(paths.address(path: "/feeds/secret/calendar.ics") == .feed)
        #expect(paths.address(path: "/feeds/secret/calendar.ics/") == .feed)
        #expect(paths.address(path: "/feeds/secret/calendar.ics/a%20b") == .feedMember(name: "a b"))
        #expect(paths.href(.feedMember(name: "a b")) == "/feeds/secret/calendar.ics/a%20b")
        for path in ["/feeds/secret/calendar.icsx", "/feeds/secret/calendar.ics/a/b", "/dav/"] {
            #expect(paths.address(path: path) == nil)
        }
    }

    @Test("Conditions: tags with and without quotation marks, weak ones, stars, and commas within them")
    func conditions() {
        var conditions = WriteConditions([.ifMatch: "\"a,b\", c, W/\"d\""])
        #expect(conditions.ifMatch == ["a,b", "c"])
        #expect(!conditions.needsExisting && !conditions.needsAbsence)
        conditions = WriteConditions([.ifMatch: "*", .ifNoneMatch: "*"])
        #expect(conditions.ifMatch == nil && conditions.needsExisting && conditions.needsAbsence)
        conditions = WriteConditions([.ifMatch: "W/\"a\"", .ifNoneMatch: "\"*\""])
        // A weak tag names no state, so the condition is there and never holds.
        #expect(conditions.ifMatch == [] && !conditions.needsAbsence && conditions.ifNoneMatch == ["*"])
        #expect(WriteConditions([:]).ifMatch == nil)
    }

    @Test("A token is a URI of one collection in one database, wherever the server is")
    func tokens() throws {
        let collection = CalendarCollection(
            kind: .events(circle: "a/b"), userID: "ann", segment: "a", displayName: "A", components: [.event],
            mayWrite: true, number: 41)
        var other = collection
        other.kind = .tasks(circle: "a/b")
        let tokens = SyncTokens(databaseID: "m1")
        let token = tokens.token(of: collection)
        // Evolution takes a token with a colon and a slash for a URI, and throws away any other.
        #expect(token == "data:,m1/\(FeedRenderer.version)-events-a%2Fb/41")
        #expect(try tokens.number(in: token, of: collection) == 41)
        #expect(try tokens.number(in: " ", of: collection) == nil)
        let restored = SyncTokens(databaseID: "m2")
        #expect(throws: CollectionFault.self) { try restored.number(in: token, of: collection) }
        #expect(throws: CollectionFault.self) { try tokens.number(in: token, of: other) }
        for text in ["41", "x", token + "/1", token + "x", token.replacing("/41", with: "/-1")] {
            #expect(throws: CollectionFault.self) { try tokens.number(in: text, of: collection) }
        }
    }

    @Test("A token of what the program makes ends with the version of its renderer; one of what apps made does not")
    func renderers() throws {
        var collection = CalendarCollection(
            kind: .events(circle: "a"), userID: "ann", segment: "a", displayName: "A", components: [.event],
            mayWrite: true, number: 41)
        let old = SyncTokens(databaseID: "m", renderer: 1)
        let new = SyncTokens(databaseID: "m", renderer: 2)
        for kind in [CalendarCollection.Kind.events(circle: "a"), .tasks(circle: "a"), .feed("f"), .own("o")] {
            collection.kind = kind
            let token = old.token(of: collection)
            #expect(try old.number(in: token, of: collection) == 41)
            if case .own = kind {
                #expect(try new.number(in: token, of: collection) == 41)
            } else {
                #expect(throws: CollectionFault.self) { try new.number(in: token, of: collection) }
            }
        }
    }
}
