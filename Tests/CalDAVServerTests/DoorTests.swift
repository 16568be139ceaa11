// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

/// What other servers got wrong about addresses, rights and properties, each by its name.
@Suite struct DoorTests {
    @Test("Pitfall 1: the well-known address answers where it is asked: not every client follows a redirect")
    func wellKnown() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let ann = try await DAVClient(server, "ann")
            let answer = try await ann.properties("/.well-known/caldav", ["D:current-user-principal"])
            let principal = try answer.first[.dav, "current-user-principal"]
            #expect(principal?.child(.dav, "href")?.text == "/dav/principals/ann/")
            for method: HTTPRequest.Method in [.get, .head] {
                let moved = try await server.raw(method, "/.well-known/caldav").expect(301)
                #expect(moved.headers[.location] == "/dav/")
            }
        }
    }

    @Test("Without credentials the answer asks for Basic; wrong ones, and the account's own password, open nothing")
    func credentials() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let ann = try await DAVClient(server, "ann")
            for method in ["PROPFIND", "OPTIONS", "GET", "REPORT", "PUT"] {
                let verb = try #require(HTTPRequest.Method(rawValue: method))
                let answer = try await server.raw(verb, ann.home).expect(401)
                #expect(answer.headers[.wwwAuthenticate]?.hasPrefix("Basic realm=") == true)
            }
            for value in [
                "Basic ", "Basic x", "Bearer \(server.key)", "Basic \(Data("ann".utf8).base64EncodedString())",
            ] {
                try await server.raw(.get, "/dav/", headers: [.authorization: value]).expect(401)
            }
            try await ann.send("GET", "/dav/").expect(200)
            let other = Data("ben:\(ann.password)".utf8).base64EncodedString()
            try await server.raw(.get, "/dav/", headers: [.authorization: "Basic \(other)"]).expect(401)
            #expect(!server.log.text.contains(ann.password))
        }
    }

    @Test("A person whose id has a colon gets in with the name that they were given")
    func colon() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.call(
                .put, "/v1/circles/c/members/auth0:17", ["displayName": "Kim", "role": "member"]
            ).expect(201)
            try await DAVClient(server, "auth0:17").send("GET", "/dav/").expect(200)
        }
    }

    @Test("Pitfall 20: over plain HTTP from another machine nobody is let in, nor asked for a password")
    func plain() async throws {
        var settings = ServerSettings()
        settings.trustedProxies = [try #require(AddressRange("127.0.0.1"))]
        let given = settings
        try await TestServer.run(live: true, settings: given) { server in
            try await server.makeCircle()
            let ann = try await DAVClient(server, "ann")
            let forwarded = try #require(HTTPField.Name("X-Forwarded-For"))
            let proto = try #require(HTTPField.Name("X-Forwarded-Proto"))
            let outside = try await ann.send("GET", "/dav/", headers: [forwarded: "203.0.113.7"]).expect(403)
            #expect(outside.headers[.wwwAuthenticate] == nil)
            #expect(outside.text.contains("TLS"))
            try await ann.send("GET", "/dav/", headers: [forwarded: "203.0.113.7", proto: "http"]).expect(403)
            try await ann.send("GET", "/dav/", headers: [forwarded: "203.0.113.7", proto: "https"]).expect(200)
            try await ann.send("GET", "/dav/").expect(200)
        }
    }

    @Test("Pitfall 2: every resource names the principal, and OPTIONS of the principal says what the server does")
    func principal() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let ann = try await DAVClient(server, "ann")
            let calendar = try await ann.makeCalendar("own~x")
            try await ann.put(calendar + "a.ics", XML.event("a")).expect(201)
            for path in [
                "/dav/", "/dav/principals/", "/dav/principals/ann/", "/dav/calendars/", ann.home, calendar,
                calendar + "a.ics",
            ] {
                let answer = try await ann.properties(path, ["D:current-user-principal", "D:principal-URL"])
                for name in ["current-user-principal", "principal-URL"] {
                    #expect(
                        try answer.first[.dav, name]?.child(.dav, "href")?.text == "/dav/principals/ann/", "\(path)")
                }
                let options = try await ann.send("OPTIONS", path).expect(200)
                let features = try #require(HTTPField.Name("DAV"))
                #expect(
                    options.headers[features]
                        == "1, 3, access-control, extended-mkcol, calendar-access, webdav-push")
                #expect(options.headers[.allow]?.contains("PROPFIND") == true)
            }
            let own = try await ann.properties(
                "/dav/principals/ann/", ["C:calendar-home-set", "C:calendar-user-address-set", "D:displayname"]
            ).first
            #expect(own[.caldav, "calendar-home-set"]?.child(.dav, "href")?.text == ann.home)
            #expect(own[.dav, "displayname"]?.text == "Ann")
            #expect(own[.caldav, "calendar-user-address-set"] != nil)
        }
    }

    @Test("Pitfall 3: the home is a container, and no calendar itself")
    func home() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let ann = try await DAVClient(server, "ann")
            let calendar = try await ann.makeCalendar("own~x")
            let names = [
                "D:resourcetype", "D:owner", "C:supported-calendar-component-set", "CS:getctag", "D:sync-token",
                "C:max-resource-size", "A:calendar-color",
            ]
            let answer = try await ann.properties(ann.home, names, depth: "1")
            #expect(try answer.first.href == ann.home)
            #expect(try answer.first[.dav, "resourcetype"]?.children.map(\.name) == ["collection"])
            let own = try #require(answer[calendar])
            #expect(own[.dav, "resourcetype"]?.children.map(\.name) == ["collection", "calendar"])
            #expect(own[.dav, "owner"]?.child(.dav, "href")?.text == "/dav/principals/ann/")
            #expect(own[.caldav, "supported-calendar-component-set"]?.children.count == 3)
            #expect(own[.dav, "sync-token"]?.text.hasPrefix("data:,") == true)
            #expect(own[.caldav, "max-resource-size"]?.text == "1048576")
            #expect(own.names(404) == ["calendar-color"])
        }
    }

    @Test("Depth: infinity is refused by its name, and so is none; anything else is no depth")
    func depth() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let ann = try await DAVClient(server, "ann")
            for depth in ["infinity", nil] {
                let answer = try await ann.send("PROPFIND", ann.home, depth: depth).expect(403)
                #expect(answer.condition == "propfind-finite-depth")
            }
            try await ann.send("PROPFIND", ann.home, depth: "2").expect(400)
            for body in [
                "<x", "<D:propfind xmlns:D=\"\"/>", "<!DOCTYPE x><x/>", XML.root("D:other", ""),
                XML.root("D:propfind", "<D:undefined/>"), XML.root("D:propfind", "<D:allprop/><D:propname/>"),
            ] {
                try await ann.send("PROPFIND", ann.home, body, depth: "0").expect(400)
            }
            let deep = String(repeating: "<D:a>", count: 70) + String(repeating: "</D:a>", count: 70)
            try await ann.send("PROPFIND", ann.home, XML.root("D:propfind", deep), depth: "0").expect(400)
            let long = XML.root("D:propfind", "<!--" + String(repeating: "x", count: 1 << 20) + "-->")
            try await ann.send("PROPFIND", ann.home, long, depth: "0").expect(413)
        }
    }

    @Test("A collection's address without its last slash is answered as with it, and other people's are nobody's")
    func addresses() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let ann = try await DAVClient(server, "ann")
            let path = "\(ann.home)own~%C3%A4%20b"
            try await ann.send("MKCALENDAR", path).expect(201)
            let answer = try await ann.send("PROPFIND", path, depth: "0").expect(207)
            #expect(answer.headers[.contentLocation] == path + "/")
            #expect(try Multistatus(answer).first.href == path + "/")
            // The same address, encoded in another way.
            try await ann.send("PROPFIND", "\(ann.home)%6Fwn~%c3%a4%20b/", depth: "0").expect(207)
            for other in ["/dav/principals/ben/", "/dav/calendars/ben/", "/dav/calendars/ben/c/", "\(ann.home)none/"] {
                try await ann.send("PROPFIND", other, depth: "0").expect(404)
            }
        }
    }

    @Test("Pitfall 12: PROPPATCH of what Apple's apps set is never refused, and comes back as it was")
    func proppatch() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let ann = try await DAVClient(server, "ann")
            let calendar = try await ann.makeCalendar("own~x")
            let body = XML.set(
                """
                <A:calendar-color symbolic-color="custom">#FF00AAFF</A:calendar-color><A:calendar-order>3</A:calendar-order>
                <D:displayname>Mine &amp; yours</D:displayname><C:calendar-description xml:lang="de">Ü</C:calendar-description>
                <C:schedule-calendar-transp><C:opaque/></C:schedule-calendar-transp>
                <C:default-alarm-vevent-date>BEGIN:VALARM</C:default-alarm-vevent-date>
                <x:dead xmlns:x="urn:x"><x:inner a="1"/></x:dead>
                """)
            for path in [calendar, "\(ann.home)c/", "\(ann.home)c~tasks/"] {
                let set = try Multistatus(try await ann.send("PROPPATCH", path, body).expect(207)).first
                #expect(set.names(200).count == 7, "\(path) \(set.properties)")
                let shown = try await ann.properties(
                    path, ["A:calendar-color", "A:calendar-order", "D:displayname", "C:calendar-description"]
                ).first
                #expect(shown[.apple, "calendar-color"]?.text == "#FF00AAFF")
                #expect(shown[.apple, "calendar-color"]?.attribute("symbolic-color") == "custom")
                #expect(shown[.dav, "displayname"]?.text == "Mine & yours")
                #expect(shown[.caldav, "calendar-description"]?.text == "Ü")
                let all = try Multistatus(try await ann.send("PROPFIND", path, depth: "0").expect(207)).first
                #expect(all[.other("urn:x"), "dead"]?.children.first?.attribute("a") == "1")
                #expect(all.names(200).count { $0 == "calendar-color" } == 1)
            }
            // Apple's apps keep default alarms at the home.
            let alarm = XML.set("<C:default-alarm-vevent-datetime>x</C:default-alarm-vevent-datetime>")
            let home = try Multistatus(try await ann.send("PROPPATCH", ann.home, alarm).expect(207)).first
            #expect(home.names(200) == ["default-alarm-vevent-datetime"])
            let kept = try await ann.properties(ann.home, ["C:default-alarm-vevent-datetime"]).first
            #expect(kept[.caldav, "default-alarm-vevent-datetime"]?.text == "x")
            let quiet = try #require(HTTPField.Name("Brief"))
            let brief = try await ann.send("PROPPATCH", calendar, body, headers: [quiet: "t"]).expect(200)
            #expect(brief.body.isEmpty)
        }
    }

    @Test("A PROPPATCH is done as a whole or not at all")
    func atomic() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let ann = try await DAVClient(server, "ann")
            let calendar = try await ann.makeCalendar("own~x")
            let mixed = XML.set("<D:displayname>No</D:displayname><D:getetag>x</D:getetag>")
            let answer = try Multistatus(try await ann.send("PROPPATCH", calendar, mixed).expect(207)).first
            #expect(answer.names(403) == ["getetag"] && answer.names(424) == ["displayname"])
            let large = XML.set(
                "<x:a xmlns:x=\"urn:x\">\(String(repeating: "x", count: 70_000))</x:a><A:calendar-order/>")
            let full = try Multistatus(try await ann.send("PROPPATCH", calendar, large).expect(207)).first
            #expect(full.names(507) == ["a"] && full.names(424) == ["calendar-order"])
            let shown = try await ann.properties(calendar, ["D:displayname", "A:calendar-order"]).first
            #expect(shown[.dav, "displayname"]?.text == "x" && shown.names(404) == ["calendar-order"])
            let removed = XML.root(
                "D:propertyupdate",
                "<D:set><D:prop><D:displayname>A</D:displayname></D:prop></D:set>"
                    + "<D:remove><D:prop><D:displayname/></D:prop></D:remove>")
            try await ann.send("PROPPATCH", calendar, removed).expect(207)
            #expect(try await ann.properties(calendar, ["D:displayname"]).first[.dav, "displayname"]?.text == "x")
        }
    }

    @Test("Preferences: what is missing is left out with Prefer and with Brief")
    func preferences() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let ann = try await DAVClient(server, "ann")
            let prefer = try #require(HTTPField.Name("Prefer"))
            let brief = try #require(HTTPField.Name("Brief"))
            for headers: HTTPFields in [[prefer: "return=minimal"], [brief: "t"], [prefer: "x, return = minimal;y"]] {
                let answer = try await ann.properties(ann.home, ["D:getetag", "D:resourcetype"], headers: headers)
                #expect(try answer.first.names(404) == [] && answer.first.names(200) == ["resourcetype"])
            }
            let answer = try await ann.properties(ann.home, ["D:getetag", "D:resourcetype"])
            #expect(try answer.first.names(404) == ["getetag"])
            let below = try await ann.properties(
                ann.home, ["D:resourcetype"], depth: "1", headers: [prefer: "depth-noroot"])
            #expect(below[ann.home] == nil && below["\(ann.home)c/"] != nil)
        }
    }

    @Test("An unknown method is 405 with what is allowed, and an unknown report 403 by its name")
    func others() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let ann = try await DAVClient(server, "ann")
            for method in ["LOCK", "UNLOCK", "POST", "ACL", "PATCH"] {
                let answer = try await ann.send(method, ann.home).expect(405)
                #expect(answer.headers[.allow]?.contains("PROPFIND") == true)
            }
            let report = try await ann.send("REPORT", ann.home, XML.root("D:nothing", "")).expect(403)
            #expect(report.condition == "supported-report")
        }
    }
}
