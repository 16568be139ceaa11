// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Storage
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("The page of what happened")
struct ActivityPageTests {
    private static let path = "/app/circles/c/activity"
    private static let task: JSONValue = ["title": "Pills", "dueAt": "2026-03-03T09:00:00Z", "notes": "With water"]

    private static func with(_ changes: [ByteString: JSONValue]) -> JSONValue {
        .object((task.object ?? [:]).merging(changes) { $1 })
    }

    private static func number(_ server: TestServer) async throws -> Int {
        try #require(try await server.call(.get, "/v1/circles/c/changes?limit=1").expect(200).json["latest"]?.integer)
    }

    @Test("It says by day who changed what, by which way, and how it was before and after")
    func list() async throws {
        try await TestServer.withPasswords { server in
            try await server.put("tasks", "t", Self.task)
            server.clock.advance(seconds: 86_400)
            let other = Self.with(["title": "More", "notes": .null])
            try await server.call(.put, "/v1/circles/c/tasks/t", other, as: "ben").expect(200)
            let ann = try await Browser.signedIn("ann", server)
            let page = try await ann.open(Self.path).expect(200)
            for text in [
                "What happened", "Today", "Yesterday", "changed the task", "added the task", "The application", "Ben",
                "over the API", "Pills</bdi></del>", "More</bdi></ins>", "With water", "nothing</ins>",
                "href=\"/app/circles/c/tasks/t\"",
            ] { #expect(page.text.contains(text), "\(text)") }
            // Whoever may only read sees it, without a button.
            try await server.call(.put, "/v1/users/vic/password", ["password": "vic's password"]).expect(201)
            let vic = try await Browser.signedIn("vic", server).open(Self.path).expect(200)
            #expect(vic.text.contains("changed the task") && !vic.text.contains("/undo\""))
            // In German, too.
            let account = try await ann.open("/app/account").expect(200)
            try await ann.send(account, to: "/app/account", ["language": "de"]).expect(200)
            let german = try await ann.open(Self.path).expect(200)
            for text in ["Was geschehen ist", "die Aufgabe", "Gestern", "über die API", "nichts</ins>"] {
                #expect(german.text.contains(text), "\(text)")
            }
        }
    }

    @Test("An item leads to its own changes, however many others there were since")
    func ofItem() async throws {
        try await TestServer.withPasswords { server in
            try await server.put("tasks", "t", Self.task)
            try await server.put("tasks", "t", Self.with(["title": "More pills"]))
            for number in 0..<60 { try await server.put("tasks", "other\(number)", Self.with(["title": "Other"])) }
            let ann = try await Browser.signedIn("ann", server)
            #expect(try await !ann.open(Self.path).expect(200).text.contains("More pills"))
            let item = try await ann.open("/app/circles/c/tasks/t").expect(200)
            let link = "\(Self.path)?item=tasks%2Ft"
            #expect(item.text.contains("href=\"\(link)\""))
            let page = try await ann.open(link).expect(200)
            for text in ["Only the changes of", "More pills", "Pills</bdi></del>", "All changes", "/undo\""] {
                #expect(page.text.contains(text), "\(text)")
            }
            #expect(!page.text.contains("Other"))
            for wrong in ["tasks", "tasks/t/x", "feeds/t", "tasks/%22"] {
                try await ann.open("\(Self.path)?item=\(wrong)").expect(404)
            }
        }
    }

    @Test("Undo is one button; what it did is a change by a page, and what is in the way has a name")
    func undo() async throws {
        try await TestServer.withPasswords { server in
            try await server.put("tasks", "t", Self.task)
            try await server.put("tasks", "t", Self.with(["title": "More pills"]))
            let number = try await Self.number(server)
            let ann = try await Browser.signedIn("ann", server)
            let form = "\(Self.path)/\(number)/undo"
            let page = try await ann.open(Self.path).expect(200)
            let done = try await ann.send(page, to: form).expect(200)
            #expect(done.text.contains("Undone.") && done.text.contains("Undoes an earlier change"))
            #expect(try await server.call(.get, "/v1/circles/c/tasks/t").expect(200).json["title"] == "Pills")
            let answer = try await server.call(.get, "/v1/circles/c/activity?since=\(number)").expect(200)
            #expect(answer.json["items"]?.array?.map { $0["via"]?.string } == ["page"])
            let again = try await ann.send(page, to: form).expect(409)
            #expect(again.text.contains("This was undone already."))

            try await server.put("tasks", "t", Self.with(["title": "Third"]))
            let third = "\(Self.path)/\(try await Self.number(server))/undo"
            let before = try await ann.open(Self.path).expect(200)
            try await server.call(.put, "/v1/circles/c/tasks/t", Self.with(["title": "Fourth"]), as: "ben").expect(200)
            let refused = try await ann.send(before, to: third).expect(409)
            #expect(refused.text.contains("Ben</bdi> has changed the same thing since"))
            #expect(try await server.call(.get, "/v1/circles/c/tasks/t").expect(200).json["title"] == "Fourth")
            // The form's address leads back to the page.
            try await ann.open(form).expect(200)
            #expect(ann.history.last == Self.path)
        }
    }

    @Test("A long history has several pages")
    func pages() async throws {
        try await TestServer.withPasswords { server in
            for number in 0..<60 {
                try await server.put("tasks", "t\(number)", Self.with(["title": .string("Task \(number)")]))
            }
            let last = try await Self.number(server)
            let ann = try await Browser.signedIn("ann", server)
            let first = try await ann.open(Self.path).expect(200)
            #expect(first.text.contains("Task 59<") && first.text.contains("Task 10<"))
            #expect(!first.text.contains("Task 9<"))
            let next = "\(Self.path)?before=\(last - 49)"
            #expect(first.text.contains("href=\"\(next)\""))
            let second = try await ann.open(next).expect(200)
            #expect(second.text.contains("Task 9<") && !second.text.contains("Task 10<"))
            #expect(second.text.contains("Latest changes"))
        }
    }
}
