// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("The input of commands")
struct CommandInputTests {
    /// Runs a shell command line in which `kalends` is the program; a command that runs too long is killed.
    private static func shell(_ line: String, in folder: URL) async throws -> ProgramResult {
        try await runProgram(
            "/usr/bin/timeout",
            [
                "-s", "KILL", "120", "/bin/bash", "-c",
                "ulimit -v \(Programs.isSanitized ? "unlimited" : "16000000"); kalends() { \"$KALENDS\" \"$@\"; }; \(line)",
            ],
            environment: ["KALENDS": Programs.kalends], in: folder)
    }

    private static func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "input-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test(
        "A device, a folder and a socket are not files, and are refused at once",
        arguments: ["check", "parse", "format", "expand --from 2026-01-01 --to 2026-02-01"])
    func noFiles(command: String) async throws {
        try await Self.withFolder { folder in
            for (name, kind) in [("/dev/zero", "a device"), ("/dev/urandom", "a device"), ("/dev", "a folder")] {
                let result = try await Self.shell("kalends \(command) \(name)", in: folder)
                #expect(result.status == 3 && result.error == "\(name) is \(kind) and not a file.\n", "\(result.error)")
            }
            let fed = try await Self.shell("kalends \(command) - < /dev/zero", in: folder)
            #expect(fed.status == 3 && fed.error == "Standard input is a device and not a file.\n", "\(fed.error)")
            // The one device with an end.
            let empty = try await Self.shell("kalends \(command) /dev/null", in: folder)
            #expect(empty.status == 1, "\(empty.error)")
            let socket = "import socket; socket.socket(socket.AF_UNIX).bind('s')"
            let named = try await Self.shell("python3 -c \"\(socket)\"; kalends \(command) s", in: folder)
            #expect(named.status == 3 && named.error == "s is a socket and not a file.\n", "\(named.error)")
        }
    }

    @Test("Endless input is refused at a limit, also through a pipe", arguments: ["check", "parse"])
    func endless(command: String) async throws {
        try await Self.withFolder { folder in
            let piped = try await Self.shell("cat /dev/zero | kalends \(command) -", in: folder)
            #expect(piped.status == 3, "\(piped.status)")
            #expect(piped.error.contains("goes on and on; at most 268,435,456 bytes are read."), "\(piped.error)")
        }
    }

    @Test("A file beyond the limit is refused before it is read, with its length", arguments: ["check", "parse"])
    func huge(command: String) async throws {
        try await Self.withFolder { folder in
            let result = try await Self.shell("truncate -s 1T big.ics; kalends \(command) big.ics", in: folder)
            #expect(result.status == 3)
            #expect(result.error.hasPrefix("big.ics is 1,099,511,627,776 bytes long; at most "), "\(result.error)")
        }
    }

    @Test("Waiting for a pipe that nobody writes to is announced, and does not last for ever")
    func silentPipe() async throws {
        try await Self.withFolder { folder in
            let result = try await Self.shell("mkfifo f; kalends check f", in: folder)
            #expect(result.status == 3)
            #expect(
                result.error == """
                    Waiting for f, from which nothing has come yet.
                    f is a pipe, and nobody wrote to it within 30 seconds.

                    """)
        }
    }

    @Test("A pipe that somebody writes to is read to its end", arguments: ["parse", "check"])
    func pipe(command: String) async throws {
        let sample = packageRoot.appending(path: "Samples/exports/google-export.ics").path
        try await Self.withFolder { folder in
            for line in [
                "mkfifo f; (sleep 1; cat '\(sample)' > f) & kalends \(command) f",
                "kalends \(command) <(cat '\(sample)')",
            ] {
                let result = try await Self.shell(line, in: folder)
                #expect(result.status <= 1 && result.output.contains("VEVENT"), "\(result.error)")
            }
        }
    }

    @Test("A file of settings must be a file, not a device or an endless pipe")
    func settings() async throws {
        try await Self.withFolder { folder in
            let device = try await Self.shell("kalends serve --port 0 --config /dev/zero", in: folder)
            #expect(device.status == 2 && device.error.contains("/dev/zero is a device"), "\(device.error)")
            let endless = try await Self.shell("kalends serve --port 0 --config <(cat /dev/zero)", in: folder)
            #expect(endless.status == 2 && endless.error.contains("at most 1,048,576 bytes"), "\(endless.error)")
            for name in ["/dev/zero", "/dev"] {
                let backup = try await Self.shell("kalends restore \(name) --database k.sqlite", in: folder)
                #expect(backup.status == 3 && backup.error.contains("not a backup"), "\(backup.error)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    @Test("A key that is a pipe or endless is refused in a sentence, and not waited for")
    func key() async throws {
        try await Self.withFolder { folder in
            let serve = "kalends serve --port 0 --database k.sqlite"
            let pipe = try await Self.shell("mkfifo -m 600 k.sqlite.key; \(serve)", in: folder)
            #expect(
                pipe.status == 3 && pipe.error.contains("k.sqlite.key cannot be used: it is not a file."),
                "\(pipe.error)")
            let huge = try await Self.shell(
                "rm k.sqlite.key; (umask 077; truncate -s 1T k.sqlite.key); \(serve)", in: folder)
            #expect(huge.status == 3 && huge.error.contains("does not hold a key"), "\(huge.error)")
        }
    }

    @Test("An import is read up to the server's own limit")
    func imports() async throws {
        let server = try await RunningServer(["--demo", "--max-import-bytes", "10000"])
        defer { server.remove() }
        let file = server.folder.appending(path: "long.ics").path
        _ = FileManager.default.createFile(atPath: file, contents: Data(repeating: 65, count: 10_001))
        let long = try await server.kalends(["import", file, "--circle", "rivera-family"])
        #expect(long.status == 3 && long.error.contains("at most 10,000 bytes are read"), "\(long.error)")
        let device = try await server.kalends(["import", "/dev/zero", "--circle", "rivera-family"])
        #expect(device.status == 3 && device.error.contains("is a device"), "\(device.error)")
        #expect(await server.stop() == 0)
    }
}
