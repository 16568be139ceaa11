// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Logging
import NIOCore
import Server
import Storage
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("To-dos of files as tasks of the circle")
struct TaskImportTests {
    private static let asTasks = "mode=commit&todos=tasks"

    private func tasks(_ server: TestServer) async throws -> [JSONValue] {
        try await server.call(.get, "/v1/circles/c/tasks").expect(200).json["items"]?.array ?? []
    }

    private func task(_ title: String, _ server: TestServer) async throws -> JSONValue {
        try #require(try await tasks(server).first { $0["title"]?.string == title })
    }

    @Test("They become tasks where a task can say it, and an export gives back all that the file said")
    func made() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let report = try await server.bring(file: ToDoFiles.all, Self.asTasks)
            #expect(
                report.counts == ["events": 9, "created": 9, "todos": 2, "tasks": 5, "journals": 1], "\(report.text)")
            #expect(report.json["todos"] == "tasks")
            let kept = report.json["items"]?.array?.filter { $0["kind"] == "todo" } ?? []
            #expect(kept.count == 2 && kept.allSatisfy { $0["reason"]?.string?.contains("does not repeat") == true })
            #expect(
                Set(try await tasks(server).compactMap { $0["title"]?.string }) == [
                    "Call", "Clean", "Lock the shed", "Pay the rent", "Spring cleaning",
                ])
            #expect(try await task("Clean", server)["dueAt"]?.string?.hasPrefix("2026-03-07T") == true)
            #expect(try await task("Call", server)["status"] == "completed")
            #expect(try await task("Lock the shed", server)["patientId"] == "mom")
            #expect(try await task("Spring cleaning", server)["notes"] == "All rooms")
            #expect(try await task("Spring cleaning", server)["dueAt"] == .null)
            let feed = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            #expect(feed.components("VTODO") == 0 && feed.text.contains("Pay the rent"))
            let export = try await server.export()
            let lines = Set(export.calendarLines)
            for line in ToDoFiles.lines { #expect(lines.contains(line), "\(line)") }
            #expect(export.components("VTODO") == 7 && export.values("UID").count { $0 == "day" } == 1)
            for file in [ToDoFiles.all, export.text] {
                let again = try await server.bring(file: file, Self.asTasks)
                #expect(again.counts["unchanged"] == 9, "\(again.text)")
            }
            // As to-dos they would be there twice.
            let asToDos = try await server.bring(file: ToDoFiles.all)
            #expect(asToDos.counts["skipped"] == 5 && asToDos.counts["unchanged"] == 4)
            #expect(try await server.export().body == export.body)
        }
    }

    @Test("As many become tasks as one transaction can write while others wait, by their bytes, too")
    func long() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let todos = (0..<80).map { number in
                """
                BEGIN:VTODO\r
                UID:long\(number)\r
                DTSTAMP:20260101T000000Z\r
                SUMMARY:Long \(number)\r
                DESCRIPTION:\(String(repeating: "n", count: 60_000))\r
                END:VTODO\r

                """
            }
            let report = try await server.bring(
                file: "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\n\(todos.joined())END:VCALENDAR\r\n",
                Self.asTasks)
            #expect(report.counts["tasks"] == 69 && report.counts["todos"] == 11, "\(report.counts)")
            #expect(report.text.contains("at most 2000 tasks, of 4194304 bytes in all"))
        }
    }

    @Test("A task that was changed stays as it is until a newer file comes, and after an undo")
    func changed() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let first = try await server.bring(file: ToDoFiles.all, Self.asTasks)
            let rent = try await task("Pay the rent", server)
            let id = try #require(rent["id"]?.string)
            server.clock.advance(seconds: 60)
            try await server.put(
                "tasks", id, ["title": "Pay the rent twice", "dueAt": rent["dueAt"] ?? .null, "status": "completed"])
            let export = try await server.export()
            let lines = Set(export.calendarLines)
            for line in ["SUMMARY:Pay the rent twice", "PRIORITY:1", "DUE;VALUE=DATE:20260305"] {
                #expect(lines.contains(line), "\(line)")
            }
            #expect(lines.contains("COMPLETED:20260302T120100Z"))
            for file in [ToDoFiles.all, export.text] {
                let again = try await server.bring(file: file, Self.asTasks)
                #expect(again.counts["unchanged"] == 9, "\(again.text)")
            }
            let newer = ToDoFiles.all.replacing("SUMMARY:Clean", with: "SUMMARY:Clean all\r\nSEQUENCE:1")
            let second = try await server.bring(file: newer, Self.asTasks)
            #expect(second.counts["updated"] == 1)
            #expect(try await task("Clean all", server)["status"] == "open")
            #expect(try await server.undo(second).json["keptCount"] == 0)
            _ = try await task("Clean", server)
            let undone = try await server.undo(first)
            #expect(undone.json["kept"]?.array?.map { $0["uid"]?.string } == ["day"])
            #expect(try await tasks(server).map { $0["title"] } == ["Pay the rent twice"])
            #expect(try await server.export().components("VTODO") == 1)
        }
    }

    @Test("What was kept as to-dos becomes tasks by another import, and its undo turns them back")
    func turned() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.bring(file: ToDoFiles.all)
            let before = try await server.export().components("VTODO")
            let turned = try await server.bring(file: ToDoFiles.all, Self.asTasks)
            #expect(turned.counts["updated"] == 5 && turned.counts["unchanged"] == 4, "\(turned.text)")
            #expect(try await tasks(server).count == 5)
            #expect(try await server.export().components("VTODO") == before)
            #expect(try await server.undo(turned).json["keptCount"] == 0)
            #expect(try await tasks(server).isEmpty)
            let export = try await server.export()
            #expect(export.components("VTODO") == before && export.values("UID").count { $0 == "day" } == 1)
            // After an undo they may come as to-dos or as tasks.
            let again = try await server.bring(file: ToDoFiles.all)
            #expect(again.counts["unchanged"] == 9)
        }
    }

    @Test("What a file said of a task is kept as long as its deletion can be undone, and no longer")
    func forgotten() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.bring(file: ToDoFiles.all, Self.asTasks)
            let id = try #require(try await task("Pay the rent", server)["id"]?.string)
            try await server.call(.delete, "/v1/circles/c/tasks/\(id)").expect(204)
            func said(_ text: String) async throws -> Bool {
                try await server.services.store.read {
                    try $0.rows("SELECT content FROM event_versions UNION ALL SELECT content FROM schedule_items", [])
                        .contains { $0.text("content")?.contains(text) == true }
                }
            }
            let housekeeping = Housekeeping(
                services: server.services, logger: Logger(label: "t") { _ in server.log })
            func tidy() async throws {
                try await housekeeping.prune(server.clock.now)
                try await server.services.tidying.tidy()
            }
            server.clock.advance(seconds: 30 * 86_400 - 1)
            try await tidy()
            #expect(try await said("Pay the rent"))
            server.clock.advance(seconds: 2)
            try await tidy()
            #expect(try await !said("Pay the rent"))
            // Everything else that the file said about the other tasks is still given back.
            let lines = try await Set(server.export().calendarLines)
            #expect(lines.contains("SUMMARY:Clean") && !lines.contains("SUMMARY:Pay the rent"))
            #expect(try await said("Spring cleaning"))
            let again = try await server.bring(file: ToDoFiles.all, Self.asTasks)
            #expect(again.counts["created"] == 1 && again.counts["unchanged"] == 8, "\(again.text)")
            #expect(try await task("Pay the rent", server)["id"]?.string == id)
        }
    }

    @Test("A deleted task comes back with its file, and one that repeats from now on becomes a to-do")
    func deleted() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.bring(file: ToDoFiles.all, Self.asTasks)
            let id = try #require(try await task("Clean", server)["id"]?.string)
            try await server.call(.delete, "/v1/circles/c/tasks/\(id)").expect(204)
            let again = try await server.bring(file: ToDoFiles.all, Self.asTasks)
            #expect(again.counts["updated"] == 1)
            #expect(try await tasks(server).count == 5)
            let daily = ToDoFiles.all.replacing(
                "SUMMARY:Clean", with: "SUMMARY:Clean\r\nRRULE:FREQ=DAILY\r\nSEQUENCE:1")
            let third = try await server.bring(file: daily, Self.asTasks)
            #expect(third.counts["updated"] == 1 && third.counts["tasks"] == 4)
            #expect(try await tasks(server).count == 4)
            #expect(try await server.export().values("UID").count { $0 == "duration" } == 1)
        }
    }

    @Test("A preview's choice holds for its commit, which may make another; other words are refused")
    func choice() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            for (body, count) in [([:], 5), (["todos": "keep"], 0)] as [(JSONValue, Int)] {
                let preview = try await server.bring(file: ToDoFiles.all, "mode=preview&todos=tasks")
                let id = try #require(preview.json["id"]?.string)
                #expect(try await tasks(server).isEmpty)
                let done = try await server.call(.post, "/v1/imports/\(id)/commit", body, as: "ann").expect(200)
                #expect(try await tasks(server).count == count)
                _ = try await server.undo(done)
            }
            let preview = try await server.bring(file: ToDoFiles.all, "mode=preview")
            let id = try #require(preview.json["id"]?.string)
            try await server.call(.post, "/v1/imports/\(id)/commit", ["todos": "events"], as: "ann").expect(422)
            let headers: HTTPFields = [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"]
            let wrong = try await server.raw(
                .post, "/v1/circles/c/imports?todos=events", headers: headers,
                body: ByteBuffer(string: ToDoFiles.all)
            ).expect(422)
            #expect(wrong.pointers == ["/query/todos"])
        }
    }

    @Test("A private to-do stays one, which only its importer sees")
    func privateToDo() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let file = ToDoFiles.calendar([
                ["VTODO", "UID:secret", "DUE:20260303T090000Z", "SUMMARY:Buy a ring", "CLASS:PRIVATE"]
            ])
            let report = try await server.bring(file: file, Self.asTasks)
            #expect(report.counts == ["events": 1, "created": 1, "todos": 1])
            #expect(try await tasks(server).isEmpty)
            #expect(try await server.export().values("UID") == ["secret"])
            let others = try await server.call(.get, "/v1/circles/c/export.ics", as: "ben").expect(200)
            #expect(others.values("UID").isEmpty)
        }
    }

    @Test("A task whose to-do is private from now on is nobody else's any more, unless somebody else brought it")
    func privateNow() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            func file(_ lines: [String]) -> String {
                ToDoFiles.calendar([["VTODO", "UID:secret", "DUE:20260303T090000Z", "SUMMARY:Buy a ring"] + lines])
            }
            try await server.bring(file: file([]), Self.asTasks)
            #expect(try await tasks(server).count == 1)
            let hidden = try await server.bring(file: file(["CLASS:PRIVATE"]), Self.asTasks)
            #expect(hidden.counts == ["events": 1, "updated": 1, "todos": 1], "\(hidden.text)")
            #expect(hidden.json["items"]?.array?.first?["reason"] == "It is private now.")
            #expect(try await tasks(server).isEmpty)
            #expect(try await server.export().values("UID") == ["secret"])
            let others = try await server.call(.get, "/v1/circles/c/export.ics", as: "ben").expect(200)
            #expect(others.values("UID").isEmpty)
            let again = try await server.bring(file: file(["CLASS:PRIVATE"]), Self.asTasks)
            #expect(again.counts["unchanged"] == 1, "\(again.text)")
            #expect(try await server.undo(hidden).json["keptCount"] == 0)
            #expect(try await tasks(server).count == 1)
            let copied = try await server.bring(file: file(["CLASS:PRIVATE"]), Self.asTasks, as: "ben")
            let reason = copied.json["items"]?.array?.first?["reason"]?.string
            #expect(reason?.hasPrefix("It is private now, but others") == true, "\(copied.text)")
            #expect(try await tasks(server).count == 1)
        }
    }

    @Test("To-dos beyond those that an import makes tasks of come with the next; tasks stay tasks in any order")
    func many() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            func file(_ numbers: some Sequence<Int>, _ more: String = "") -> String {
                ToDoFiles.calendar(numbers.map { ["VTODO", "UID:t\($0)", "SUMMARY:Number \($0)\(more)"] })
            }
            let first = try await server.bring(file: file(0..<2003), Self.asTasks)
            #expect(first.counts["tasks"] == 2000 && first.counts["todos"] == 3, "\(first.counts)")
            let task = "/v1/circles/c/tasks/\(ImportedTask.id("t1999"))"
            server.clock.advance(seconds: 60)
            try await server.call(.put, task, ["title": "Number 1999 by Ben", "dueAt": .null, "status": "completed"])
                .expect(200)
            let turned = try await server.bring(file: file((0..<2003).reversed()), Self.asTasks)
            #expect(turned.counts["tasks"] == 2003 && turned.counts["updated"] == 3, "\(turned.counts)")
            let kept = try await server.call(.get, task).expect(200)
            #expect(kept.json["title"] == "Number 1999 by Ben" && kept.json["status"] == "completed")
            // What an import changes has the same bound, and the rest is for the next one.
            let newer = file(0..<2003, "\r\nSEQUENCE:1\r\nDESCRIPTION:All of it")
            for (updated, skipped) in [(2000, 3), (3, nil)] as [(Int, Int?)] {
                let counts = try await server.bring(file: newer, Self.asTasks).counts
                #expect(counts["updated"] == updated && counts["skipped"] == skipped, "\(counts)")
            }
        }
    }
}
