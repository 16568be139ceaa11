// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import TestSupport
import Testing

@testable import ServerTestSupport

/// Words that appear nowhere by chance, one for each place where a string can be put.
private struct Canaries {
    private var random: SplitMix
    /// The words that a feed of titles may show, and all the others.
    private(set) var titles: [String] = []
    private(set) var secrets: [String] = []

    init(seed: UInt64) { random = SplitMix(seed: seed) }

    private mutating func word() -> String {
        "zq" + String((0..<8).map { _ in Character(UnicodeScalar(UInt8.random(in: 97...122, using: &random))) })
    }

    /// Returns some text of any length around a word, with characters that need escaping.
    private mutating func text(around word: String) -> String {
        let pieces = [" ", ", ", "; ", "\\", "\n", "é", "😀", "\"", ":", " a longer piece of text that is folded "]
        func some(_ random: inout SplitMix) -> String {
            (0..<Int.random(in: 0...6, using: &random)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &random)]
            }.joined()
        }
        return "x" + some(&random) + " " + word + " " + some(&random) + "x"
    }

    mutating func title() -> JSONValue { .string(titleText()) }
    mutating func secret() -> JSONValue { .string(secretText()) }

    mutating func titleText() -> String {
        titles.append(word())
        return text(around: titles[titles.count - 1]).replacing("\n", with: " ")
    }

    mutating func secretText() -> String {
        secrets.append(word())
        return text(around: secrets[secrets.count - 1])
    }

    mutating func secretWord() -> String {
        secrets.append(word())
        return secrets[secrets.count - 1]
    }
}

@Suite("Private words")
struct PrivacyPropertyTests {
    /// Fills a circle in which every string of every item is a canary.
    private func fill(_ server: TestServer, _ canaries: inout Canaries) async throws {
        let (ann, mom) = (canaries.secretWord(), canaries.secretWord())
        try await server.call(.put, "/v1/circles/c", ["name": canaries.title(), "timeZone": "Europe/Berlin"]).expect(
            201)
        try await server.call(
            .put, "/v1/circles/c/members/\(ann)", ["displayName": canaries.title(), "role": "owner"]
        ).expect(201)
        try await server.call(.put, "/v1/circles/c/members/eve", ["displayName": canaries.secret(), "role": "viewer"])
            .expect(201)
        try await server.call(.put, "/v1/circles/c/patients/\(mom)", ["displayName": canaries.title()]).expect(201)
        let (owner, patient) = (JSONValue.string(ann), JSONValue.string(mom))
        for status in ["open", "completed", "cancelled"] {
            try await server.put(
                "tasks", canaries.secretWord(),
                [
                    "title": canaries.title(), "notes": canaries.secret(), "dueAt": "2026-03-05T09:00:00Z",
                    "patientId": patient, "ownerId": owner, "reminders": [15], "status": .string(status),
                ])
        }
        try await server.put(
            "shifts", canaries.secretWord(),
            [
                "patientId": patient, "ownerId": owner, "notes": canaries.secret(), "startDate": "2026-03-05",
                "endDate": "2026-03-06",
            ])
        let appointment = canaries.secretWord()
        try await server.put(
            "appointments", appointment,
            [
                "patientId": patient, "provider": canaries.title(), "location": canaries.secret(),
                "notes": canaries.secret(), "reminders": [60], "startAt": "2026-03-05T10:00:00+01:00",
                "endAt": "2026-03-05T11:00:00+01:00", "recurrence": ["rrule": "FREQ=WEEKLY;COUNT=5"],
            ])
        try await server.call(
            .put, "/v1/circles/c/appointments/\(appointment)/occurrences/20260312T090000Z",
            [
                "startAt": "2026-03-12T12:00:00+01:00", "endAt": "2026-03-12T13:00:00+01:00",
                "location": canaries.secret(), "notes": canaries.secret(),
            ]
        ).expect(201)
        try await server.put(
            "follow-ups", canaries.secretWord(),
            ["description": canaries.title(), "notes": canaries.secret(), "dueAt": "2026-03-05T15:00:00Z"])
        try await importFile(server, &canaries)
    }

