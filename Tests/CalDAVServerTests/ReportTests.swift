// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import ICalBridge
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

/// What reports of other servers got wrong, each by its name.
@Suite struct ReportTests {
    private static func event(_ uid: String, _ lines: String...) -> String {
        let all =
            ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Example//Test//EN", "BEGIN:VEVENT", "UID:\(uid)"]
            + ["DTSTAMP:20260301T000000Z", "SUMMARY:\(uid)"] + lines + ["END:VEVENT", "END:VCALENDAR", ""]
        return all.joined(separator: "\r\n")
    }

    @Test("Pitfall 4: deletions arrive, and a token that is not known is refused and never answered without them")
    func pitfall4() async throws {
        try await DAVClient.withCalendar { app, calendar in
            for name in ["a", "b"] { try await app.put("\(calendar)\(name).ics", XML.event(name)).expect(201) }
            let first = try await app.sync(calendar, nil)
            #expect(first.hrefs == ["\(calendar)a.ics", "\(calendar)b.ics"])
            let token = try #require(first.token)
            let none = try await app.sync(calendar, token)
            #expect(none.responses.isEmpty && none.token == token)
            try await app.send("DELETE", "\(calendar)a.ics").expect(204)
            try await app.put("\(calendar)c.ics", XML.event("c")).expect(201)
            let next = try await app.sync(calendar, token)
            #expect(next["\(calendar)a.ics"]?.status == "HTTP/1.1 404 Not Found")
            #expect(next["\(calendar)c.ics"]?[.dav, "getetag"] != nil)
            #expect(next.responses.count == 2)
            #expect(next.token != token)
            let other = try await app.makeCalendar("own~y")
            let wrong = [
                token + "9999", token.replacing("data:,", with: "data:,x"), "data:,\(token)x", "opaque",
                try #require(try await app.sync(other, nil).token),
            ]
            for token in wrong {
                let body = XML.root(
                    "D:sync-collection",
                    "<D:sync-token>\(token)</D:sync-token><D:sync-level>1</D:sync-level><D:prop><D:getetag/></D:prop>")
                let answer = try await app.send("REPORT", calendar, body, depth: "0").expect(403)
                #expect(answer.condition == "valid-sync-token", "\(token)")
            }
        }
    }

    @Test("Pitfall 6: Thunderbird's Depth 1 beside a sync-level is accepted")
    func pitfall6() async throws {
        try await DAVClient.withCalendar { app, calendar in
            try await app.put(calendar + "a.ics", XML.event("a")).expect(201)
            for depth in ["1", "0", nil] {
                #expect(try await app.sync(calendar, nil, depth: depth).hrefs == [calendar + "a.ics"])
            }
            let body = XML.root("D:sync-collection", "<D:sync-token/><D:sync-level>1</D:sync-level><D:prop/>")
            try await app.send("REPORT", calendar, body, depth: "infinity").expect(400)
        }
    }

    @Test("Pitfall 7: a token is a URI, and the property has the same as the report")
    func pitfall7() async throws {
        try await DAVClient.withCalendar { app, calendar in
            let token = try #require(try await app.sync(calendar, nil).token)
            #expect(token.hasPrefix("data:,") && token.contains("/"))
            let shown = try await app.properties(calendar, ["D:sync-token"]).first[.dav, "sync-token"]
            #expect(shown?.trimmed == token)
        }
    }

    @Test("Pitfall 13: one resource that cannot be answered is a 500 of its own, and its neighbours are there")
    func pitfall13() async throws {
        try await DAVClient.withCalendar { app, calendar in
            try await app.put(calendar + "a.ics", Self.event("a", "DTSTART:20260304T100000Z")).expect(201)
            try await app.put(
                calendar + "b.ics", Self.event("b", "DTSTART:20260301T100000Z", "RRULE:FREQ=MINUTELY")
            ).expect(201)
            try await app.put(calendar + "c.ics", Self.event("c", "DTSTART:20260305T100000Z")).expect(201)
            let span = "start=\"20260301T000000Z\" end=\"20270301T000000Z\""
            let found = try await app.report(
                calendar, "C:calendar-query",
                "<D:prop><C:calendar-data><C:expand \(span)/></C:calendar-data></D:prop>"
                    + DAVClient.filter("<C:time-range \(span)/>"), depth: "1")
            #expect(found.hrefs == ["a", "b", "c"].map { "\(calendar)\($0).ics" })
            #expect(found["\(calendar)b.ics"]?.status?.hasPrefix("HTTP/1.1 500") == true)
            for name in ["a", "c"] {
                let data = found["\(calendar)\(name).ics"]?[.caldav, "calendar-data"]
                #expect(data?.text.contains("UID:\(name)\r\n") == true)
            }
        }
    }

