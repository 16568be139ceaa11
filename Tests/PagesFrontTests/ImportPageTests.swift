// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import HTTPTypes
import KalendsCore
import NIOCore
import TestSupport
import Testing

@testable import KalendsFront
@testable import ServerTestSupport

@Suite("The import's pages")
struct ImportPageTests {
    private static let path = "/app/circles/c/import"

    private static func file(_ titles: [String]) -> String {
        let events = titles.enumerated().map { index, title in
            "BEGIN:VEVENT\r\nUID:e\(index)\r\nDTSTART:2026030\(index + 3)T100000Z\r\nSUMMARY:\(title)\r\nEND:VEVENT\r\n"
        }
        return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n" + events.joined() + "END:VCALENDAR\r\n"
    }

    /// Reloads a page until nothing is under way any more, as a browser without scripts does.
    private static func waited(_ browser: Browser, _ page: Answer) async throws -> Answer {
        var page = page
        let location = try #require(browser.history.last)
        while page.text.contains("http-equiv=\"refresh\"") {
            try await Task.sleep(for: .milliseconds(50))
            page = try await browser.open(location)
        }
        return page
    }

    private static func titles(_ server: TestServer) async throws -> String {
        try await server.call(.get, "/v1/circles/c/export.ics").expect(200).text
    }

    @Test(
        "A file is looked at, single events are left out, the rest comes in, and Undo takes it back; two tabs do no harm"
    )
    func wizard() async throws {
        try await TestServer.withPasswords { server in
            let ann = try await Browser.signedIn("ann", server)
            let start = try await ann.open(Self.path).expect(200)
            let sent = try await ann.upload(start, to: Self.path, Self.file(["Match", "Training <b>", "Party"]))
            let preview = try await Self.waited(ann, sent.expect(200))
            #expect(preview.text.contains("Training &lt;b&gt;") && !preview.text.contains("Training <b>"))
            #expect(try await !Self.titles(server).contains("SUMMARY:Match"))
            let location = try #require(ann.history.last)
            let boxes = preview.text.matches(
                of: /name="exclude"[^>]*value="([^"]+)"|value="([^"]+)"[^>]*name="exclude"/
            )
            .map { String($0.1 ?? $0.2 ?? "") }
            #expect(boxes.count == 3)
            let progress = try await ann.open("\(location)/progress").expect(200)
            #expect(progress.json["done"] == true)
            let done = try await Self.waited(
                ann, try await ann.send(preview, to: "\(location)/commit", ["exclude": boxes[1]]).expect(200))
            let calendar = try await Self.titles(server)
            #expect(calendar.contains("SUMMARY:Match") && calendar.contains("SUMMARY:Party"))
            #expect(!calendar.contains("Training"))
            // A second tab with the preview: what it asks for is done already.
            try await ann.send(preview, to: "\(location)/commit").expect(200)
            try await ann.send(preview, to: "\(location)/discard").expect(200)
            #expect(try await Self.titles(server).contains("SUMMARY:Match"))
            #expect(done.text.contains("2 events were imported."))
            // Whoever has left the page finds it under "Import", with the way back.
            let list = try await ann.open(Self.path).expect(200)
            #expect(list.text.contains("href=\"\(location)\"") && list.text.contains("action=\"\(location)/undo\""))
            let undone = try await ann.send(list, to: "\(location)/undo").expect(200)
            #expect(undone.text.contains("no longer in the calendar") && !undone.text.contains("SUMMARY"))
            #expect(!undone.text.contains("import-title"))
            #expect(try await !Self.titles(server).contains("SUMMARY:Match"))
            let after = try await ann.open(Self.path).expect(200)
            #expect(after.text.contains("Undone") && !after.text.contains("action=\"\(location)/undo\""))
            try await ann.send(done, to: "\(location)/undo").expect(200)
            try await ann.open(location).expect(200)
        }
    }

    @Test("To-dos become tasks where the person chooses so, and the report counts them")
    func toDos() async throws {
        try await TestServer.withPasswords { server in
            let ann = try await Browser.signedIn("ann", server)
            let start = try await ann.open(Self.path).expect(200)
            let file = Self.file(["Match"]).replacing(
                "END:VCALENDAR",
                with: """
                    BEGIN:VTODO\r\nUID:t\r\nDUE:20260305T100000Z\r\nSUMMARY:Pay\r\nEND:VTODO\r\nEND:VCALENDAR
                    """)
            let preview = try await Self.waited(ann, try await ann.upload(start, to: Self.path, file).expect(200))
            let location = try #require(ann.history.last)
            #expect(preview.text.contains("<strong>1</strong> to-do<"))
            #expect(preview.text.firstMatch(of: /name="todos" value="tasks"[^>]* checked>/) == nil)
            let form = try #require(HTMLForm.all(in: preview.text).first { $0.action == location + "/commit" })
            let turned = try await ann.post(location + "/page", form.filled([:]) + [("todos", "tasks"), ("to", "0")])
            #expect(turned.text.firstMatch(of: /name="todos" value="tasks"[^>]* checked>/) != nil)
            let done = try await Self.waited(
                ann, try await ann.send(turned, to: "\(location)/commit", ["todos": "tasks"]).expect(200))
            #expect(done.text.contains("<strong>1</strong> to-do as a task<"))
            let tasks = try await server.call(.get, "/v1/circles/c/tasks").expect(200)
            #expect(tasks.json["items"]?.array?.map { $0["title"] } == ["Pay"])
        }
    }

