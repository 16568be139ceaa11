// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("A circle's items, changed by calendar apps")
struct CircleWritingTests {
    private static func isReadOnly(_ fault: CollectionFault?) -> Bool {
        if case .needsPrivileges = fault { true } else { false }
    }

    @Test("An appointment is moved, and its place and notes change; its title is put back", arguments: ["ann", "ben"])
    func appointment(user: String) async throws {
        try await TestServer.withCircle { server in
            let app = CalendarApp(server: server, user: user)
            let outcome = try await app.edit(
                "knee.ics", ("T150000", "T160000"), ("T140000", "T150000"), ("LOCATION:Room 1", "LOCATION:Room 2"),
                ("DESCRIPTION:Bring scans", "DESCRIPTION:Bring all"), ("Dr. Lee", "Dr. No"),
                ("STATUS:CONFIRMED", "STATUS:TENTATIVE"))
            #expect(!outcome.isNew && outcome.etag == nil)
            let item = try await server.call(.get, "/v1/circles/c/appointments/knee").expect(200).json
            #expect(item["startAt"] == "2026-03-06T15:00:00-08:00" && item["location"] == "Room 2")
            #expect(item["notes"] == "Bring all" && item["provider"] == "Dr. Lee" && item["status"] == "confirmed")
            #expect(item["reminders"] == [30] && item["sequence"] == 1)
            #expect(try await app.text("knee.ics").contains("SUMMARY:CK Appt: Mom - Dr. Lee"))
        }
    }

    @Test("Pitfall 15: an appointment is cancelled, as is one occurrence; another is moved, and the series ends sooner")
    func series() async throws {
        try await TestServer.withCircle { server in
            let app = CalendarApp(server: server, user: "ben")
            try await app.edit("knee.ics", ("STATUS:CONFIRMED", "STATUS:CANCELLED"))
            #expect(try await server.value("appointments/knee", "status") == "cancelled")
            let zone = "TZID=America/Los_Angeles"
            try await app.edit(
                "physio.ics",
                (
                    "END:VEVENT\r\n",
                    [
                        "EXDATE;\(zone):20260317T090000", "END:VEVENT", "BEGIN:VEVENT",
                        "UID:\(try await server.value("appointments/physio", "uid")?.string ?? "")",
                        "DTSTAMP:20260301T000000Z", "RECURRENCE-ID;\(zone):20260324T090000",
                        "DTSTART;\(zone):20260324T110000", "DTEND;\(zone):20260324T120000",
                        "SUMMARY:Something else", "LOCATION:Garden", "END:VEVENT", "",
                    ].joined(separator: "\r\n")
                ))
            let moved = try await server.call(
                .get, "/v1/circles/c/appointments/physio/occurrences/20260324T160000Z"
            ).expect(200).json
            #expect(moved["startAt"] == "2026-03-24T11:00:00-07:00" && moved["location"] == "Garden")
            #expect(moved["provider"] == "Kim")
            let cancelled = try await server.call(
                .get, "/v1/circles/c/appointments/physio/occurrences/20260317T160000Z"
            ).expect(200).json
            #expect(cancelled["status"] == "cancelled")
            let now = try await app.text("physio.ics")
            let until = try #require(now.firstRange(of: /UNTIL=[0-9TZ]+/))
            try await app.edit("physio.ics", (String(now[until]), "UNTIL=20260407T160000Z"))
            let rule = try await server.value("appointments/physio", "recurrence")?["rrule"]?.string
            #expect(rule?.contains("UNTIL=20260407T160000Z") == true, "\(rule ?? "")")
            try await app.edit("physio.ics", ("FREQ=WEEKLY", "FREQ=DAILY"))
            #expect(try await server.value("appointments/physio", "recurrence")?["rrule"]?.string == rule)
        }
    }

    @Test("A task is completed, reopened, cancelled, moved and renamed, as a follow-up is")
    func tasks() async throws {
        try await TestServer.withCircle { server in
            let app = CalendarApp(server: server, user: "ben")
            for (name, path, title) in [
                ("pills.ics", "tasks/pills", "title"), ("call+follow-ups.ics", "follow-ups/call", "description"),
            ] {
                let list = "c~tasks"
                try await app.edit(name, in: list, ("STATUS:NEEDS-ACTION", "STATUS:COMPLETED\r\nPERCENT-COMPLETE:100"))
                #expect(try await server.value(path, "status") == "completed")
                #expect(try await app.text(name, in: list).contains("PERCENT-COMPLETE:100"))
                let others = try await CalendarApp(server: server).text(name, in: list)
                #expect(others.contains("STATUS:COMPLETED") && !others.contains("PERCENT"))
                try await app.edit(
                    name, in: list,
                    ("STATUS:COMPLETED", "STATUS:NEEDS-ACTION"), ("\r\nCOMPLETED:", "\r\nX-WAS:"))
                #expect(try await server.value(path, "status") == "open")
                let text = try await app.text(name, in: list)
                let due = try #require(text.firstRange(of: /DUE;.+/))
                try await app.edit(
                    name, in: list, (String(text[due]), "DUE:20260309T170000Z"),
                    ("SUMMARY:", "DESCRIPTION:Soon\r\nSUMMARY:"))
                #expect(try await server.value(path, "dueAt") == "2026-03-09T10:00:00-07:00")
                #expect(try await server.value(path, "notes") == "Soon")
                let summary = try #require(try await app.text(name, in: list).firstMatch(of: /SUMMARY:(.+)/)).1
                try await app.edit(name, in: list, ("SUMMARY:\(summary)", "SUMMARY:\(summary) twice"))
                #expect(try await server.value(path, title)?.string?.hasSuffix(" twice") == true)
                #expect(try await server.value(path, title)?.string?.hasPrefix("CK") == false)
                try await app.edit(name, in: list, ("STATUS:NEEDS-ACTION", "STATUS:CANCELLED"))
                #expect(try await server.value(path, "status") == "cancelled")
            }
        }
    }

