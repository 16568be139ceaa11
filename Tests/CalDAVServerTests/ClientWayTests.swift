// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import TestSupport
import Testing

@testable import ServerTestSupport

/// Something that an app does in its own way, and what the door does for it; the door does it for everybody.
private struct ClientWay: Sendable {
    let app: String
    let does: String
    let answer: String
    /// `[code]` is the app's own source code, `[issue]` a report.
    let source: String
    /// Tries it with a calendar that has the event `a.ics`.
    let check: @Sendable (_ app: DAVClient, _ calendar: String) async throws -> Void

    init(
        _ app: String, _ does: String, _ answer: String, _ source: String,
        _ check: @escaping @Sendable (_ app: DAVClient, _ calendar: String) async throws -> Void
    ) {
        (self.app, self.does, self.answer, self.source, self.check) = (app, does, answer, source, check)
    }

    private static let apple = "iPhone, iPad, Mac"
    private static let outlook = "Outlook CalDav Synchronizer"

    static let all: [ClientWay] = [
        ClientWay(
            apple, "macOS 26 follows no redirect from `/.well-known/caldav`", "PROPFIND is answered there",
            "[issue] nextcloud/documentation#13945"
        ) { app, _ in
            let found = try await app.properties("/.well-known/caldav", ["D:current-user-principal"]).first
            #expect(found[.dav, "current-user-principal"] != nil)
        },
        ClientWay(
            apple, "ask every resource for `principal-URL`", "every resource has it",
            "[code] apple/ccs-calendarserver 13c706b9, requests of OS X and iOS"
        ) { app, calendar in
            for path in ["/dav/", app.home, calendar, calendar + "a.ics"] {
                let found = try await app.properties(path, ["D:principal-URL"]).first
                #expect(found[.dav, "principal-URL"] != nil, "\(path)")
            }
        },
        ClientWay(
            apple, "send `Brief: t`", "it is `Prefer: return=minimal`", "RFC 8144 appendix B"
        ) { app, calendar in
            let brief: HTTPFields = [try #require(HTTPField.Name("Brief")): "t"]
            let (short, long) = (
                try await app.properties(calendar, ["D:nothing"], headers: brief).first,
                try await app.properties(calendar, ["D:nothing"]).first
            )
            #expect(short.names(404).isEmpty && long.names(404) == ["nothing"])
        },
        ClientWay(
            apple, "stop after a 403 to colours, orders and default alarms, which they set of the home, too",
            "these are kept as they came, also where nothing else may be changed",
            "[issue] sabre-io/dav#935, [code] apple/ccs-calendarserver 13c706b9"
        ) { app, calendar in
            let color = "<A:calendar-color symbolic-color=\"red\">#FF0000FF</A:calendar-color>"
            let alarm = "<C:default-alarm-vevent-date>BEGIN:VALARM</C:default-alarm-vevent-date>"
            let reader = try await DAVClient(app.server, app.user, ["access": "read"])
            for (path, value) in [(calendar, color), (app.home, alarm)] {
                let answer = try Multistatus(
                    try await reader.send("PROPPATCH", path, XML.set(value)).expect(207)
                ).first
                #expect(answer.names(200).count == 1, "\(path)")
            }
            let kept = try await app.properties(calendar, ["A:calendar-color"]).first[.apple, "calendar-color"]
            #expect(kept?.attribute("symbolic-color") == "red" && kept?.text == "#FF0000FF")
        },
        ClientWay(
            "Thunderbird", "sends `Depth: 1` with `sync-collection`", "it is answered as `Depth: 0` is",
            "[code] comm-central CalDavRequestHandlers.sys.mjs"
        ) { app, calendar in
            let found = try await app.sync(calendar, nil, depth: "1")
            #expect(found.hrefs == [calendar + "a.ics"])
        },
        ClientWay(
            "Thunderbird", "takes a calendar with `write-properties` for one that it may change",
            "who may only read has no such privilege, although their colours are kept",
            "[code] comm-central CalDavCalendar.sys.mjs"
        ) { app, calendar in
            let reader = try await DAVClient(app.server, app.user, ["access": "read"])
            let set = try await reader.properties(calendar, ["D:current-user-privilege-set"]).first
            let names = set[.dav, "current-user-privilege-set"]?.children.flatMap(\.children).map(\.name) ?? []
            #expect(names.contains { $0 == "read" } && !names.contains { $0.hasPrefix("write") })
        },
        ClientWay(
            "DAVx5", "looks for `calendar-access` in the answer to OPTIONS of the principal", "it is there",
            "[code] bitfireAT/davx5-ose 2534c16"
        ) { app, _ in
            let answer = try await app.send("OPTIONS", "/dav/principals/\(app.user)/").expect(200)
            #expect(answer.headers[try #require(HTTPField.Name("DAV"))]?.contains("calendar-access") == true)
        },
        ClientWay(
            "Evolution, GNOME", "forget a token that has neither `:` nor `/`", "a token is a URI",
            "[code] GNOME/evolution-data-server ccb3cba"
        ) { app, calendar in
            let token = try #require(try await app.sync(calendar, nil).token)
            #expect(token.contains(":") && token.contains("/"))
        },
        ClientWay(
            "KOrganizer", "looks by `getctag` for what changed", "every collection has it", "[code] KDE/kdav e0c40ed"
        ) { app, calendar in
            let before = try await app.properties(calendar, ["CS:getctag"]).first[.calendarServer, "getctag"]?.text
            try await app.put(calendar + "b.ics", XML.event("b")).expect(201)
            let after = try await app.properties(calendar, ["CS:getctag"]).first[.calendarServer, "getctag"]?.text
            #expect(before != nil && after != nil && before != after)
        },
        ClientWay(
            outlook, "lists only what has a name and a set of components", "every collection has both",
            "[code] aluxnimm/outlookcaldavsynchronizer 554ecb9"
        ) { app, _ in
            let names = ["D:displayname", "C:supported-calendar-component-set", "D:resourcetype"]
            let all = try await app.properties(app.home, names, depth: "1").responses
                .filter { $0[.dav, "resourcetype"]?.child(.caldav, "calendar") != nil }
            #expect(all.count == 3)
            for one in all {
                #expect(one[.dav, "displayname"]?.text.isEmpty == false)
                #expect(one[.caldav, "supported-calendar-component-set"]?.children.isEmpty == false)
            }
        },
        ClientWay(
            outlook, "makes a calendar with an MKCOL without a body", "a calendar is all that is made here",
            "[code] aluxnimm/outlookcaldavsynchronizer 554ecb9"
        ) { app, _ in
            try await app.send("MKCOL", app.home + "made/").expect(201)
            let type = try await app.properties(app.home + "made/", ["D:resourcetype"]).first[.dav, "resourcetype"]
            #expect(type?.child(.caldav, "calendar") != nil)
        },
        ClientWay(
            "python-caldav, Home Assistant", "name the properties of a `principal-property-search` outside `prop`",
            "they are answered, too", "[code] python-caldav/caldav 88a223d"
        ) { app, _ in
            let search =
                "<D:property-search><D:prop><D:displayname/></D:prop><D:match>Ann</D:match></D:property-search>"
            let body = XML.root("D:principal-property-search", search + "<D:prop/><C:calendar-home-set/>")
            let found = try Multistatus(try await app.send("REPORT", "/dav/", body, depth: "0").expect(207)).first
            #expect(found[.caldav, "calendar-home-set"] != nil)
        },
    ]
}

@Suite struct ClientWayTests {
    @Test("Each app's way is answered as its row says", arguments: ClientWay.all.indices)
    func way(index: Int) async throws {
        try await DAVClient.withCalendar { app, calendar in
            try await app.put(calendar + "a.ics", XML.event("a")).expect(201)
            try await ClientWay.all[index].check(app, calendar)
        }
    }

