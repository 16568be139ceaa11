// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import FeedServer

@Suite("The demo within the program")
struct DemoFilesTests {
    private static let samples = packageRoot.appending(path: "Samples")
    private static let sources = packageRoot.appending(path: "Sources/FeedServer/Demo")

    @Test("What the program carries is the demo of the samples, to the byte; KALENDS_WRITE_DOCS=1 takes it over again")
    func isThatOfTheSamples() throws {
        let document = try JSONValue(parsing: try Data(contentsOf: Self.samples.appending(path: "demo.json")))
        let names = (document["imports"]?.array ?? []).compactMap(\.string)
        #expect(names.count == 3)
        if ProcessInfo.processInfo.environment["KALENDS_WRITE_DOCS"] == "1" {
            try Self.write(document, names)
            return
        }
        #expect(try JSONValue(parsing: Array(DemoFiles.document.utf8)) == document)
        for name in names {
            let file = try Data(contentsOf: Self.samples.appending(path: "exports/\(name)"))
            #expect(DemoFiles.export(name).map { Data($0) } == file, "\(name)")
        }
    }

    @Test("serve --demo needs no file of the sources")
    func anywhere() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "demo-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let server = try await RunningServer(["--demo"], in: folder)
        defer { server.remove() }
        let text = try await server.kalends(["export", "--circle", "rivera-family"]).output
        #expect(text.components(separatedBy: "BEGIN:VEVENT").count > 40)
        #expect(await server.stop() == 0)
        try FileManager.default.removeItem(at: folder)
    }

    /// Writes each element of the document on its own line, so that a change shows where it is.
    private static func write(_ document: JSONValue, _ names: [String]) throws {
        var lines: [String] = []
        for (name, value) in (document.object ?? [:]).sorted(by: { $0.key < $1.key }) {
            if let items = value.array {
                let texts = try items.map { "    " + (try $0.text()) }
                lines.append("\"\(name)\": [\n\(texts.joined(separator: ",\n"))\n]")
            } else {
                lines.append("\"\(name)\": \(try value.text())")
            }
        }
        let head = "// SPDX-License-Identifier: Apache-2.0\n\n"
        let origin = "written by the tests with KALENDS_WRITE_DOCS=1 from Samples"
        let document = "{\n" + lines.joined(separator: ",\n") + "\n}"
        try
            (head + "extension DemoFiles {\n    /// `demo.json`, \(origin).\n    static let document = "
            + literal(document) + "\n}\n")
            .write(to: sources.appending(path: "DemoFiles+Document.swift"), atomically: true, encoding: .utf8)
        for name in names {
            let word = name.prefix { $0 != "-" }
            let text = try String(contentsOf: samples.appending(path: "exports/\(name)"), encoding: .utf8)
            let content = text.replacingOccurrences(of: "\r\n", with: "\n").dropLast()
            try
                (head + "extension DemoFiles {\n    /// `\(name)`, \(origin); its lines end with CRLF there.\n"
                + "    static let \(word)Export = " + literal(String(content)) + "\n}\n")
                .write(
                    to: sources.appending(path: "DemoFiles+\(word.capitalized).swift"), atomically: true,
                    encoding: .utf8)
        }
    }

    private static func literal(_ text: String) -> String {
        let lines = text.replacingOccurrences(of: "\t", with: "\\#t").components(separatedBy: "\n")
        return "#\"\"\"\n" + lines.map { $0.isEmpty ? "" : "        " + $0 }.joined(separator: "\n")
            + "\n        \"\"\"#"
    }
}
