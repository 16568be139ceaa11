// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import TestSupport
import Testing

/// The emulator is checked against what Google publishes; otherwise it would only agree with our own provider.
@Suite struct GoogleReplayTests {
    private static let trace = "google_traces/real-client.txt"
    private static let discovery = "google_calendar_v3_discovery.json"

    /// Whether that Python has Google's client installed.
    private static func hasClient() async throws -> Bool {
        guard let python = Programs.python else { return false }
        return try await runProgram(python, ["-c", "import googleapiclient, google_auth_oauthlib"]).status == 0
    }

    @Test(
        "What Google's own client was recorded to send is answered by the emulator as it was by the recording",
        .needsCorpora(trace))
    func recorded() async throws {
        let emulator = try await GoogleEmulator()
        let result = try await runProgram(
            "/usr/bin/env",
            [
                "python3", "-B", GoogleEmulator.program("google_replay.py"), emulator.address,
                try #require(Corpora.find(Self.trace)).path,
            ])
        #expect(result.status == 0, "\(result.output)\(result.error)")
        #expect(result.output.hasSuffix("30 exchanges, 0 differ\n"))
    }

    @Test(
        "Google's own client is connected, writes, pages, batches and is disconnected",
        .needsCorpora(discovery), .enabled { try await hasClient() })
    func client() async throws {
        let emulator = try await GoogleEmulator()
        let result = try await runProgram(
            try #require(Programs.python),
            [
                "-B", GoogleEmulator.program("google_client.py"), emulator.address,
                try #require(Corpora.find(Self.discovery)).path,
            ])
        #expect(result.status == 0, "\(result.output)\(result.error)")
    }

    @Test(
        "The emulator knows Google's discovery document where it is at hand",
        .needsCorpora(discovery))
    func strict() async throws {
        let bench = try await GoogleBench()
        // These are in the document only.
        try await bench.edit(
            "POST", "?conferenceDataVersion=0",
            [
                "summary": "x", "start": ["date": "2026-12-24"], "end": ["date": "2026-12-25"],
                "guestsCanModify": false, "source": ["title": "t", "url": "https://x.example/"],
            ])
        let good = #""start":{"date":"2026-12-24"},"end":{"date":"2026-12-25"}"#
        for (path, body) in [
            ("?colour=7", "{\(good)}"), ("?sendUpdates=some", "{\(good)}"), ("?maxAttendees=-1", "{\(good)}"),
            ("", "{\(good),\"colour\":\"7\"}"), ("", "{\(good),\"summary\":7}"), ("", "[]"),
        ] {
            let problem = await bench.refused("POST", path, body)
            #expect(problem, "\(path) \(body)")
        }
    }
}

extension GoogleBench {
    /// Whether the emulator refuses an event.
    func refused(_ method: String, _ path: String, _ body: String) async -> Bool {
        do {
            _ = try await edit(method, path, try JSONValue(parsing: Array(body.utf8)))
            return false
        } catch {
            return error is GoogleEmulator.Failure
        }
    }
}
