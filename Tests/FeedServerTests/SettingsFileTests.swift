// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import KalendsCore

@Suite("A file of settings")
struct SettingsFileTests {
    private static func with<Value>(_ text: String, _ body: (String) async throws -> Value) async throws -> Value {
        let file = FileManager.default.temporaryDirectory.appending(path: "settings-\(UUID().uuidString).conf")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(text.utf8).write(to: file)
        return try await body(file.path)
    }

    @Test("Lines of name = value are taken whole, without the blanks around them; comments are not")
    func lines() async throws {
        let text =
            "# port = 1\n\n  port=8123\r\n\tappName =  Our family = yours # and more  \nlinkTemplate = https://a/{id}?x=1\n"
        try await Self.with(text) { path in
            let file = try SettingsFile(path: path)
            #expect(file.faults.isEmpty)
            #expect(
                file.values == [
                    "port": "8123", "appName": "Our family = yours # and more", "linkTemplate": "https://a/{id}?x=1",
                ])
        }
    }

    @Test(
        "Each line that is wrong is named with its number, and a name that is nearly right with the one that was meant")
    func faults() async throws {
        let text = "port\nprot = 1\nport = x\n# a comment\ndemo = true\ndemo = false\nhost =\n"
        try await Self.with(text) { path in
            let result = try await runProgram(Programs.kalends, ["settings", "--config", path])
            #expect(result.status == 2)
            for sentence in [
                "\(path), line 1: must be name = value,", "\(path), line 2: prot is not a setting; did you mean port?",
                "port must be a whole number from 0 to 65535.", "\(path), line 6: demo is set for the second time.",
                "host must not be empty: leave it out.",
            ] {
                #expect(result.error.contains(sentence), "\(result.error)")
            }
        }
    }

    @Test("What is not text is refused in a sentence")
    func noText() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "settings-\(UUID().uuidString).conf")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data([0x70, 0xFF, 0x3D]).write(to: file)
        let result = try await runProgram(Programs.kalends, ["settings", "--config", file.path])
        #expect(result.status == 2 && result.error == "\(file.path) is not text in UTF-8.\n", "\(result.error)")
    }

    @Test("The template holds every setting once, what is set as a value and no secret; it is a valid file as it is")
    func template() async throws {
        let result = try await runProgram(
            Programs.kalends, ["settings", "--template", "--port", "8123", "--app-name", "Our family"],
            environment: ["KALENDS_JWT_SECRET": "0123456789abcdef0123456789abcdef"])
        #expect(result.status == 0 && !result.output.contains("0123456789abcdef"))
        let lines = result.output.split(separator: "\n")
        for setting in Setting.all {
            let own = lines.filter { $0.hasPrefix("#\(setting.name) =") || $0.hasPrefix("\(setting.name) =") }
            #expect(own.count == 1, "\(setting.name)")
        }
        try await Self.with(result.output) { path in
            let file = try SettingsFile(path: path)
            #expect(file.faults.isEmpty && file.values == ["port": "8123", "appName": "Our family"])
        }
    }

    @Test("Every default that the template shows is a valid value")
    func defaults() async throws {
        let template = try await runProgram(Programs.kalends, ["settings", "--template"]).output
        let given = template.split(separator: "\n").compactMap { line -> Substring? in
            guard line.hasPrefix("#"), !line.hasPrefix("# "), !line.hasPrefix("## "), !line.hasSuffix("=") else {
                return nil
            }
            return line.dropFirst()
        }
        #expect(given.count > 20)
        try await Self.with(given.joined(separator: "\n").replacing("metricsPort = no port", with: "")) { path in
            let result = try await runProgram(Programs.kalends, ["settings", "--config", path])
            #expect(result.status == 0, "\(result.error)")
        }
    }
}
