// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("What calendar apps make in a circle, and what they keep for one person")
struct CircleMakingTests {
    @Test("A new to-do is a task, of its patient if a category names one, and without a date if it has none")
    func task() async throws {
        try await TestServer.withCircle { server in
            let app = CalendarApp(server: server, user: "ben")
            let text = CalendarApp.object(
                "VTODO", "UID:from-app", "SUMMARY:Buy tea", "CATEGORIES:Shopping,Mom", "PRIORITY:1")
            let outcome = try await app.put(text, as: "my name.ics", in: "c~tasks")
            #expect(outcome.isNew && outcome.etag == nil)
            let item = try #require(
                try await server.call(.get, "/v1/circles/c/tasks").expect(200).json["items"]?.array?
                    .first { $0["title"] == "Buy tea" })
            #expect(item["uid"] == "from-app" && item["dueAt"] == .null && item["patientId"] == "mom")
            let own = try await app.text("my name.ics", in: "c~tasks")
            #expect(own.contains("PRIORITY:1") && own.contains("CATEGORIES:Shopping,Mom"))
            let others = try await CalendarApp(server: server).text("my name.ics", in: "c~tasks")
            #expect(!others.contains("PRIORITY") && others.contains("CATEGORIES:Task"))
            // What was deleted and is made again goes on under its id and its UID.
            try await app.delete("my name.ics", in: "c~tasks")
            try await app.put(text, as: "my name.ics", in: "c~tasks")
            let again = try await server.call(.get, "/v1/circles/c/tasks/\(item["id"]?.string ?? "")").expect(200).json
            #expect(again["uid"] == "from-app" && (again["sequence"]?.integer ?? 0) > 0)
        }
    }

    @Test("A new to-do that repeats is refused with a sentence, since a circle's tasks do not")
    func repeatingTask() async throws {
        try await TestServer.withCircle { server in
            let app = CalendarApp(server: server, user: "ben")
            for line in ["RRULE:FREQ=WEEKLY", "RDATE:20260312T100000Z"] {
                let text = CalendarApp.object("VTODO", "UID:w", "DTSTART:20260305T100000Z", line, "SUMMARY:Water")
                guard
                    case .invalidData(let sentence) = await CalendarApp.fault({
                        try await app.put(text, as: "w.ics", in: "c~tasks")
                    })
                else {
                    Issue.record("no refusal")
                    return
                }
                #expect(sentence.text.contains("do not repeat"))
            }
            let tasks = try await server.call(.get, "/v1/circles/c/tasks").expect(200).json["items"]?.array
            #expect(tasks?.contains { $0["title"] == "Water" } == false)
        }
    }

    @Test("A new event is an appointment of the patient whom a category names; without one, 403 names them all")
    func appointment() async throws {
        try await TestServer.withCircle { server in
            let app = CalendarApp(server: server, user: "ben")
            let lines = ["UID:e1", "DTSTART:20260310T100000Z", "DTEND:20260310T110000Z", "SUMMARY:Eyes"]
            func text(_ more: String...) -> String {
                (["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:x", "BEGIN:VEVENT", "DTSTAMP:20260301T000000Z"] + lines
                    + more + ["END:VEVENT", "END:VCALENDAR", ""]).joined(separator: "\r\n")
            }
            guard case .invalidData(let sentence) = await CalendarApp.fault({ try await app.put(text(), as: "e.ics") })
            else {
                Issue.record("no refusal")
                return
            }
            #expect(sentence.text.contains("Mom") && sentence.text.contains("Dad"))
            try await app.put(
                text("CATEGORIES:Dad", "RRULE:FREQ=DAILY;COUNT=3", "EXDATE:20260311T100000Z"), as: "e.ics")
            let shown = try await app.text("e.ics")
            #expect(shown.contains("UID:e1") && shown.contains("SUMMARY:CK Appt: Dad - Eyes"))
            let item = try #require(
                try await server.call(.get, "/v1/circles/c/appointments").expect(200).json["items"]?.array?
                    .first { $0["uid"] == "e1" })
            #expect(item["patientId"] == "dad" && item["recurrence"]?["exdates"]?.array?.count == 1)
            try await server.call(.delete, "/v1/circles/c/patients/mom").expect(204)
            let only = text().replacingOccurrences(of: "UID:e1", with: "UID:e2")
            try await app.put(only, as: "e2.ics")
            #expect(try await app.text("e2.ics").contains("Dad - Eyes"))
        }
    }

    @Test("A copy of an entry, and the rest of a series that an app cuts in two, do not repeat what titles are made of")
    func copies() async throws {
        try await TestServer.withCircle { server in
            let app = CalendarApp(server: server, user: "ben")
            func event(_ uid: String, _ title: String, _ category: String) -> String {
                CalendarApp.object(
                    "VEVENT", "UID:\(uid)", "DTSTART:20260310T100000Z", "DTEND:20260310T110000Z", "SUMMARY:\(title)",
                    "CATEGORIES:\(category)")
            }
            // The circle has two patients, and the title alone says which.
            try await app.put(event("rest", "CK Appt: Dad - Eyes", "Appointment"), as: "rest.ics")
            #expect(try await app.text("rest.ics").contains("SUMMARY:CK Appt: Dad - Eyes\r\n"))
            try await app.put(event("other", "CK Appt: Dad - Teeth", "Mom"), as: "other.ics")
            let items = try await server.call(.get, "/v1/circles/c/appointments").expect(200).json["items"]?.array
            let rest = items?.first { $0["uid"] == "rest" }
            #expect(rest?["patientId"] == "dad" && rest?["provider"] == "Eyes")
            // What a person says by a category comes before the title.
            let other = items?.first { $0["uid"] == "other" }
            #expect(other?["patientId"] == "mom" && other?["provider"] == "Dad - Teeth")
            for (uid, title) in [("tea", "CK: Buy tea"), ("ask", "CK Follow-up: Ask")] {
                try await app.put(
                    CalendarApp.object("VTODO", "UID:\(uid)", "SUMMARY:\(title)"), as: "\(uid).ics", in: "c~tasks")
            }
            let tasks = try await server.call(.get, "/v1/circles/c/tasks").expect(200).json["items"]?.array ?? []
            #expect(tasks.contains { $0["uid"] == "tea" && $0["title"] == "Buy tea" })
            #expect(tasks.contains { $0["uid"] == "ask" && $0["title"] == "Ask" })
        }
    }

    @Test("What cannot be stored is refused with its precondition")
    func refusals() async throws {
        try await TestServer.withCircle { server in
            let app = CalendarApp(server: server)
            let uid = try await server.value("appointments/knee", "uid")?.string ?? ""
            let event = CalendarApp.object(
                "VEVENT", "UID:\(uid)", "DTSTART:20260310T100000Z", "SUMMARY:Eyes", "CATEGORIES:Mom")
            guard
                case .uidConflict("c", "knee.ics") = await CalendarApp.fault({
                    try await app.put(event, as: "n.ics")
                })
            else {
                Issue.record("no conflict")
                return
            }
            let other = event.replacingOccurrences(of: uid, with: "another")
            guard
                case .uidConflict("c", "knee.ics") = await CalendarApp.fault({
                    try await app.put(other, as: "knee.ics")
                })
            else {
                Issue.record("another UID")
                return
            }
            guard
                case .unsupportedComponent = await CalendarApp.fault({
                    try await app.put(other, as: "n.ics", in: "c~tasks")
                })
            else {
                Issue.record("an event among tasks")
                return
            }
            let method = other.replacingOccurrences(of: "PRODID", with: "METHOD:REQUEST\r\nPRODID")
            guard case .invalidObject = await CalendarApp.fault({ try await app.put(method, as: "n.ics") }) else {
                Issue.record("a METHOD")
                return
            }
            guard case .invalidData = await CalendarApp.fault({ try await app.put("nothing", as: "n.ics") }) else {
                Issue.record("no calendar")
                return
            }
            let long = other.replacingOccurrences(of: "Eyes", with: String(repeating: "x", count: 1 << 20))
            guard case .tooLarge = await CalendarApp.fault({ try await app.put(long, as: "n.ics") }) else {
                Issue.record("too large")
                return
            }
        }
    }

    @Test("Alarms, colours and unknown properties are one person's, and no change of the item")
    func ownParts() async throws {
        try await TestServer.withCircle { server in
            let (ann, ben) = (CalendarApp(server: server), CalendarApp(server: server, user: "ben"))
            let others = try await ben.member("knee.ics")
            let before = try await ann.member("knee.ics")
            let number = try await ann.collection().number
            let changes = try await server.call(.get, "/v1/circles/c/changes").expect(200).json["latest"]
            try await ann.edit(
                "knee.ics", ("TRIGGER:-PT30M", "TRIGGER:-PT5M"),
                ("END:VEVENT", "COLOR:teal\r\nX-APPLE-NOTE;X-A=b:c\\,d\r\nEND:VEVENT"))
            let own = try await ann.text("knee.ics")
            #expect(own.contains("TRIGGER:-PT5M") && !own.contains("PT30M") && own.contains("COLOR:teal"))
            #expect(own.contains("X-APPLE-NOTE;X-A=b:c\\,d"))
            #expect(try await ben.member("knee.ics") == others)
            #expect(try await ann.member("knee.ics")?.etag != before?.etag)
            let item = try await server.call(.get, "/v1/circles/c/appointments/knee").expect(200).json
            #expect(item["reminders"] == [30] && item["sequence"] == 0)
            #expect(try await server.call(.get, "/v1/circles/c/changes").expect(200).json["latest"] == changes)
            let mine = try await ann.source.changes(of: ann.collection(), after: number, limit: 9)
            #expect(mine.changed.map(\.name) == ["knee.ics"])
            let theirs = try await ben.source.changes(of: ben.collection(), after: number, limit: 9)
            #expect(theirs.changed.isEmpty && theirs.removed.isEmpty)
            let etag = try await ann.member("knee.ics")?.etag
            try await ann.edit("knee.ics", ("TRIGGER:-PT5M", "TRIGGER:-PT5M\r\nACKNOWLEDGED:20260306T215500Z"))
            #expect(try await ann.text("knee.ics").contains("ACKNOWLEDGED:20260306T215500Z"))
            #expect(try await ann.member("knee.ics")?.etag != etag)
            #expect(try await server.value("appointments/knee", "sequence") == 0)
            // A change of the item keeps what the person has.
            try await server.put(
                "appointments", "knee",
                ["patientId": "mom", "provider": "Dr. Who", "startAt": "2026-03-06T14:00:00-08:00"])
            let later = try await ann.text("knee.ics")
            #expect(later.contains("Dr. Who") && later.contains("COLOR:teal") && later.contains("TRIGGER:-PT5M"))
        }
    }
}
