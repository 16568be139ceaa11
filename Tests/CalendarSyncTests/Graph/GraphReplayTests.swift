// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import CalendarSync

@Suite struct GraphReplayTests {
    private static let trace = "graph_traces/real-client.txt"

    @Test(
        "What Microsoft's own clients were recorded to send is answered by the emulator as it was by the recording",
        .needsCorpora(trace))
    func recorded() async throws {
        let emulator = try await GraphEmulator()
        let replay = try await runProgram(
            "/usr/bin/env",
            [
                "python3", "-B", GraphEmulator.script.appending(path: "graph_replay.py").path, emulator.root,
                try #require(Corpora.find(Self.trace)).path,
            ])
        #expect(replay.status == 0, "\(replay.output)\(replay.error)")
        #expect(replay.output.hasSuffix("23 exchanges, 0 differ\n"))
    }
}
