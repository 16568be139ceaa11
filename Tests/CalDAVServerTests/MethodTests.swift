// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import Storage
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

/// What other servers got wrong about resources, each by its name.
@Suite struct MethodTests {
    @Test("Pitfall 8: the tag is over the bytes that GET returns, and a PUT has it only if they are kept as they came")
    func etags() async throws {
        try await DAVClient.withCalendar { app, calendar in
            let (path, text) = (calendar + "a%20b.ics", XML.event("a"))
            let put = try await app.put(path, text).expect(201)
            let get = try await app.send("GET", path).expect(200)
            #expect(get.text == text)
            let etag = try #require(get.headers[.eTag])
            #expect(etag.hasPrefix("\"") && etag.hasSuffix("\"") && etag.utf8.count > 2)
            if let reply = put.headers[.eTag] { #expect(reply == etag) }
            let shown = try await app.properties(path, ["D:getetag", "D:getcontentlength", "D:getcontenttype"]).first
            #expect(shown.href == path)
            #expect(shown[.dav, "getetag"]?.text == etag)
            #expect(shown[.dav, "getcontentlength"]?.text == "\(text.utf8.count)")
            #expect(shown[.dav, "getcontenttype"]?.text.hasPrefix("text/calendar") == true)
            try await app.send("GET", path, headers: [.ifNoneMatch: etag]).expect(304)
            let head = try await app.send("HEAD", path).expect(200)
            #expect(head.headers[.eTag] == etag && head.body.isEmpty)
        }
    }

    @Test("Pitfall 9: a change of nothing but an alarm is another tag, another ctag and another token")
    func alarm() async throws {
        try await DAVClient.withCalendar { app, calendar in
            let path = calendar + "a.ics"
            try await app.put(path, XML.event("a")).expect(201)
            func state() async throws -> [String?] {
                let collection = try await app.properties(calendar, ["CS:getctag", "D:sync-token"]).first
                return [
                    try await app.send("GET", path).expect(200).headers[.eTag],
                    collection[.calendarServer, "getctag"]?.text, collection[.dav, "sync-token"]?.text,
                ]
            }
            let before = try await state()
            try await app.put(
                path, XML.event("a", "BEGIN:VALARM", "ACTION:DISPLAY", "TRIGGER:-PT15M", "DESCRIPTION:x", "END:VALARM")
            ).expect(204)
            for (old, new) in zip(before, try await state()) {
                #expect(old != nil && new != nil)
                #expect(old != new)
            }
        }
    }

    @Test("Pitfall 19: conditions hold or are 412, and change nothing then")
    func conditions() async throws {
        try await DAVClient.withCalendar { app, calendar in
            let path = calendar + "a.ics"
            try await app.put(path, XML.event("a"), headers: [.ifMatch: "\"x\""]).expect(412)
            try await app.send("GET", path).expect(404)
            try await app.put(path, XML.event("a"), headers: [.ifNoneMatch: "*"]).expect(201)
            try await app.put(path, XML.event("a"), headers: [.ifNoneMatch: "*"]).expect(412)
            let etag = try #require(try await app.send("GET", path).headers[.eTag])
            try await app.put(path, XML.event("a", "LOCATION:x"), headers: [.ifMatch: "W/\(etag)"]).expect(412)
            // Some clients send it without its quotation marks.
            try await app.put(
                path, XML.event("a", "LOCATION:y"), headers: [.ifMatch: String(etag.dropFirst().dropLast())]
            )
            .expect(204)
            try await app.put(path, XML.event("a", "LOCATION:z"), headers: [.ifMatch: etag]).expect(412)
            try await app.send("DELETE", path, headers: [.ifMatch: etag]).expect(412)
            #expect(try await app.send("GET", path).expect(200).text.contains("LOCATION:y"))
            try await app.send("DELETE", path, headers: [.ifMatch: "*"]).expect(204)
            try await app.send("DELETE", path).expect(404)
            try await app.send("GET", path).expect(404)
        }
    }

    @Test("A client that prefers it gets what is there with the answer to its write, and to one that was refused")
    func representation() async throws {
        try await DAVClient.withCalendar { app, calendar in
            let path = calendar + "a.ics"
            let prefer: HTTPFields = [try #require(HTTPField.Name("Prefer")): "return=representation"]
            let made = try await app.put(path, XML.event("a"), headers: prefer).expect(201)
            #expect(made.text == XML.event("a") && made.headers[.contentLocation] == path)
            let changed = try await app.put(path, XML.event("a", "LOCATION:x"), headers: prefer).expect(200)
            #expect(changed.text == XML.event("a", "LOCATION:x"))
            var stale = prefer
            stale[.ifMatch] = made.headers[.eTag]
            let refused = try await app.put(path, XML.event("a", "LOCATION:y"), headers: stale).expect(412)
            #expect(refused.text == changed.text && refused.headers[.eTag] == changed.headers[.eTag])
        }
    }

    @Test("Pitfall 10: what can only be read is 403 with need-privileges, and neither missing nor an error")
    func readOnly() async throws {
        try await DAVClient.withCalendar { app, calendar in
            try await app.put(calendar + "a.ics", XML.event("a")).expect(201)
            let reader = try await DAVClient(app.server, "ann", ["access": "read"])
            let viewer = try await DAVClient(app.server, "vic")
            for (client, path) in [
                (reader, calendar + "a.ics"), (reader, calendar + "new.ics"), (reader, "\(reader.home)c/new.ics"),
                (viewer, "\(viewer.home)c/new.ics"),
            ] {
                let answer = try await client.put(path, XML.event("new")).expect(403)
                #expect(answer.condition == "need-privileges", "\(path)")
            }
            for (method, path) in [
                ("DELETE", calendar + "a.ics"), ("DELETE", calendar), ("MKCALENDAR", reader.home + "y/"),
            ] {
                #expect(try await reader.send(method, path).expect(403).condition == "need-privileges")
            }
            // Nobody removes a circle this way.
            #expect(try await app.send("DELETE", "\(app.home)c/").expect(403).condition == "need-privileges")
            #expect(try await app.send("DELETE", app.home).expect(403).condition == "need-privileges")
            try await reader.send("DELETE", calendar + "none.ics").expect(404)
            let set = try await reader.properties(calendar, ["D:current-user-privilege-set"]).first
            let names = set[.dav, "current-user-privilege-set"]?.children.flatMap(\.children).map(\.name) ?? []
            #expect(names.contains { $0 == "read" } && !names.contains { $0.hasPrefix("write") })
        }
    }

    @Test("Pitfall 14: what is no calendar object is refused by the name of the condition")
    func objects() async throws {
        try await DAVClient.withCalendar { app, calendar in
            try await app.put(calendar + "a.ics", XML.event("a")).expect(201)
            let two = XML.event("b").replacingOccurrences(
                of: "END:VCALENDAR",
                with: "BEGIN:VEVENT\r\nUID:c\r\nDTSTAMP:20260301T000000Z\r\nDTSTART:20260304T170000Z\r\nEND:VEVENT\r\n"
                    + "END:VCALENDAR")
            let cases: [(String, [String])] = [
                ("nonsense", ["valid-calendar-data"]),
                (two, ["valid-calendar-object-resource"]),
                (
                    XML.event("m").replacingOccurrences(of: "PRODID", with: "METHOD:REQUEST\r\nPRODID"),
                    ["valid-calendar-object-resource"]
                ),
                (XML.event("a"), ["no-uid-conflict"]),
            ]
            for (text, conditions) in cases {
                let answer = try await app.put(calendar + "new.ics", text).expect(403)
                #expect(conditions.contains { $0 == answer.condition }, "\(answer.text)")
            }
            let conflict = try await app.put(calendar + "new.ics", XML.event("a")).expect(403)
            #expect(conflict.text.contains("<D:href>\(calendar)a.ics</D:href>"))
            let large = XML.event("l", "DESCRIPTION:" + String(repeating: "x", count: 1 << 20))
            #expect(try await app.put(calendar + "new.ics", large).expect(403).condition == "max-resource-size")
            let other = try await app.send(
                "PUT", calendar + "new.txt", "text", headers: [.contentType: "text/plain"]
            ).expect(403)
            #expect(other.condition == "supported-calendar-data")
            try await app.put(app.home + "none/a.ics", XML.event("n")).expect(409)
            try await app.put(app.home + "none", XML.event("n")).expect(409)
            try await app.put(calendar + "a.ics/below.ics", XML.event("n")).expect(409)
            for path in [calendar, app.home] {
                #expect(try await app.put(path, XML.event("n")).expect(403).condition == "need-privileges")
            }
            try await app.send("GET", calendar + "new.ics").expect(404)
        }
    }

    @Test("MKCALENDAR and extended MKCOL make a calendar where nothing is, with what they say of it")
    func making() async throws {
        try await DAVClient.withCalendar { app, calendar in
            let path = "\(app.home)8D5E2C0A-1B2C/"
            let wishes =
                "<D:displayname>Lists</D:displayname><A:calendar-color>#00FF00</A:calendar-color>"
                + "<C:supported-calendar-component-set><C:comp name=\"VTODO\"/></C:supported-calendar-component-set>"
            func body(_ root: String, _ more: String = "") -> String {
                XML.root(root, "<D:set><D:prop>\(more)\(wishes)</D:prop></D:set>")
            }
            try await app.send("MKCALENDAR", path, body("C:mkcalendar")).expect(201)
            let type = "<D:resourcetype><D:collection/><C:calendar/></D:resourcetype>"
            try await app.send("MKCOL", "\(app.home)second", body("D:mkcol", type)).expect(201)
            for made in [path, "\(app.home)second/"] {
                let shown = try await app.properties(
                    made, ["D:displayname", "A:calendar-color", "C:supported-calendar-component-set"]
                ).first
                #expect(shown[.dav, "displayname"]?.text == "Lists")
                #expect(shown[.apple, "calendar-color"]?.text == "#00FF00")
                let components = shown[.caldav, "supported-calendar-component-set"]?.children
                #expect(components?.compactMap { $0.attribute("name") } == ["VTODO"])
                let wrong = try await app.put(made + "a.ics", XML.event("a")).expect(403)
                #expect(wrong.condition == "supported-calendar-component")
            }
            for taken in [path, calendar, "\(app.home)c/", app.home] {
                #expect(try await app.send("MKCALENDAR", taken).expect(409).condition == "resource-must-be-null")
                #expect(try await app.send("MKCOL", taken).expect(405).condition == "resource-must-be-null")
            }
            // What a password does not reach is in the way all the same.
            let narrow = try await DAVClient(app.server, "ann", ["circleIds": []])
            try await narrow.send("PROPFIND", "\(app.home)c/", depth: "0").expect(404)
            try await narrow.send("MKCALENDAR", "\(app.home)c/").expect(409)
            try await narrow.send("MKCOL", "\(app.home)c/").expect(405)
            for (method, within) in [("MKCALENDAR", "within"), ("MKCALENDAR", "within/"), ("MKCOL", "within/")] {
                #expect(
                    try await app.send(method, calendar + within).expect(403).condition
                        == "calendar-collection-location-ok")
            }
            try await app.put(calendar + "a.ics", XML.event("a")).expect(201)
            try await app.send("MKCOL", calendar + "a.ics").expect(405)
            try await app.send("MKCOL", calendar + "b", "text", headers: [.contentType: "x/y"]).expect(415)
            // Whatever the body is called, it is what it is.
            try await app.send(
                "MKCALENDAR", app.home + "called/", body("C:mkcalendar"), headers: [.contentType: "text/calendar"]
            ).expect(201)
            let refused = try Multistatus(
                try await app.send(
                    "MKCALENDAR", app.home + "f/", body("C:mkcalendar", "<D:getetag>x</D:getetag>")
                ).expect(207)
            ).first
            #expect(refused.names(403) == ["getetag"] && refused.names(424).contains { $0 == "displayname" })
            try await app.send("PROPFIND", app.home + "f/", depth: "0").expect(404)
            let folder = XML.root(
                "D:mkcol", "<D:set><D:prop><D:resourcetype><D:collection/></D:resourcetype></D:prop></D:set>")
            #expect(try await app.send("MKCOL", app.home + "f/", folder).expect(403).condition == "valid-resourcetype")
            try await app.send("MKCOL", app.home + "f/", "text", headers: [.contentType: "x/y"]).expect(415)
            let unknown = body("C:mkcalendar").replacingOccurrences(of: "VTODO", with: "VPOLL")
            #expect(
                try await app.send("MKCALENDAR", app.home + "f/", unknown).expect(403).condition
                    == "supported-calendar-component")
            try await app.send("DELETE", path).expect(204)
            try await app.send("PROPFIND", path, depth: "0").expect(404)
            // The address is free again.
            try await app.send("MKCALENDAR", path).expect(201)
        }
    }

