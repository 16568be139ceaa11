// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Outbound
import TestSupport
import Testing

@testable import KalendsCore

/// One of the emulators of Tests/Providers, as a separate program.
final class ProviderEmulator: Sendable {
    struct Failure: Error {
        var message: String
    }

    let address: String
    private let folder: URL
    private let program: SpawnedProgram
    /// The writing end of the program's input; the program ends when it is closed.
    private let pipe: Int32

    /// Starts `google_emulator.py`, `graph_emulator.py` or another script whose first line ends with its address.
    init(_ script: String) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "emulator-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (input, output, errors) = (folder.appending(path: "in").path, folder.appending(path: "out").path, "err")
        guard unsafe mkfifo(input, 0o600) == 0 else { throw Failure(message: "No pipe.") }
        // Both ways, so that neither end waits for the other.
        pipe = unsafe Glibc.open(input, O_RDWR | O_CLOEXEC)
        let log = folder.appending(path: errors).path
        for file in [output, log] { _ = FileManager.default.createFile(atPath: file, contents: nil) }
        let path = packageRoot.appending(path: "Tests/Providers/\(script)").path
        program = try SpawnedProgram(
            "/usr/bin/env", ["python3", "-B", path], environment: Corpora.environment, in: nil, input: input,
            output: output, error: log)
        var line = ""
        while !line.contains("\n"), program.isRunning {
            try await Task.sleep(for: .milliseconds(50))
            line = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
        }
        guard let first = line.split(separator: "\n").first?.split(separator: " ").last else {
            let why = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            throw Failure(message: "\(script) did not start: \(why)")
        }
        address = String(first)
    }

    func stop() {
        kill(program.processIdentifier, SIGKILL)
        close(pipe)
        try? FileManager.default.removeItem(at: folder)
    }

    /// Sends a request as a browser would, without following redirects.
    func call(_ method: String, _ url: String, _ body: JSONValue? = nil) async throws -> Exchanged {
        try await ExchangeClient().send(
            method, url, headers: [("Content-Type", "application/json")], body: try body?.serialized(),
            longest: 1 << 24)
    }

    @discardableResult
    func control(_ name: String, _ body: JSONValue) async throws -> JSONValue {
        try JSONValue(parsing: try await call("POST", "\(address)/control/\(name)", body).body)
    }

    /// Returns the whole state of the emulator of Google.
    func state() async throws -> JSONValue {
        try JSONValue(parsing: try await call("GET", "\(address)/control/state").body)
    }

    /// Where the person's browser is sent back to, once they have signed in and agreed.
    func consent(_ authorizeURL: String) async throws -> String {
        let answer = try await call("GET", authorizeURL)
        #expect(answer.status == 302, "\(String(decoding: answer.body, as: UTF8.self))")
        return try #require(answer.headers.first { $0.name.lowercased() == "location" }?.value)
    }
}

extension ServerSettings {
    /// Returns settings that point to the emulators of Google and Graph.
    static func emulated(google: String? = nil, graph: String? = nil) -> ServerSettings {
        var settings = ServerSettings()
        settings.connections.returnOrigins = ["https://app.example"]
        if let google {
            settings.connections.googleClientID = "our-client.apps.googleusercontent.com"
            settings.connections.googleClientSecret = Concealed("GOCSPX-x")
            settings.connections.googleAuthorizeURL = "\(google)/o/oauth2/v2/auth"
            settings.connections.googleTokenURL = "\(google)/token"
            settings.connections.googleRevokeURL = "\(google)/revoke"
            settings.connections.googleApiURL = google
        }
        if let graph {
            settings.connections.microsoftClientID = "our-app"
            settings.connections.microsoftClientSecret = Concealed("ms-secret")
            settings.connections.microsoftLoginURL = graph
            settings.connections.microsoftGraphURL = "\(graph)/v1.0"
        }
        return settings
    }
}