    /// Imports another program's event with a canary in every property that RFC 5545 and RFC 7986 define, and in
    /// others.
    private func importFile(_ server: TestServer, _ canaries: inout Canaries) async throws {
        func secret() -> String { canaries.secretWord() }
        let title = canaries.titleText().filter { $0.isASCII && $0 != "\\" && $0 != ";" && $0 != "," }
        let text = """
            BEGIN:VCALENDAR
            VERSION:2.0
            PRODID:-//Other//\(secret())//EN
            X-WR-CALNAME:\(secret())
            BEGIN:VEVENT
            UID:one@example.com
            DTSTAMP:20260301T000000Z
            DTSTART:20260305T100000Z
            DTEND:20260305T110000Z
            SUMMARY;LANGUAGE=\(secret()):\(title)
            DESCRIPTION;ALTREP="https://\(secret()).example/":\(secret())
            LOCATION:\(secret())
            COMMENT:\(secret())
            CONTACT:\(secret())
            CATEGORIES:\(secret()),\(secret())
            RESOURCES:\(secret())
            RELATED-TO:\(secret())
            URL:https://\(secret()).example/
            ATTACH:https://\(secret()).example/file
            ORGANIZER;CN=\(secret()):mailto:\(secret())@example.com
            ATTENDEE;CN=\(secret()):mailto:\(secret())@example.com
            REQUEST-STATUS:2.0;\(secret())
            GEO:48.85;2.35
            COLOR:\(secret())
            IMAGE;VALUE=URI:https://\(secret()).example/i.png
            CONFERENCE;VALUE=URI:https://\(secret()).example/meet
            X-\(secret().uppercased()):\(secret())
            IANA-TOKEN:\(secret())
            BEGIN:VALARM
            ACTION:DISPLAY
            TRIGGER:-PT15M
            DESCRIPTION:\(secret())
            END:VALARM
            END:VEVENT
            END:VCALENDAR

            """
        let made = try await server.raw(
            .post, "/v1/circles/c/imports",
            headers: [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"],
            body: ByteBuffer(string: text)
        ).expect(201)
        let id = try #require(made.json["id"]?.string)
        try await server.call(.post, "/v1/imports/\(id)/commit", [:]).expect(200)
    }

    @Test(
        "No private word is in a reduced feed, in any form of it or header of its answer", arguments: UInt64(1)...12
    )
    func reduced(_ seed: UInt64) async throws {
        try await TestServer.run { server in
            var canaries = Canaries(seed: seed)
            try await fill(server, &canaries)
            let reduced: [(String, JSONValue, [String])] = [
                ("titles", ["detail": "titles"], canaries.secrets),
                ("minimal", ["showMinimalDetails": true], canaries.secrets + canaries.titles),
                (
                    "minimal titles", ["showMinimalDetails": true, "detail": "titles"],
                    canaries.secrets + canaries.titles
                ),
                ("busy", ["detail": "busy"], canaries.secrets + canaries.titles),
                (
                    "busy to-dos", ["detail": "busy", "tasksAs": "todos", "completedTasks": "keep"],
                    canaries.secrets + canaries.titles
                ),
            ]
            for (name, configuration, forbidden) in reduced {
                // A label is its maker's own word, and no reader's.
                let label = "label-\(name)"
                let feed = try await server.makeFeed(user: "eve", label: label, config: configuration)
                for form in CalendarForm.allCases {
                    let answer = try await server.raw(.get, feed.path, headers: [.accept: form.mediaType]).expect(200)
                    #expect(answer.text.count > 500)
                    let output = unfolded(answer.text) + "\(answer.headers)"
                    for word in forbidden + [label] {
                        #expect(!output.localizedCaseInsensitiveContains(word), "\(name) as \(form): \(word)")
                    }
                }
            }
            // The search finds what is there: a feed of everything tells nearly all of it.
            let full = try await server.makeFeed(user: "eve", config: ["completedTasks": "keep"])
            let output = unfolded(try await server.raw(.get, full.path).expect(200).text)
            #expect(canaries.titles.allSatisfy { output.contains($0) })
            #expect(canaries.secrets.count { output.contains($0) } > 15)
        }
    }

    private func unfolded(_ text: String) -> String { text.replacing("\r\n ", with: "") }
}
