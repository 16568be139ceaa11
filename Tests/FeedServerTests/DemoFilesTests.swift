// SPDX-License-Identifier: Apache-2.0

import Foundation
import ProgramFiles
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("The demo within the program")
struct DemoFilesTests {
    private static let samples = packageRoot.appending(path: "Samples")

    @Test("What the program carries is the demo of the samples, to the byte")
    func isThatOfTheSamples() throws {
        let document = try JSONValue(parsing: try Data(contentsOf: Self.samples.appending(path: "demo.json")))
        let names = (document["imports"]?.array ?? []).compactMap(\.string)
        #expect(names.count == 3)
        #expect(try JSONValue(parsing: ProgramFiles.bytes(of: "demo.json")) == document)
        for name in names {
            let file = try Data(contentsOf: Self.samples.appending(path: "exports/\(name)"))
            #expect(Data(ProgramFiles.bytes(of: name)) == file, "\(name)")
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
}