    @Test("Pitfall 16: a series is found years later, on its own clock on both sides of a change of the clocks")
    func pitfall16() async throws {
        try await DAVClient.withCalendar { app, calendar in
            let path = calendar + "a.ics"
            try await app.put(
                path,
                Self.event(
                    "a", "DTSTART;TZID=Europe/Berlin:20200106T090000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY",
                    "EXDATE;TZID=Europe/Berlin:20261109T090000")
            ).expect(201)
            // Nine o'clock is eight in UTC in winter, and seven in summer.
            let hits = [("20261026T080000Z", "20261026T080100Z"), ("20261019T070000Z", "20261019T070100Z")]
            for (start, end) in hits { #expect(try await app.query(calendar, start, end) == [path]) }
            let misses = [
                ("20261026T070000Z", "20261026T080000Z"), ("20261019T080000Z", "20261019T090000Z"),
                ("20261109T000000Z", "20261110T000000Z"), ("20191230T000000Z", "20191231T000000Z"),
            ]
            for (start, end) in misses { #expect(try await app.query(calendar, start, end).isEmpty) }
        }
    }

    @Test("A multiget takes any spelling of an address, and answers each once")
    func multiget() async throws {
        try await DAVClient.withCalendar { app, calendar in
            let other = try await app.makeCalendar("own~y")
            try await app.put(calendar + "a%20b.ics", XML.event("a")).expect(201)
            try await app.put(other + "c.ics", XML.event("c")).expect(201)
            let asked = [
                calendar + "a%20b.ics", calendar + "%61%20b.ics", "https://example.org\(calendar)a%20b.ics",
                calendar + "none.ics", other + "c.ics", "/elsewhere",
            ]
            let found = try await app.report(
                calendar, "C:calendar-multiget",
                "<D:prop><D:getetag/><C:calendar-data/></D:prop>"
                    + asked.map { "<D:href>\($0)</D:href>" }.joined())
            #expect(found.hrefs == [calendar + "a%20b.ics", calendar + "none.ics", other + "c.ics", "/elsewhere"])
            #expect(try found.first[.caldav, "calendar-data"]?.text == XML.event("a"))
            for response in found.responses.dropFirst() { #expect(response.status == "HTTP/1.1 404 Not Found") }
            try await app.send("REPORT", calendar, XML.root("C:calendar-multiget", "<D:prop/>")).expect(400)
        }
    }

    @Test("A limit cuts a list and its changes short with 507, and goes on from the token")
    func limits() async throws {
        try await DAVClient.withCalendar { app, calendar in
            let names = (0..<5).map { "\(calendar)\($0).ics" }
            for (index, name) in names.enumerated() { try await app.put(name, XML.event("\(index)")).expect(201) }
            func all(_ token: String?) async throws -> (found: [String], token: String?, steps: Int) {
                var (found, token, steps): ([String], String?, Int) = ([], token, 0)
                while true {
                    let page = try await app.sync(calendar, token, "<D:limit><D:nresults>2</D:nresults></D:limit>")
                    token = page.token
                    steps += 1
                    found += page.hrefs.filter { $0 != calendar }
                    guard let cut = page[calendar] else { return (found, token, steps) }
                    #expect(cut.status == "HTTP/1.1 507 Insufficient Storage")
                    #expect(page.responses.count <= 3 && steps < 10)
                }
            }
            let listed = try await all(nil)
            #expect(listed.found == names && listed.steps == 3)
            for (index, name) in names.enumerated() {
                try await app.put(name, XML.event("\(index)", "LOCATION:x")).expect(204)
            }
            #expect(try await all(listed.token).found.sorted() == names)
        }
    }

    @Test("A limit holds for what a single act changed, too, and nothing of it is left out")
    func limitWithinAct() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let app = try await DAVClient(server, "ann")
            let circle = "\(app.home)c/"
            for number in 0..<7 {
                try await server.put(
                    "appointments", "a\(number)",
                    ["patientId": "mom", "provider": "Dr", "startAt": .string("2026-03-0\(number + 1)T09:00:00Z")])
            }
            var token = try await app.sync(circle, nil).token
            // The patient's name is in the title of each.
            try await server.call(.put, "/v1/circles/c/patients/mom", ["displayName": "Granny"]).expect(200)
            try await server.call(.delete, "/v1/circles/c/appointments/a3").expect(204)
            var (found, steps): ([String], Int) = ([], 0)
            while true {
                let page = try await app.sync(circle, token, "<D:limit><D:nresults>2</D:nresults></D:limit>")
                (token, steps) = (page.token, steps + 1)
                let hrefs = page.hrefs.filter { $0 != circle }
                #expect(hrefs.count <= 2 && steps < 10)
                found += hrefs
                guard page[circle] != nil, steps < 10 else { break }
            }
            #expect(found.sorted() == (0..<7).map { "\(circle)a\($0).ics" })
            let whole = try await app.sync(circle, nil)
            #expect(token == whole.token)
        }
    }

    @Test("Filters that are not compared are refused by their conditions")
    func refusals() async throws {
        try await DAVClient.withCalendar { app, calendar in
            let range = "<C:time-range start=\"20260301T000000\" end=\"20260401T000000\"/>"
            let match = "<C:prop-filter name=\"SUMMARY\"><C:text-match collation=\"x\">a</C:text-match></C:prop-filter>"
            for (content, condition) in [
                (DAVClient.filter(range), "valid-filter"), ("", "valid-filter"),
                (DAVClient.filter(match), "supported-collation"),
                (DAVClient.filter("<C:other/>"), "supported-filter"),
            ] {
                let body = XML.root("C:calendar-query", "<D:prop><D:getetag/></D:prop>\(content)")
                let answer = try await app.send("REPORT", calendar, body, depth: "1").expect(403)
                #expect(answer.condition == condition)
            }
        }
    }

    @Test("Free-busy time is that of what is opaque and not cancelled")
    func freeBusy() async throws {
        try await DAVClient.withCalendar { app, calendar in
            let start = "DTSTART:20260304T100000Z"
            try await app.put(calendar + "a.ics", Self.event("a", start, "DURATION:PT1H")).expect(201)
            try await app.put(calendar + "b.ics", Self.event("b", start, "DURATION:PT9H", "TRANSP:TRANSPARENT"))
                .expect(201)
            try await app.put(calendar + "c.ics", Self.event("c", start, "DURATION:PT9H", "STATUS:CANCELLED"))
                .expect(201)
            let body = XML.root(
                "C:free-busy-query", "<C:time-range start=\"20260304T000000Z\" end=\"20260305T000000Z\"/>")
            let answer = try await app.send("REPORT", calendar, body, depth: "1").expect(200)
            #expect(answer.headers[.contentType]?.hasPrefix("text/calendar") == true)
            #expect(answer.text.contains("FREEBUSY:20260304T100000Z/20260304T110000Z\r\n"))
            #expect(answer.text.ranges(of: "FREEBUSY:2").count == 1)
        }
    }

    @Test("Principals find themselves, and what their properties name")
    func principals() async throws {
        try await DAVClient.withCalendar { app, _ in
            let principal = "/dav/principals/ann/"
            let body =
                "<D:property name=\"current-user-principal\"><D:property name=\"calendar-home-set\" "
                + "namespace=\"urn:ietf:params:xml:ns:caldav\"/></D:property><D:property name=\"none\"/>"
            let expanded = try await app.report("/dav/", "D:expand-property", body).first
            #expect(expanded.names(404) == ["none"])
            let inner = try #require(expanded[.dav, "current-user-principal"]?.child(.dav, "response"))
            let nested = try Multistatus.Response(inner)
            #expect(nested.href == principal)
            #expect(nested[.caldav, "calendar-home-set"]?.child(.dav, "href")?.trimmed == app.home)

            func search(_ text: String) async throws -> [String] {
                try await app.report(
                    "/dav/principals/", "D:principal-property-search",
                    "<D:property-search><D:prop><C:calendar-user-address-set/></D:prop><D:match>\(text)</D:match>"
                        + "</D:property-search><D:prop><D:displayname/></D:prop>"
                ).hrefs
            }
            #expect(try await search("PRINCIPALS/ann") == [principal])
            #expect(try await search("bob").isEmpty)
            let set = try await app.send(
                "REPORT", "/dav/principals/", XML.root("D:principal-search-property-set", "")
            ).expect(200)
            let root = try XMLReader.read(set.body)
            #expect(root.is(.dav, "principal-search-property-set"))
            #expect(root.children(.dav, "principal-search-property").count == 3)
        }
    }

    @Test("Multiget and query at the home find resources of all calendars, and says what is none")
    func multigetAtHome() async throws {
        try await DAVClient.withCalendar { app, calendar in
            let other = try await app.makeCalendar("own~y")
            try await app.put(calendar + "a.ics", XML.event("a")).expect(201)
            try await app.put(other + "b.ics", XML.event("b")).expect(201)
            let hrefs = [
                calendar + "a.ics", other + "b.ics", calendar + "none.ics", "\(app.home)none/a.ics", calendar + "a.ics",
            ]
            let found = try await app.report(
                app.home, "C:calendar-multiget",
                "<D:prop><D:getetag/><C:calendar-data/></D:prop>" + hrefs.map { "<D:href>\($0)</D:href>" }.joined())
            #expect(found.responses.count == 4)
            for (path, uid) in [(calendar + "a.ics", "a"), (other + "b.ics", "b")] {
                #expect(found[path]?[.caldav, "calendar-data"]?.text.contains("UID:\(uid)\r\n") == true, "\(path)")
            }
            for path in [calendar + "none.ics", "\(app.home)none/a.ics"] {
                #expect(found[path]?.status == "HTTP/1.1 404 Not Found", "\(path)")
            }
            let all = try await app.query(app.home, "20260304T000000Z", "20260305T000000Z")
            #expect(all.filter { $0 == calendar + "a.ics" || $0 == other + "b.ics" }.count == 2)
            let later = try await app.query(app.home, "20260305T000000Z", "20260306T000000Z")
            #expect(!later.contains { $0.hasPrefix(calendar) || $0.hasPrefix(other) })
        }
    }

    @Test("A report's time zone is one zone and nothing else, and the last that a person set is the collection's")
    func zones() async throws {
        try await DAVClient.withCalendar { app, calendar in
            func object(_ zone: String, _ more: String = "") -> String {
                "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nBEGIN:VTIMEZONE\nTZID:\(zone)\nBEGIN:STANDARD\n"
                    + "DTSTART:19700101T000000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0100\nEND:STANDARD\n"
                    + "END:VTIMEZONE\n\(more)END:VCALENDAR\n"
            }
            let query = "<D:prop><D:getetag/></D:prop>" + DAVClient.filter("")
            let event = "BEGIN:VEVENT\nUID:x\nDTSTART:20260101T000000Z\nEND:VEVENT\n"
            for (zone, status) in [(object("Europe/Rome"), 207), (object("Europe/Rome", event), 403)] {
                let body = XML.root("C:calendar-query", query + "<C:timezone>\(zone)</C:timezone>")
                try await app.send("REPORT", calendar, body, depth: "1").expect(status)
            }
            func name() async throws -> String? {
                try await app.properties(calendar, ["C:calendar-timezone-id"]).first[.caldav, "calendar-timezone-id"]?
                    .text
            }
            #expect(try await name() == nil)
            for (property, expected) in [
                ("<C:calendar-timezone>\(object("Europe/Rome"))</C:calendar-timezone>", "Europe/Rome"),
                ("<C:calendar-timezone-id>Europe/Berlin</C:calendar-timezone-id>", "Europe/Berlin"),
                ("<C:calendar-timezone>\(object("Europe/Oslo"))</C:calendar-timezone>", "Europe/Oslo"),
            ] {
                try await app.send("PROPPATCH", calendar, XML.set(property)).expect(207)
                #expect(try await name() == expected)
            }
        }
    }

    @Test("A property of the home that names a calendar is expanded, at Depth 0 alone")
    func expansionOfHome() async throws {
        try await DAVClient.withCalendar { app, calendar in
            let set = XML.set("<x:see xmlns:x=\"urn:x\"><D:href>\(calendar)</D:href></x:see>")
            try await app.send("PROPPATCH", app.home, set).expect(207)
            let asked =
                "<D:property name=\"see\" namespace=\"urn:x\"><D:property name=\"displayname\"/></D:property>"
            let found = try await app.report(app.home, "D:expand-property", asked).first
            let nested = found[.other("urn:x"), "see"]?.child(.dav, "response")
            #expect(nested?.child(.dav, "href")?.trimmed == calendar)
            let body = XML.root("D:expand-property", asked)
            try await app.send("REPORT", app.home, body, depth: "1").expect(400)
        }
    }
}
