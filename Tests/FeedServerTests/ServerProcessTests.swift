// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("The server as a process")
struct ServerProcessTests {
    private static func status(_ server: RunningServer, _ path: String = "/healthz") async throws -> String {
        try await runProgram(
            "/usr/bin/curl",
            ["-s", "-m", "300", "-o", "/dev/null", "-w", "%{http_code}", "http://127.0.0.1:\(server.port)\(path)"]
        ).output
    }

    @Test("SIGHUP does not end it")
    func hangup() async throws {
        let server = try await RunningServer()
        defer { server.remove() }
        for _ in 0..<3 {
            #expect(Glibc.kill(server.processIdentifier, SIGHUP) == 0)
            try await Task.sleep(for: .milliseconds(200))
            #expect(try await Self.status(server) == "200")
        }
        #expect(server.log.contains("SIGHUP"))
        #expect(await server.stop() == 0)
        #expect(server.log.contains("stopped"))
    }

    @Test("When its terminal is closed it stops in order")
    func terminal() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tty-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let script = """
            import os, pty, sys, time
            child, master = pty.fork()
            if child == 0:
                log = os.open(sys.argv[2] + "/log", os.O_WRONLY | os.O_CREAT)
                os.dup2(log, 2)
                os.execv(sys.argv[1], [sys.argv[1], "serve", "--port", "0", "--database", sys.argv[2] + "/k.sqlite"])
            for _ in range(600):
                time.sleep(0.1)
                if " serving" in open(sys.argv[2] + "/log").read(): break
            os.close(master)
            for _ in range(300):
                done, status = os.waitpid(child, os.WNOHANG)
                if done: print(os.waitstatus_to_exitcode(status)); sys.exit(0)
                time.sleep(0.1)
            os.kill(child, 9)
            print("goes on")
            """
        let result = try await runProgram("/usr/bin/env", ["python3", "-c", script, Programs.kalends, folder.path])
        #expect(result.output == "0\n", "\(result.output)\(result.error)")
        #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "k.sqlite.sock").path))
    }

    @Test(
        "Without descriptors left it waits, and takes no core meanwhile",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/prlimit")))
    func descriptors() async throws {
        let server = try await RunningServer()
        defer { server.remove() }
        #expect(try await Self.status(server) == "200")
        let process = server.processIdentifier
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").compactMap { Int($0) }
        // Numbers are given from the lowest that is free: three of them are left.
        let limit = (0...open.count + 4).filter { !open.contains($0) }[3]
        #expect(
            try await runProgram("/usr/bin/prlimit", ["--pid", "\(process)", "--nofile=\(limit):\(limit)"]).status == 0)
        let script = """
            import socket, sys, time
            held = [socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=5) for _ in range(30)]
            def used():
                fields = open("/proc/" + sys.argv[2] + "/stat").read().rsplit(")", 1)[1].split()
                return (int(fields[11]) + int(fields[12])) / 100
            time.sleep(1)
            before = used()
            time.sleep(4)
            print(used() - before)
            for one in held: one.close()
            """
        let spent = try await runProgram(
            "/usr/bin/env", ["python3", "-c", script, "\(server.port)", "\(process)"])
        let seconds = try #require(Double(spent.output.trimmingCharacters(in: .newlines)), "\(spent.error)")
        // Spinning takes all of the four seconds.
        #expect(seconds < 1)
        #expect(server.log.contains("connections wait"))
        var answer = ""
        for _ in 0..<20 where answer != "200" { answer = try await Self.status(server) }
        #expect(answer == "200")
        #expect(await server.stop() == 0)
    }

    @Test("A command beside a stopped server says what it waits for, and gives up")
    func stopped() async throws {
        let server = try await RunningServer()
        defer { server.remove() }
        #expect(Glibc.kill(server.processIdentifier, SIGSTOP) == 0)
        defer { _ = Glibc.kill(server.processIdentifier, SIGCONT) }
        let result = try await runProgram(
            "/usr/bin/timeout", ["-s", "KILL", "100", Programs.kalends, "key", "list", "--database", server.database])
        #expect(result.status == 3, "\(result.error)")
        let holder = "held by process \(server.processIdentifier), which is stopped"
        #expect(result.error.hasPrefix("Waiting: \(server.database) is \(holder)"), "\(result.error)")
        #expect(result.error.contains("Given up after 30 seconds."), "\(result.error)")
        _ = Glibc.kill(server.processIdentifier, SIGCONT)
        #expect(try await server.kalends(["key", "list"]).status == 0)
        #expect(await server.stop() == 0)
    }

    @Test("A browser is led to the pages from the root, and everything else to the documentation")
    func root() async throws {
        let server = try await RunningServer(["--public-url", "https://a.example/calendar"])
        defer { server.remove() }
        let page = try await runProgram(
            "/usr/bin/curl",
            [
                "-si", "-H", "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                "http://127.0.0.1:\(server.port)/",
            ]
        ).output
        #expect(page.hasPrefix("HTTP/1.1 302") && page.lowercased().contains("location: /calendar/app\r\n"))
        let program = try await runProgram("/usr/bin/curl", ["-si", "http://127.0.0.1:\(server.port)/"]).output
        #expect(program.hasPrefix("HTTP/1.1 302"))
        #expect(program.lowercased().contains("location: /calendar/docs\r\n"))
        #expect(await server.stop() == 0)
    }

    @Test("A proxy that nobody trusts is named once, in the log and by doctor; a trusted one is not")
    func proxies() async throws {
        for (trusted, isNamed) in [([], true), (["--trusted-proxies", "127.0.0.1"], false)] as [([String], Bool)] {
            let server = try await RunningServer(trusted)
            defer { server.remove() }
            #expect(try await server.kalends(["doctor"]).status == 0)
            for _ in 0..<3 {
                _ = try await runProgram(
                    "/usr/bin/curl",
                    ["-s", "-H", "X-Forwarded-For: 203.0.113.9", "http://127.0.0.1:\(server.port)/healthz"])
            }
            let count = server.log.components(separatedBy: "trustedProxies does not name").count - 1
            #expect(count == (isNamed ? 1 : 0), "\(server.log)")
            #expect(!server.log.contains("203.0.113.9"))
            let doctor = try await server.kalends(["doctor"])
            #expect(doctor.output.contains("BAD  proxies: ") == isNamed)
            #expect(await server.stop() == 0)
        }
    }
}
