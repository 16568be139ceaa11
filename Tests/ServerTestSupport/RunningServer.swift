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
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        let process = try SpawnedProgram(
            Programs.kalends,
            ["serve", "--database", folder.appending(path: "k.sqlite").path, "--port", "0"] + arguments,
            environment: Programs.environment.merging(environment) { _, new in new }, in: current.path,
            input: "/dev/null", output: log, error: log)
        self.process = process
        var found: Int?
        while found == nil && process.isRunning {
            let text = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
            // As text, and as JSON.
            if let line = text.split(separator: "\n").first(where: { $0.contains("serving") }),
                let port = line.firstMatch(of: /\bport(=|":")(\d+)/)
            {
                found = Int(port.2)
            }
            if found == nil { try await Task.sleep(for: .milliseconds(50)) }
        }
        let text = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
        port = try #require(found, "\(text)")
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
