// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestSupport
import Testing

/// A server as a separate process, with its own folder.
final class RunningServer: Sendable {
    let folder: URL
    let port: Int
    private let process: SpawnedProgram
    var processIdentifier: Int32 { process.processIdentifier }
    var isRunning: Bool { process.isRunning }
    var log: String { String(decoding: FileManager.default.contents(atPath: logFile) ?? Data(), as: UTF8.self) }
    var database: String { folder.appending(path: "k.sqlite").path }
    var logFile: String { folder.appending(path: "log").path }

    /// Starts `kalends serve` and waits until it answers.
    ///
    /// - Parameter current: the folder that it runs in.
    init(
        _ arguments: [String] = [], folder existing: URL? = nil, in current: URL = packageRoot,
        environment: [String: String] = [:]
    ) async throws {
        let folder =
            existing ?? FileManager.default.temporaryDirectory.appending(path: "srv-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.folder = folder
        let log = folder.appending(path: "log").path
        func start() async throws -> (process: SpawnedProgram, port: Int?, text: String) {
            _ = FileManager.default.createFile(atPath: log, contents: nil)
            let process = try SpawnedProgram(
                Programs.kalends,
                ["serve", "--database", folder.appending(path: "k.sqlite").path, "--port", "0"] + arguments,
                environment: Programs.environment.merging(environment) { _, new in new }, in: current.path,
                input: "/dev/null", output: log, error: log)
            while true {
                let isRunning = process.isRunning
                let text = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
                // As text, and as JSON.
                let line = text.split(separator: "\n").first { $0.contains("serving") }
                let port = line?.firstMatch(of: /\bport(=|":")(\d+)/).flatMap { Int($0.2) }
                if port != nil || !isRunning { return (process, port, text) }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        var started = try await start()
        // Somebody else may take the free port before the server opens it.
        if started.port == nil, started.text.contains("Stop what listens there") { started = try await start() }
        process = started.process
        port = try #require(started.port, "\(started.text)")
    }

    /// Asks the server to stop and returns its exit status.
    func stop() async -> Int32 {
        signal(SIGTERM)
        return await process.ended()
    }

    func signal(_ signal: Int32) { Glibc.kill(process.processIdentifier, signal) }

    /// Ends the server as a power failure would.
    func kill() async {
        signal(SIGKILL)
        _ = await process.ended()
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    /// Runs a command on the server's database.
    func kalends(_ arguments: [String], input: String? = nil) async throws -> ProgramResult {
        try await runProgram(Programs.kalends, arguments + ["--database", database], input: input, in: packageRoot)
    }
}
