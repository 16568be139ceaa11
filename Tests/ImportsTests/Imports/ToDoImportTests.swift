// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import KalendsFront
@testable import ServerTestSupport

@Suite("To-dos and journal entries of files, kept as such")
struct ToDoImportTests {
    @Test("An import keeps them, its report counts them by kind, and an export gives them back")
    func kept() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let preview = try await server.bring(file: ToDoFiles.all, "mode=preview")
            let counts: [ByteString: Int] = ["events": 9, "created": 9, "todos": 7, "journals": 1]
            #expect(preview.counts == counts && preview.json["todos"] == "keep", "\(preview.text)")
            let id = try #require(preview.json["id"]?.string)
            let done = try await server.call(.post, "/v1/imports/\(id)/commit", [:], as: "ann").expect(200)
            #expect(done.counts == counts && done.json["problems"] == [] && done.json["dropped"] == [])
            let kinds = done.json["items"]?.array?.compactMap { $0["kind"]?.string } ?? []
            #expect(kinds == Array(repeating: "todo", count: 7) + ["journal", "event"])
            let export = try await server.export()
            let lines = Set(export.calendarLines)
            for line in ToDoFiles.lines { #expect(lines.contains(line), "\(line)") }
            #expect(export.components("VTODO") == 7 && export.components("VJOURNAL") == 1)
            // Neither the file nor the export changes anything when it is imported again.
            for file in [ToDoFiles.all, export.text] {
                let again = try await server.bring(file: file)
                #expect(again.counts["unchanged"] == 9, "\(again.text)")
            }
            #expect(try await server.export().body == export.body)
        }
    }

    @Test("A newer file changes a to-do, an older one does not, and each import can be undone")
    func versions() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let first = try await server.bring(file: ToDoFiles.all)
            let newer = ToDoFiles.all.replacing(
                "SUMMARY:Pay the rent", with: "SUMMARY:Pay the rent and gas\r\nSEQUENCE:2"
            ).replacing("PERCENT-COMPLETE:50", with: "PERCENT-COMPLETE:75\r\nSEQUENCE:1")
            let second = try await server.bring(file: newer)
            #expect(second.counts["updated"] == 2 && second.counts["unchanged"] == 7)
            let older = try await server.bring(file: ToDoFiles.all)
            #expect(older.counts["unchanged"] == 9)
            let now = try await server.export()
            #expect(now.values("PERCENT-COMPLETE").sorted() == ["100", "100", "75"])
            #expect(now.values("SUMMARY").contains("Pay the rent and gas"))
            #expect(try await server.undo(second).json["keptCount"] == 0)
            let before = try await server.export()
            #expect(before.values("PERCENT-COMPLETE").sorted() == ["100", "100", "50"])
            #expect(try await server.undo(first).json["keptCount"] == 0)
            let gone = try await server.export()
            #expect(gone.values("UID").isEmpty)
        }
    }

    @Test("Feeds show them where the circle's tasks are to-dos, too; journal entries never")
    func feeds() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.bring(file: ToDoFiles.all)
            func read(_ label: String, _ config: JSONValue) async throws -> Answer {
                try await server.raw(.get, try await server.makeFeed(label: label, config: config).path).expect(200)
            }
            let without: [(String, JSONValue)] = [
                ("usual", [:]), ("tasks", ["tasksAs": "todos", "includeTasks": false]),
                ("completed", ["completedTasks": "keep"]),
            ]
            for (label, config) in without {
                let feed = try await read(label, config)
                #expect(feed.values("SUMMARY") == ["Market"], "\(label)")
            }
            let none = try await read("none", ["tasksAs": "todos", "includeImported": false])
            #expect(none.values("SUMMARY").isEmpty)
            // A to-do without a date is in no window.
            let open = try await read("open", ["tasksAs": "todos"])
            let titles = [
                "Clean", "Lock the shed", "Market", "Pay the rent", "Water the plants", "Water the plants late",
            ]
            #expect(open.values("SUMMARY").sorted() == titles)
            #expect(open.components("VTODO") == 5 && open.components("VJOURNAL") == 0)
            let all = try await read("all", ["tasksAs": "todos", "completedTasks": "keep"])
            #expect(all.values("SUMMARY").sorted() == (titles + ["Call"]).sorted())
            // A to-do makes nobody busy.
            let path = try await server.makeFeed(label: "busy", config: ["tasksAs": "todos"]).path
            let busy = try await server.raw(.get, path.replacing(".ics", with: ".ifb")).expect(200)
            #expect(busy.values("FREEBUSY") == ["20260308T090000Z/20260308T100000Z"])
        }
    }

    @Test("A to-do with the UID of an event gets another one, and both are kept")
    func sharedUID() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let file = ToDoFiles.calendar([
                ["VTODO", "UID:same", "DUE:20260303T090000Z", "SUMMARY:Buy tickets"],
                ["VEVENT", "UID:same", "DTSTART:20260304T090000Z", "SUMMARY:Concert"],
            ])
            let report = try await server.bring(file: file)
            #expect(report.counts == ["events": 2, "created": 2, "todos": 1])
            let problem = try #require(report.json["problems"]?.array?.first)
            #expect(problem["code"] == "duplicate-uid" && problem["line"] == 4 && problem["uid"] == "same-VTODO")
            #expect(Set(try await server.export().values("UID")) == ["same", "same-VTODO"])
            #expect(try await server.bring(file: file).counts["unchanged"] == 2)
        }
    }

    @Test("What no import takes is named by its line: free/busy blocks, and values that a to-do cannot have")
    func leftOut() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let file = ToDoFiles.calendar([
                ["VFREEBUSY", "UID:fb", "DTSTART:20260303T090000Z", "FREEBUSY:20260303T090000Z/PT1H"],
                [
                    "VTODO", "UID:odd", "DUE:20260303T090000Z", "SUMMARY:Odd", "STATUS:CONFIRMED",
                    "PERCENT-COMPLETE:200",
                ],
            ])
            let report = try await server.bring(file: file)
            #expect(report.counts == ["events": 2, "created": 1, "skipped": 1, "todos": 1])
            let problem = try #require(report.json["problems"]?.array?.first)
            #expect(problem["code"] == "not-an-event" && problem["line"] == 4)
            #expect(
                report.json["dropped"] == [
                    ["property": "PERCENT-COMPLETE", "count": 1, "lines": [10]],
                    ["property": "STATUS", "count": 1, "lines": [10]],
                ])
        }
    }
}