    @Test("All events of one title are left out by one box, compared as bytes, without scripts too")
    func sameTitle() async throws {
        try await TestServer.withPasswords { server in
            let ann = try await Browser.signedIn("ann", server)
            let start = try await ann.open(Self.path).expect(200)
            // The last two look the same and are other bytes.
            let titles = ["Training", "Match", "Training", "Caf\u{E9}", "Cafe\u{301}"]
            let preview = try await Self.waited(ann, try await ann.upload(start, to: Self.path, Self.file(titles)))
            let location = try #require(ann.history.last)
            let groups = preview.text.matches(of: /name="same" value="([0-9]+)"/).map { String($0.1) }
            #expect(groups == ["0"] && preview.text.contains("<bdi>Training</bdi> <span class=\"quiet-text\">2 events"))
            let form = try #require(HTMLForm.all(in: preview.text).first { $0.action == location + "/commit" })
            let turned = try await ann.post(
                location + "/page", form.filled([:]) + [("same", "0"), ("same", "3"), ("to", "0")]
            ).expect(200)
            #expect(turned.text.matches(of: /name="exclude"[^>]* checked>/).count == 3)
            #expect(turned.text.firstMatch(of: /name="same" value="0"[^>]* checked>/) != nil)
            // Neither a text that is not a number nor a number beyond the list leaves anything out.
            try await Self.waited(
                ann,
                try await ann.post(
                    location + "/commit", form.filled([:]) + ["0", "99", "-1", "x"].map { ("same", $0) }
                ).expect(200)
            ).expect(200)
            let calendar = try await Self.titles(server)
            #expect(!calendar.contains("SUMMARY:Training") && calendar.contains("SUMMARY:Match"))
            #expect(calendar.components(separatedBy: "SUMMARY:Caf").count == 3)
        }
    }

    @Test("Of a list of several pages every page keeps what is left out of the others")
    func pages() async throws {
        try await TestServer.withPasswords { server in
            let ann = try await Browser.signedIn("ann", server)
            let start = try await ann.open(Self.path).expect(200)
            let events = (0..<1_050).map { number in
                "BEGIN:VEVENT\r\nUID:n\(number)\r\nDTSTART:20260303T100000Z\r\nSUMMARY:No \(number).\r\nEND:VEVENT\r\n"
            }
            let file = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n" + events.joined() + "END:VCALENDAR\r\n"
            let first = try await Self.waited(ann, try await ann.upload(start, to: Self.path, file).expect(200))
            let location = try #require(ann.history.last)
            func turned(_ page: Answer, to: Int, leaving numbers: String) async throws -> Answer {
                let form = try #require(HTMLForm.all(in: page.text).first { $0.action == location + "/commit" })
                return try await ann.post(
                    location + "/page", form.filled(["exclude": numbers]) + [("to", String(to))]
                ).expect(200)
            }
            func checked(_ page: Answer) -> Int { page.text.matches(of: /name="exclude"[^>]* checked>/).count }
            let second = try await turned(first, to: 1000, leaving: "0,3")
            #expect(second.text.contains("No 1049.") && !second.text.contains("No 5.") && checked(second) == 0)
            #expect(second.text.contains("2 events on other pages are left out."))
            // Back at the first page its boxes are as they were, and one of them is switched off.
            let again = try await turned(second, to: 0, leaving: "1001,1049")
            #expect(checked(again) == 2 && again.text.contains("2 events on other pages are left out."))
            let last = try await turned(again, to: 1000, leaving: "3,4")
            #expect(checked(last) == 2)
            let done = try await Self.waited(ann, try await ann.send(last, to: location + "/commit").expect(200))
            #expect(done.status == 200)
            let calendar = try await Self.titles(server)
            for number in 0..<1_050 {
                let isOut = [3, 4, 1001, 1049].contains(number)
                #expect(calendar.contains("SUMMARY:No \(number).") != isOut, "\(number)")
            }
        }
    }