    @Test("The notes of a shift change; its owner moves it, and nobody else")
    func shift() async throws {
        try await TestServer.withCircle { server in
            let path = "shifts/day"
            try await CalendarApp(server: server, user: "ben").edit(
                "day+shifts.ics", ("T090000", "T100000"), ("DESCRIPTION:Keys", "DESCRIPTION:Bell"))
            #expect(try await server.value(path, "startAt") == "2026-03-06T09:00:00-08:00")
            #expect(try await server.value(path, "notes") == "Bell")
            try await CalendarApp(server: server, user: "ann").edit("day+shifts.ics", ("T090000", "T100000"))
            #expect(try await server.value(path, "startAt") == "2026-03-06T10:00:00-08:00")
        }
    }

    @Test("What a person brought in is theirs to change and to remove; what others brought in is not")
    func imported() async throws {
        try await TestServer.withCircle { server in
            try await server.bring([OneCalendar.event("party", "Party", "LOCATION:Here")], as: "ben").expect(201)
            let app = CalendarApp(server: server, user: "ben")
            let name = try #require(try await app.members().first { $0.name.hasSuffix("+imported.ics") }?.name)
            let other = CalendarApp(server: server)
            #expect(Self.isReadOnly(await CalendarApp.fault { try await other.edit(name, ("Party", "Fete")) }))
            #expect(Self.isReadOnly(await CalendarApp.fault { try await other.delete(name) }))
            try await app.edit(
                name, ("SUMMARY:Party", "SUMMARY:Fete"), ("T090000Z", "T100000Z"),
                ("END:VEVENT", "BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\nEND:VEVENT"))
            let seen = try await other.text(name)
            #expect(seen.contains("SUMMARY:Fete") && seen.contains("20260310T100000") && !seen.contains("VALARM"))
            #expect(try await app.text(name).contains("TRIGGER:-PT5M"))
            let before = try await app.collection().number
            try await app.delete(name)
            #expect(try await app.member(name) == nil)
            let changes = try await app.source.changes(of: app.collection(), after: before, limit: 10)
            #expect(changes.removed == [name] && changes.changed.isEmpty)
        }
    }

    @Test("A viewer's app and one that may only read are refused, and nothing is there for others")
    func readers() async throws {
        try await TestServer.withCircle { server in
            let viewer = CalendarApp(server: server, user: "vic")
            let reader = CalendarApp(server: server, user: "ann", mayWrite: false)
            for app in [viewer, reader] {
                #expect(Self.isReadOnly(await CalendarApp.fault { try await app.edit("knee.ics", ("Room 1", "X")) }))
                #expect(Self.isReadOnly(await CalendarApp.fault { try await app.delete("knee.ics") }))
            }
            let location = try await server.value("appointments/knee", "location")
            #expect(location == "Room 1")
        }
    }

    @Test("Conditions are heeded, and a deletion is one of the item")
    func conditions() async throws {
        try await TestServer.withCircle { server in
            let app = CalendarApp(server: server)
            let text = try await app.text("knee.ics")
            var (stale, absent, existing) = (WriteConditions(), WriteConditions(), WriteConditions())
            stale.ifMatch = ["none"]
            absent.needsAbsence = true
            existing.needsExisting = true
            for (name, condition) in [("knee.ics", stale), ("knee.ics", absent), ("new.ics", existing)] {
                let fault = await CalendarApp.fault { try await app.put(text, as: name, if: condition) }
                guard case .preconditionFailed = fault else {
                    Issue.record("\(name): \(String(describing: fault))")
                    continue
                }
            }
            guard case .preconditionFailed = await CalendarApp.fault({ try await app.delete("knee.ics", if: stale) })
            else {
                Issue.record("deleted")
                return
            }
            try await app.delete("knee.ics", if: existing)
            try await server.call(.get, "/v1/circles/c/appointments/knee").expect(404)
            guard case .missing = await CalendarApp.fault({ try await app.delete("knee.ics") }) else {
                Issue.record("deleted twice")
                return
            }
        }
    }
}
