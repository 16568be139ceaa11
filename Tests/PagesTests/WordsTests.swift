// SPDX-License-Identifier: Apache-2.0

import Base
import Calendar
import Foundation
import PhoneTexts
import Testing

@testable import Pages

struct WordsTests {
    static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/Pages").resolvingSymlinksInPath()

    /// Returns the files of a folder with their text.
    static func files(_ ending: String) throws -> [(name: String, text: String)] {
        let all = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        return try (all?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == ending }
            .map { ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8)) }
    }

    @Test("Each word that a page names is there, and each word is used")
    func used() throws {
        let swift = try Self.files("swift").map(\.text).joined()
        let templates = try Self.files("mustache").map(\.text).joined()
        var named: Set<String> = []
        for match in templates.matches(of: /\{\{w\.([A-Za-z0-9_]+)\}\}/) { named.insert(String(match.1)) }
        let inTemplates = named
        for match in swift.matches(of: /"([a-z][A-Za-z0-9]*(?:_[A-Za-z0-9-]+)?)"/) { named.insert(String(match.1)) }
        // Names that are put together: what is before the underscore, with any case behind it.
        let prefixes = Set(swift.matches(of: /"([a-zA-Z]+_)(?:"|\\\()/).map { String($0.1) })
        let keys = Words.of(.english).keys
        let plain = Set(keys.map { String($0.prefix { $0 != "#" }) })
        for key in inTemplates { #expect(plain.contains(key), "A template names the word \(key).") }
        for match in swift.matches(of: /words\[\s*"([A-Za-z0-9_]+)"/) {
            let key = String(match.1)
            #expect(key.hasSuffix("_") || plain.contains(key), "The word \(key) is missing.")
        }
        for match in swift.matches(
            of:
                /(?:words|sentence|paper\.words|paper\.act|paper\.linkButton|paper\.badge\([^"]*|paper\.fact|emptyState)\(\s*"([A-Za-z0-9_]+)"/
        ) {
            let key = String(match.1)
            #expect(key.hasSuffix("_") || plain.contains(key), "The word \(key) is missing.")
        }
        // The words of feeds about themselves are read by their renderer.
        for key in plain where !key.hasPrefix("notice") && !key.hasPrefix("renewal") {
            #expect(
                named.contains(key) || prefixes.contains { key.hasPrefix($0) }, "Nothing uses the word \(key).")
        }
        for notice in Notice.What.allCases {
            #expect(plain.contains("notice" + notice.rawValue.prefix(1).uppercased() + notice.rawValue.dropFirst()))
        }
    }

    @Test("Words that are put together from a case are there for every case")
    func cases() {
        let keys = Words.of(.english).keys
        let made =
            EntryKind.allCases.map(\.word) + ItemPage.Status.allCases.map { "status_\($0.rawValue)" }
            + CalendarPage.View.allCases.map { "view_\($0.rawValue)" }
            + Provider.allCases.flatMap { ["connect_\($0.rawValue)", "connectAbout_\($0.rawValue)"] }
            + ConnectionPage.Run.Trigger.allCases.map { "trigger_\($0.rawValue)" }
            + ConnectionPage.Change.What.allCases.map { "change_\($0.rawValue)" }
            + ConflictsPage.Kind.allCases.flatMap { ["conflict_\($0.rawValue)", "conflictText_\($0.rawValue)"] }
            + ConflictsPage.Conflict.Outcome.allCases.map { "outcome_\($0.rawValue)" }
            + ActivityPage.Change.allCases.map { "activity_\($0.rawValue)" }
            + ActivityPage.Subject.allCases.map { "activityWhat_\($0.rawValue)" }
            + ActivityPage.Way.allCases.map { "activityWay_\($0.rawValue)" }
            + ImportPage.Change.allCases.map { "import_\($0.rawValue)" }
            + FeedPage.LeftOut.Rule.allCases.map { "leftOut_\($0.rawValue)" }
            + ImportPage.Earlier.State.allCases.map { "importState_\($0.rawValue)" }
            + Draft.Problem.Code.allCases.map { "problem_\($0.rawValue)" }
            + FileProblem.Severity.allCases.map { "severity_\($0.rawValue)" }
            + OfficeDaysPage.Status.allCases.map { "office_\($0.rawValue)" }
            + OfficeDaysPage.Part.allCases.map { "officeGroup_\($0.rawValue)" }
            + ContentGroup.allCases.map { "contentGroup_\($0.rawValue)" }
            + OfficeDaysPage.Source.allCases.map { "officeWhy_\($0.rawValue)" }
            + OfficeDaysPage.Problem.allCases.map { "officeCause_\($0.rawValue)" }
            + CheckPage.Verdict.Outcome.allCases.map { "verdict_\($0.rawValue)" }
            + CalendarApp.allCases.flatMap { ["appName_\($0.rawValue)", "appStep_\($0.rawValue)1"] }
            + ErrorPage.Kind.allCases.flatMap { ["errorTitle_\($0.rawValue)", "errorText_\($0.rawValue)"] }
        for key in made { #expect(keys.contains(key), "\(key)") }
        #expect(keys.filter { $0.hasPrefix("problem_") }.count == Draft.Problem.Code.allCases.count)
        for trouble in ConnectorPhone.Trouble.allCases.map(\.rawValue) {
            for name in ["connectorNeeds_", "connectorTrouble_", "connectorHow_"] {
                #expect(keys.contains(name + trouble), "\(name)\(trouble)")
            }
        }
    }

    @Test("No template has a text, a style or a script of its own, and none leaves an escape out")
    func templatesAreMute() throws {
        for (name, text) in try Self.files("mustache") {
            #expect(!text.contains("{{{") && !text.contains("{{&"), "\(name) leaves an escape out.")
            #expect(text.firstMatch(of: /\sstyle=|\son[a-z]+=|<style|<script>/) == nil, "\(name)")
            let bare = text.replacing(/\{\{[^}]*\}\}/, with: "").replacing(/<[^>]*>/, with: "")
            #expect(bare.firstMatch(of: /[A-Za-z]/) == nil, "\(name) has a text: \(bare)")
            for match in text.matches(of: /(?:aria-label|title|alt|placeholder)="([^"{]+)"/) {
                Issue.record("\(name) has a text in an attribute: \(match.1)")
            }
        }
    }

    @Test("Every file of the folder is part of the program")
    func filesAreListed() throws {
        func names(_ ending: String) throws -> [String] {
            try Self.files(ending).map { String($0.name.dropLast(ending.count + 1)) }.sorted()
        }
        #expect(try names("mustache") == PageFiles.templates.map(\.0).sorted())
        #expect(try names("js") == PageFiles.scripts.map(\.0).sorted())
        #expect(try names("words") == Language.allCases.map(\.rawValue).sorted())
        for (name, text) in try Self.files("mustache") {
            let own = PageFiles.templates.first { $0.0 == String(name.dropLast(9)) }
            #expect(own.map { String(decoding: $0.1, as: UTF8.self) } == text, "\(name)")
        }
    }

    @Test("Every name in a template is one that a page gives")
    func templateNames() throws {
        // One page is only for tests.
        let parts = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "PartsPage.swift")
        let swift = try Self.files("swift").map(\.text).joined() + String(contentsOf: parts, encoding: .utf8)
        for (file, text) in try Self.files("mustache") {
            for match in text.matches(of: /\{\{[#^]?([a-zA-Z]+)(?:\.[a-zA-Z]+)?\}\}/) {
                let name = String(match.1)
                let isGiven =
                    swift.contains("\"\(name)\":") || swift.contains("[\"\(name)\"] =")
                    || (BadgeTone(text: name) != nil) || name == "w"
                #expect(isGiven, "\(file) names \(name).")
            }
        }
    }

    @Test("The connector says the same on a page as on a phone")
    func phone() {
        let words = Words.of(.english)
        let phone = ConnectorTexts(app: "Kalends")
        let app = ["app": "Kalends"]
        #expect(words["connectorsTitle"] == phone.menu)
        #expect(Provider.apple.name == phone.name)
        #expect(words["connectorConnected"] == phone.status(isConnected: true))
        #expect(words["connectorNotConnected"] == phone.status(isConnected: false))
        #expect(words["connectorSyncing"] == phone.subtitle(isConnected: true))
        #expect(words["connectorApprove"] == phone.subtitle(isConnected: false))
        #expect(words("connectorExplain", app) == phone.explanation)
        #expect(
            ["connectorView", "connectorAdd", "connectorNever"].map { words[$0] } == phone.capabilities.map(\.text))
        #expect(words["connectorConnect"] == phone.connect)
        #expect(words["connectorDisconnect"] == phone.disconnect)
        #expect(words["connectorCalendars"] == phone.account)
        #expect(words("connectorRead", app) == phone.readToggle)
        #expect(words("connectorWrite", app) == phone.writeToggle)
        #expect(words["connectorWriteHint"] == phone.writeNote)
        #expect(words["connectorManage"] == phone.managePermissions)
        #expect(words["connectorDenied"] == phone.denied)
        #expect(words["connectorOpenSettingsHow"].hasPrefix(phone.openSettings))
        #expect(words("connectorDisconnected", app) == phone.disconnected)
    }
}
