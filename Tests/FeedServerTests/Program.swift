// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

/// Runs a program to its end.
struct ProgramResult: Sendable {
    var status: Int32
    var output: String
    var error: String
}

@discardableResult
func runProgram(
    _ path: String, _ arguments: [String], environment: [String: String] = [:], input: String? = nil,
    in folder: URL? = nil
) async throws -> ProgramResult {
    // Files, not pipes: a program that writes much never waits for its reader.
    let base = FileManager.default.temporaryDirectory.appending(path: "run-\(UUID().uuidString)")
    let (out, err, inp) = (base.path + ".out", base.path + ".err", base.path + ".in")
    defer { for file in [out, err, inp] { try? FileManager.default.removeItem(atPath: file) } }
    for file in [out, err] { _ = FileManager.default.createFile(atPath: file, contents: nil) }
    _ = FileManager.default.createFile(atPath: inp, contents: Data((input ?? "").utf8))
    let program = try SpawnedProgram(
        path, arguments, environment: Programs.environment.merging(environment) { _, new in new }, in: folder?.path,
        input: inp, output: out, error: err)
    let status = await program.ended()
    func text(_ file: String) -> String {
        String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
    }
    return ProgramResult(status: status, output: text(out), error: text(err))
}

extension Process {
    private static let starting = NSLock()

    /// Starts one process after the other: Foundation has crashed in starts at the same time.
    func start() throws { try Self.starting.withLock { try run() } }
}

/// Programs that tests use when the machine has them; `make test` installs them all.
enum Programs {
    /// A Python with the readers of `Tests/requirements.txt`.
    static let python = ProcessInfo.processInfo.environment["KALENDS_PYTHON"]
    /// What programs inherit: the server takes every variable of this kind for a setting of its own.
    static let environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("KALENDS_") }
    static let vdirsyncer = find("vdirsyncer")
    static let khal = find("khal")

    /// The executable that was built with these tests.
    static let kalends: String = {
        let beside = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        let candidates = [
            beside.appending(path: "kalends").path, packageRoot.appending(path: ".build/debug/kalends").path,
        ]
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0) } ?? candidates[1]
    }()

    private static func find(_ name: String) -> String? {
        ["/usr/bin", "/usr/local/bin"].map { "\($0)/\(name)" }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }
}

/// A server as a process of its own, in a folder of its own.
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
        for _ in 0..<600 where found == nil && process.isRunning {
            let text = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
            if let line = text.split(separator: "\n").first(where: { $0.contains(" serving") }),
                let word = line.split(separator: " ").first(where: { $0.hasPrefix("port=") })
            {
                found = Int(word.dropFirst(5))
            }
            if found == nil { try await Task.sleep(for: .milliseconds(50)) }
        }
        let text = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
        port = try #require(found, "\(text)")
    }

    /// Asks it to stop and returns its exit status.
    func stop() -> Int32 {
        signal(SIGTERM)
        return process.waitUntilExit()
    }

    func signal(_ signal: Int32) { Glibc.kill(process.processIdentifier, signal) }

    /// Ends it as a power failure would.
    func kill() {
        signal(SIGKILL)
        _ = process.waitUntilExit()
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    /// Runs a command on its database.
    func kalends(_ arguments: [String], input: String? = nil) async throws -> ProgramResult {
        try await runProgram(Programs.kalends, arguments + ["--database", database], input: input, in: packageRoot)
    }
}