    @Test("Pitfall 18: MOVE between calendars neither doubles nor loses, and COPY takes the place of what it names")
    func moving() async throws {
        try await DAVClient.withCalendar { app, first in
            let second = try await app.makeCalendar("own~y")
            try await app.put(first + "a.ics", XML.event("a")).expect(201)
            func headers(_ target: String, overwrite: String? = nil) throws -> HTTPFields {
                var fields: HTTPFields = [try #require(HTTPField.Name("Destination")): target]
                if let overwrite { fields[try #require(HTTPField.Name("Overwrite"))] = overwrite }
                return fields
            }
            func names(_ calendar: String) async throws -> [String] {
                try await app.properties(calendar, ["D:getetag"], depth: "1").responses.dropFirst().map(\.href)
            }
            let text = try await app.send("GET", first + "a.ics").expect(200).text
            let target = "http://calendar.example\(second)b.ics"
            let moved = try await app.send("MOVE", first + "a.ics", headers: try headers(target)).expect(201)
            #expect(moved.headers[.location] == target)
            #expect(try await names(first) == [])
            #expect(try await names(second) == ["\(second)b.ics"])
            #expect(try await app.send("GET", second + "b.ics").expect(200).text == text)
            try await app.send("MOVE", first + "a.ics", headers: try headers("\(second)c.ics")).expect(404)
            // Renamed within the calendar.
            try await app.send("MOVE", second + "b.ics", headers: try headers("\(second)c.ics")).expect(201)
            #expect(try await names(second) == ["\(second)c.ics"])
            try await app.put(first + "d.ics", XML.event("d")).expect(201)
            try await app.send("MOVE", first + "d.ics", headers: try headers("\(second)c.ics", overwrite: "F")).expect(
                412)
            #expect(try await names(first) == ["\(first)d.ics"])
            // Only the same UID takes the place of what is there (RFC 4791 section 5.3.2.1).
            let refused = try await app.send(
                "MOVE", first + "d.ics", headers: try headers("\(second)c.ics", overwrite: "T"))
            #expect(try refused.expect(403).text.contains("no-uid-conflict"))
            try await app.send("DELETE", first + "d.ics").expect(204)
            #expect(try await names(second) == ["\(second)c.ics"])
            try await app.send("COPY", second + "c.ics", headers: try headers("\(first)e.ics")).expect(201)
            #expect(try await names(first) == ["\(first)e.ics"])
            #expect(try await names(second) == ["\(second)c.ics"])
            for (target, status) in [
                ("http://elsewhere.example\(first)z.ics", 502), ("\(app.home)none/z.ics", 409), (first, 403),
                ("\(app.home)c/z.ics", 403), ("/dav/calendars/ben/x/z.ics", 403), ("/elsewhere", 409),
            ] {
                try await app.send("MOVE", second + "c.ics", headers: try headers(target)).expect(status)
            }
            try await app.send("MOVE", second + "c.ics").expect(400)
            for target in ["\(app.home)other/", "\(first)other/"] {
                try await app.send("MOVE", second, headers: try headers(target)).expect(403)
            }
            #expect(try await names(second) == ["\(second)c.ics"])
        }
    }

    @Test("Pitfall 17: a listing of thousands is written in pieces, whole, and packed for whoever takes it")
    func large() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let app = try await DAVClient(server, "ann")
            let calendar = try await app.makeCalendar("own~x")
            for index in 0..<1_200 { try await app.put("\(calendar)\(index).ics", XML.event("u\(index)")).expect(201) }
            let plain = try await app.properties(calendar, ["D:getetag"], depth: "1")
            #expect(plain.responses.count == 1_201)
            #expect(Set(plain.responses.map { ByteString($0.href) }).count == 1_201)
            let packed = try await app.send(
                "PROPFIND", calendar, XML.root("D:propfind", "<D:prop><D:getetag/></D:prop>"), depth: "1",
                headers: [.acceptEncoding: "gzip"]
            ).expect(207)
            #expect(packed.headers[.contentEncoding] == "gzip")
            let bytes = try Gunzip.unpack(packed.body, limit: 1 << 24)
            #expect(try XMLReader.read(bytes).children(.dav, "response").count == 1_201)
        }
    }

    @Test("A restore changes every token, so that no app believes what it knew")
    func restored() async throws {
        try await DAVClient.withCalendar { app, calendar in
            let before = try await app.properties(calendar, ["D:sync-token"]).first[.dav, "sync-token"]?.text
            let databaseID = try #require(try await app.server.front.services.store.read { try $0.databaseID() })
            #expect(before?.contains(databaseID) == true)
            let other = try await app.server.front.services.store.write { transaction in
                try transaction.forgetDatabaseID()
                return try transaction.identifyDatabase("another")
            }
            #expect(other == "another")
            #expect(try await app.server.front.services.store.write { try $0.identifyDatabase("third") } == "another")
        }
    }

    @Test("The line in the log names the route and a pseudonym, and neither the person nor the calendar")
    func log() async throws {
        try await DAVClient.withCalendar { app, calendar in
            try await app.put(calendar + "secret-name.ics", XML.event("a")).expect(201)
            let log = app.server.log.text
            #expect(log.contains("/dav/calendars/{user}/{collection}/{name}"))
            #expect(log.contains("app-password"))
            #expect(!log.contains("secret-name") && !log.contains(app.password) && !log.contains("own~x"))
        }
    }
}