    @Test("What cannot be brought in is said at the form; a preview can be thrown away; nobody else's rights are wider")
    func refusals() async throws {
        try await TestServer.withPasswords { server in
            let ann = try await Browser.signedIn("ann", server)
            let start = try await ann.open(Self.path).expect(200)
            for fields in [["url": ""], ["url": "http://127.0.0.1/x.ics"], ["url": "nonsense"]] {
                let form = try #require(HTMLForm.all(in: start.text).last { $0.names.contains("url") })
                let answer = try await ann.post(Self.path, form.filled(fields)).expect(422)
                #expect(answer.text.contains("aria-invalid=\"true\""))
            }
            try await ann.upload(start, to: Self.path, "").expect(422)
            let token = HTMLForm.all(in: start.text).first?.token
            for wrong in ["", "x", token.map { String($0.reversed()) } ?? ""] {
                try await ann.upload(start, to: Self.path, Self.file(["A"]), token: wrong).expect(403)
            }
            let nothing = try await Self.waited(
                ann, try await ann.upload(start, to: Self.path, "This is no calendar.").expect(200))
            #expect(nothing.text.contains("class=\"problems\"") || nothing.text.contains("role=\"alert\""))
            let preview = try await Self.waited(ann, try await ann.upload(start, to: Self.path, Self.file(["A"])))
            let index = try #require(ann.history.last)
            _ = try await server.call(.put, "/v1/circles/c/members/ben", ["displayName": "Ben", "role": "viewer"])
            let ben = try await Browser.signedIn("ben", server)
            // What is not committed does not exist for other members.
            for role in ["viewer", "member", "owner"] {
                let person: JSONValue = ["displayName": "Ben", "role": .string(role)]
                _ = try await server.call(.put, "/v1/circles/c/members/ben", person)
                for path in [index, "\(index)/progress"] { try await ben.open(path).expect(404) }
                let other = try #require(HTMLForm.all(in: try await ben.open("/app/account").text).first?.token)
                for verb in ["page", "commit", "undo", "discard"] {
                    let expected = role == "viewer" && verb == "page" ? 403 : 404
                    try await ben.post("\(index)/\(verb)", [("token", other)]).expect(expected)
                }
                guard role != "viewer" else { continue }
                let id = try #require(index.split(separator: "/").last)
                #expect(!(try await ben.open(Self.path).expect(200)).text.contains(String(id)))
            }
            try await ann.send(preview, to: "\(index)/discard").expect(200)
            try await ann.open(index).expect(404)
            _ = try await server.call(.put, "/v1/circles/d", ["name": "D", "timeZone": "UTC"])
            _ = try await server.call(.put, "/v1/circles/d/members/ann", ["displayName": "Ann", "role": "owner"])
            let mine = try await Self.waited(ann, try await ann.upload(start, to: Self.path, Self.file(["B"])))
            #expect(mine.status == 200)
            let elsewhere = try #require(ann.history.last).replacing("/circles/c/", with: "/circles/d/")
            try await ann.open(elsewhere).expect(404)
        }
    }

    @Test("A form may leave out numbers far beyond the list's end, and they cost nothing", .timeLimit(.minutes(1)))
    func farNumbers() async throws {
        try await TestServer.withPasswords { server in
            let ann = try await Browser.signedIn("ann", server)
            let start = try await ann.open(Self.path).expect(200)
            let preview = try await Self.waited(
                ann, try await ann.upload(start, to: Self.path, Self.file(["Match", "Party"])).expect(200))
            let location = try #require(ann.history.last)
            // The first event, and then more than a million that are not there.
            let left = Base64URL.encode([0b1111_1101] + [UInt8](repeating: 0xFF, count: 190_000))
            let form = try #require(HTMLForm.all(in: preview.text).first { $0.names.contains("left") })
            let sent = [("token", form.token ?? ""), ("left", left), ("first", "0"), ("count", "0")]
            let turned = try await ann.post("\(location)/page", sent).expect(200)
            let carried = Base64URL.encode([0b1111_1100] + [UInt8](repeating: 0xFF, count: 190_000))
            #expect(turned.text.contains("name=\"left\" value=\"\(carried)\""))
            _ = try await Self.waited(ann, try await ann.post("\(location)/commit", sent).expect(200))
            let calendar = try await Self.titles(server)
            #expect(calendar.contains("SUMMARY:Party") && !calendar.contains("SUMMARY:Match"))
        }
    }

    @Test("What is left out is carried as bits, and a page's boxes replace its own")
    func leftOut() {
        var left = LeftOut()
        #expect(left.text.isEmpty && left.count == 0 && !left.contains(0) && left.first(from: 0) == nil)
        left.set(0..<1000, to: [3, 999, 1000, 5_000_000])
        left.set(1000..<2000, to: [1000])
        #expect(left.count == 3 && left.contains(3) && left.contains(1000) && !left.contains(4))
        #expect(left.first(from: 0) == 3 && left.first(from: 4) == 999 && left.first(from: 1001) == nil)
        let again = LeftOut(text: left.text)
        #expect(again.text == left.text && again.count == 3)
        left.set(0..<2000, to: [])
        #expect(left.text.isEmpty && LeftOut(text: "?").count == 0)
        left.set(0..<Int.max, to: [1 << 21, (1 << 21) - 1])
        #expect(left.count == 1)
    }
}
