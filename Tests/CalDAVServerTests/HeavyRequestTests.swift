// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import ICalBridge
import Storage
import Testing

@testable import CalDAVServer
@testable import KalendsCore
@testable import ServerTestSupport

/// Small requests that could make much work.
@Suite struct HeavyRequestTests {
    @Test("A property that names its own resource is not expanded into megabytes")
    func expansion() async throws {
        try await DAVClient.withCalendar { app, calendar in
            let links = String(repeating: "<D:href>\(calendar)</D:href>", count: 190)
            let large = String(repeating: "x", count: 40_000)
            let properties = "<q:links xmlns:q=\"q\">\(links)</q:links><q:large xmlns:q=\"q\">\(large)</q:large>"
            try await app.send("PROPPATCH", calendar, XML.set(properties)).expect(207)
            func expand(_ count: Int) async throws -> Answer {
                let asked = String(repeating: "<D:property name=\"large\" namespace=\"q\"/>", count: count)
                return try await app.send(
                    "REPORT", calendar,
                    XML.root("D:expand-property", "<D:property name=\"links\" namespace=\"q\">\(asked)</D:property>"))
            }
            try await expand(0).expect(207)
            // 190 times 40 kB.
            try await expand(1).expect(400)
            try await expand(20).expect(400)
        }
    }

    @Test("The name of a property is the name of an element, and nothing that an answer would be changed by")
    func expandedNames() async throws {
        try await DAVClient.withCalendar { app, calendar in
            for name in ["x/&gt;&lt;D:evil", "a b", "", "1", String(repeating: "x", count: 100_000)] {
                try await app.send(
                    "REPORT", calendar, XML.root("D:expand-property", "<D:property name=\"\(name)\"/>")
                ).expect(400)
            }
        }
    }

    @Test("A property that is asked for hundreds of times is answered once")
    func askedAgain() async throws {
        try await DAVClient.withCalendar { app, calendar in
            let large = String(repeating: "x", count: 60_000)
            try await app.send("PROPPATCH", calendar, XML.set("<q:large xmlns:q=\"q\">\(large)</q:large>")).expect(207)
            let asked = String(repeating: "<q:large xmlns:q=\"q\"/>", count: 200)
            let body = XML.root("D:propfind", "<D:prop>\(asked)<D:none/><D:none/></D:prop>")
            let answer = try await app.send("PROPFIND", app.home, body, depth: "1").expect(207)
            #expect(answer.body.count < 100_000)
            let found = try #require(try Multistatus(answer)[calendar])
            #expect(found.names(200) == ["large"] && found.names(404) == ["none"])
        }
    }

    @Test("A calendar has hundreds of small properties at most, and one more is 507 in its propstat")
    func smallProperties() async throws {
        try await DAVClient.withCalendar { app, calendar in
            func count(_ letter: String, _ status: Int) async throws -> Int {
                let all = (0..<200).map { "<\(letter)\($0)/>" }.joined()
                let answer = try await app.send("PROPPATCH", calendar, XML.set(all)).expect(207)
                return try Multistatus(answer).first.names(status).count
            }
            let counts = [
                try await count("a", 200), try await count("b", 200), try await count("c", 507),
                try await count("a", 200),
            ]
            #expect(counts == [200, 200, 200, 200])
        }
    }

    @Test("A property that is set thousands of times costs as much as once, and the last value counts")
    func repetition() throws {
        let language = String(repeating: "y", count: 200_000)
        let again = String(repeating: "<a/><b/>", count: 15_000)
        let text = """
            <D:propertyupdate xmlns:D="DAV:" xml:lang="\(language)"><D:set><D:prop>\(again)<a>1</a></D:prop></D:set>\
            <D:remove><D:prop><b/></D:prop></D:remove></D:propertyupdate>
            """
        let body = try XMLReader.read(Array(text.utf8), limits: .request)
        let clock = ContinuousClock()
        let began = clock.now
        let update = try PropertyUpdate(body)
        // Written again each time, they would be 6 GB.
        #expect(clock.now - began < .seconds(20))
        #expect(update.set.map(\.name) == ["a"])
        #expect(update.removed.map(\.name.string) == ["b"])
        #expect(update.names.map(\.name.string) == ["a", "b"])
        #expect(try #require(update.set.first).xml.suffix(6).elementsEqual(">1</a>".utf8))
    }

    @Test("What the elements around properties declare is not written again without a limit")
    func declarations() throws {
        let language = String(repeating: "y", count: 200_000)
        let names = (0..<200).map { "<a\($0)/>" }.joined()
        let text = """
            <D:propertyupdate xmlns:D="DAV:" xml:lang="\(language)"><D:set><D:prop>\(names)</D:prop></D:set>\
            </D:propertyupdate>
            """
        let body = try XMLReader.read(Array(text.utf8), limits: .request)
        #expect(throws: DAVFault.self) { try PropertyUpdate(body) }
    }

    @Test("Large texts are read a few at a time, and all of them are answered")
    func largeTexts() async throws {
        try await DAVClient.withCalendar { app, calendar in
            let line = "X-LARGE:" + String(repeating: "y", count: 400_000)
            let names = (0..<6).map { "\($0).ics" }
            for name in names { try await app.put(calendar + name, XML.event(name, line)).expect(201) }
            try await app.put(calendar + "small.ics", XML.event("small")).expect(201)
            let all = names.map { calendar + $0 } + [calendar + "small.ics"]

            let caller = CalDAVCaller(passwordID: "p", userID: "ann", mayWrite: true, circleIDs: nil, own: true)
            let place = try #require(try await app.server.services.collections.find("own~x", of: caller))
            let page = try await place.source.resources(
                of: place.collection, component: nil, span: nil, after: nil, limit: 50)
            #expect(page.map(\.member.name) == ["0.ics", "1.ics"])
            let dated = try await place.source.resources(
                of: place.collection, component: .event, span: 1_700_000_000..<1_900_000_000, after: "1.ics", limit: 50)
            #expect(dated.map(\.member.name) == ["2.ics", "3.ics"])

            let data = "<D:prop><C:calendar-data/></D:prop>"
            let hrefs = (all + [calendar + "none.ics"]).map { "<D:href>\($0)</D:href>" }.joined()
            let got = try await app.report(calendar, "C:calendar-multiget", data + hrefs)
            #expect(got.hrefs == all + [calendar + "none.ics"])
            let found = try await app.report(calendar, "C:calendar-query", data + DAVClient.filter(""))
            #expect(found.hrefs == all)
            let token = "<D:sync-token/><D:sync-level>1</D:sync-level>"
            let synced = try await app.report(calendar, "D:sync-collection", token + data, depth: "0")
            #expect(synced.hrefs == all)
            for answer in [got, found, synced] {
                for href in all {
                    let text = try #require(answer[href]?[.caldav, "calendar-data"]).bytes
                    #expect(text.count > 100)
                }
            }
        }
    }

    @Test("The first elements that fit into a number of bytes are at least one")
    func fitting() {
        let sizes = [5, 3, 3, 1]
        #expect(sizes.fitting(8) { $0 } == [5, 3])
        #expect(sizes.fitting(4) { $0 } == [5])
        #expect(sizes.fitting(.max) { $0 } == sizes)
        #expect([Int]().fitting(8) { $0 }.isEmpty)
    }
}