    @Test("The table of apps' ways in docs/caldav-accounts.md is this one; KALENDS_WRITE_DOCS=1 writes it")
    func document() throws {
        try expectTable(
            "ways of apps", in: "docs/caldav-accounts.md",
            ["| app | what it does | what the server does, for every app | known from |", "| --- | --- | --- | --- |"]
                + ClientWay.all.map { "| \($0.app) | \($0.does) | \($0.answer) | \($0.source) |" })
    }

    @Test("No code of the door depends on which app asks, or names one")
    func code() throws {
        let words = [
            "apple's", "macos", "ios ", "thunderbird", "davx5", "evolution", "korganizer", "outlook", "python-",
        ]
        var lines = 0
        for folder in ["CalDAVServer", "KalendsCore/Calendars", "ICalBridge/CalDAV"] {
            let root = packageRoot.appending(path: "Sources/\(folder)")
            let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
            for case let file as URL in files where file.pathExtension == "swift" {
                for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                    lines += 1
                    let place = "\(file.lastPathComponent): \(line)"
                    // A user agent is counted, and decides nothing.
                    if line.contains(".userAgent") { #expect(line.contains("userAgent: request.headers"), "\(place)") }
                    guard let comment = line.range(of: "//") else { continue }
                    let text = line[comment.upperBound...].lowercased()
                    #expect(!words.contains { text.contains($0) }, "\(place)")
                }
            }
        }
        #expect(lines > 4000)
    }
}
