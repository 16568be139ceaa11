// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import Pages
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("A file is checked on a page")
struct CheckPageTests {
    private static let path = "/app/check"

    /// A calendar with a to-do, which Google ignores, a zone that nobody knows, and markup in its texts.
    private static let file = [
        "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Club <b>//EN", "X-WR-CALNAME:Matches <script>", "BEGIN:VTODO",
        "UID:todo@club.example", "DTSTAMP:20260101T000000Z", "SUMMARY:Call", "END:VTODO", "BEGIN:VEVENT",
        "UID:match@club.example", "DTSTAMP:20260101T000000Z", "DTSTART;TZID=Mars/Olympus:20260711T150000",
        "DTEND;TZID=Mars/Olympus:20260711T140000", "SUMMARY:Match", "END:VEVENT", "END:VCALENDAR", "",
    ].joined(separator: "\r\n")

    @Test("The page says what `kalends check` says of the same file: problems by line, and what each app makes of it")
    func same() async throws {
        try await TestServer.withPasswords { server in
            let ann = try await Browser.signedIn("ann", server)
            let start = try await ann.open(Self.path).expect(200)
            #expect(start.text.contains("/app/connectors") && start.text.contains("aria-current=\"page\""))
            let page = try await ann.upload(start, to: Self.path, Self.file).expect(200)
            #expect(page.headers[.cacheControl] == "no-store")
            let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            let own = directory.appending(path: "a.ics")
            try Self.file.write(to: own, atomically: true, encoding: .utf8)
            let reply = try await runProgram(Programs.kalends, ["check", "--json", own.path])
            let json = try JSONValue(parsing: Array(reply.output.utf8))
            let problems = try #require(json["problems"]?.array)
            #expect(problems.count >= 2)
            for problem in problems {
                let message = try #require(problem["message"]?.string)
                #expect(page.text.contains(message.forHTML), "\(message)")
            }
            let clients = try #require(json["clients"]?.array)
            #expect(clients.count >= 5)
            for client in clients {
                for reason in client["reasons"]?.array ?? [] {
                    let message = try #require(reason["message"]?.string)
                    #expect(page.text.contains(message.forHTML), "\(message)")
                }
            }
            #expect(page.text.contains("Matches &lt;script&gt;") && !page.text.contains("Matches <script>"))
        }
    }

    @Test("A German page says all of it in German, and marks the language of what others said")
    func german() async throws {
        try await TestServer.withPasswords { server in
            let ann = try await Browser.signedIn("ann", server)
            let account = try await ann.open("/app/account").expect(200)
            try await ann.send(account, to: "/app/account", ["language": "de"]).expect(200)
            let start = try await ann.open(Self.path).expect(200)
            let page = try await ann.upload(start, to: Self.path, Self.file).expect(200)
            for text in [
                "Das Ende liegt vor dem Beginn; der Termin hat keine Dauer.", "übergeht die Aufgabe",
                "verwirft einen Termin: Das Ende liegt vor dem Beginn", "Die Datei beschreibt diese Zeitzone nicht",
            ] { #expect(page.text.contains(text), "\(text)") }
            #expect(!page.text.contains("lang=\"en\"") && !page.text.contains("The end is before"))
        }
    }

    @Test("Every sentence about the samples, and about files that others wrote, has one in each language")
    func sentences() throws {
        var (unknown, known): (Set<String>, Set<String>) = ([], [])
        func look(_ sentence: Sentence) {
            for language in Language.allCases {
                guard let said = Words.of(language)(sentence) else {
                    unknown.insert("\(language): \(sentence.text)")
                    continue
                }
                known.insert(said)
                // The English words are the program's own, with commas in all numbers.
                guard language == .english else { continue }
                let (own, other) = (sentence.text.filter { $0 != "," }, said.filter { $0 != "," })
                if own != other { unknown.insert("\(sentence.text) => \(said)") }
            }
        }
        let folders = [packageRoot.appending(path: "Samples")] + (Corpora.calendars.map { [$0] } ?? [])
        for folder in folders {
            let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
            for path in paths where [".ics", ".vcs", ".csv", ".html", ".json"].contains(where: path.hasSuffix) {
                let bytes = [UInt8](try Data(contentsOf: folder.appending(path: path)))
                guard bytes.count < 200_000 else { continue }
                let reading = CalendarReader().read(bytes)
                for problem in reading.problems { look(problem.sentence) }
                if let refusal = reading.refusalSentence { look(refusal) }
                for reason in reading.verdicts(of: bytes).flatMap(\.reasons) { look(reason.sentence) }
            }
        }
        #expect(known.count > 30)
        #expect(unknown.isEmpty, "\(unknown.sorted())")
    }

    @Test("Nothing of a checked file is stored, and a page of its own says so to whoever asks for the address again")
    func nothing() async throws {
        try await TestServer.withPasswords { server in
            let ann = try await Browser.signedIn("ann", server)
            let start = try await ann.open(Self.path).expect(200)
            let before = try await server.services.store.read { try $0.latestChange() }
            _ = try await ann.upload(start, to: Self.path, Self.file).expect(200)
            let imports = try await server.call(.get, "/v1/circles/c/imports", as: "ann").expect(200)
            #expect(imports.json["items"]?.array?.isEmpty == true)
            #expect(try await server.services.store.read { try $0.latestChange() } == before)
            #expect(!server.log.text.contains("Matches"))
            let again = try await ann.open(Self.path).expect(200)
            #expect(!again.text.contains("Matches"))
        }
    }

    @Test("A file of another kind, an empty one and one that is too large are said at the field or in the result")
    func refused() async throws {
        var settings = ServerSettings()
        settings.maxImportBytes = 2 << 20
        try await TestServer.withPasswords(settings: settings) { server in
            let ann = try await Browser.signedIn("ann", server)
            let start = try await ann.open(Self.path).expect(200)
            let web = try await ann.upload(start, to: Self.path, "<html><body>no calendar</body></html>").expect(200)
            #expect(web.text.contains("Cannot be read"))
            let empty = try await ann.upload(start, to: Self.path, "").expect(422)
            #expect(empty.text.contains("aria-invalid=\"true\""))
            let large = Self.file + String(repeating: " ", count: 3 << 20)
            let answer = try await ann.upload(start, to: Self.path, large).expect(422)
            #expect(answer.text.contains("2 MB") && answer.text.contains("aria-invalid=\"true\""))
            for wrong in ["", "x"] {
                try await ann.upload(start, to: Self.path, Self.file, token: wrong).expect(403)
            }
            let token = try #require(HTMLForm.all(in: start.text).first?.token)
            try await ann.post(Self.path, [("token", token), ("file", Self.file)]).expect(403)
        }
    }
}

extension String {
    /// The text as templates escape it.
    fileprivate var forHTML: String {
        [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&#39;"), ("`", "&#96;")]
            .reduce(self) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }
}
