// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import CalendarSync

@Suite struct GraphReplayTests {
    private static let trace = GraphEmulator.shared("graph_traces/real-client.txt").path

    @Test(
        "What Microsoft's own clients were recorded to send is answered by the emulator as it was by the recording",
        .enabled(if: FileManager.default.fileExists(atPath: trace)))
    func recorded() throws {
        let emulator = try GraphEmulator()
        let replay = Process()
        replay.executableURL = URL(filePath: "/usr/bin/env")
        replay.arguments = [
            "python3", "-B", GraphEmulator.script.appending(path: "graph_replay.py").path, emulator.root, Self.trace,
        ]
        let output = Pipe()
        replay.standardOutput = output
        try replay.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        replay.waitUntilExit()
        #expect(replay.terminationStatus == 0, "\(text)")
        #expect(text.hasSuffix("23 exchanges, 0 differ\n"))
    }
}
