// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logging
import NIOSSL
import Server
import Storage
import TestSupport
import Testing

@testable import KalendsFront
@testable import ServerTestSupport

@Suite("TLS")
struct TLSTests {
    /// Runs with a folder for a certificate and its key.
    private static func run(
        _ body: (_ folder: URL, _ certificate: String, _ key: String) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (certificate, key) = (folder.appending(path: "cert.pem").path, folder.appending(path: "key.pem").path)
        try await make("first.example", certificate, key)
        try await body(folder, certificate, key)
    }

    private static func make(_ name: String, _ certificate: String, _ key: String) async throws {
        let made = try await runProgram(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=\(name)", "-keyout", key, "-out", certificate,
            ])
        try #require(made.status == 0, "\(made.error)")
    }

    /// Returns what openssl prints about a connection.
    private static func connect(_ port: Int, _ options: String...) async throws -> ProgramResult {
        try await runProgram("/usr/bin/openssl", ["s_client", "-connect", "127.0.0.1:\(port)"] + options, input: "")
    }

    @Test("Versions below 1.2 are refused, and 1.3 is what is spoken without a wish; SIGHUP takes a new certificate")
    func process() async throws {
        try await Self.run { folder, certificate, key in
            let server = try await RunningServer(["--tls-certificate", certificate, "--tls-key", key])
            defer { server.remove() }
            for version in ["-tls1", "-tls1_1"] {
                let answer = try await Self.connect(server.port, version, "-cipher", "DEFAULT@SECLEVEL=0")
                #expect(answer.status != 0 && !answer.output.contains("Cipher is ECDHE"), "\(version)")
            }
            let older = try await Self.connect(server.port, "-tls1_2")
            #expect(older.status == 0 && older.output.contains("TLSv1.2"))
            let plain = try await Self.connect(server.port)
            #expect(plain.output.contains("TLSv1.3") && plain.output.contains("first.example"))

            // A renewal of which one half is there only.
            try await Self.make(
                "second.example", folder.appending(path: "new.pem").path, folder.appending(path: "new.key").path)
            try FileManager.default.removeItem(atPath: certificate)
            try FileManager.default.copyItem(atPath: folder.appending(path: "new.pem").path, toPath: certificate)
            func log() -> String {
                String(decoding: FileManager.default.contents(atPath: server.logFile) ?? Data(), as: UTF8.self)
            }
            func hangUp(until text: String) async throws {
                server.signal(SIGHUP)
                try await eventually("The log says: \(text)") { log().contains(text) }
            }
            try await hangUp(until: "cannot be renewed")
            #expect(log().contains("does not belong to the certificate"))
            #expect(try await Self.connect(server.port).output.contains("first.example"))
            try FileManager.default.removeItem(atPath: key)
            try FileManager.default.copyItem(atPath: folder.appending(path: "new.key").path, toPath: key)
            try await hangUp(until: "was read again")
            #expect(try await Self.connect(server.port).output.contains("second.example"))
            #expect(await server.stop() == 0)
        }
    }

    @Test("A long feed is answered from memory over TLS, too: whole, in order, and also to a reader who lets it wait")
    func longFeed() async throws {
        try await Self.run { folder, certificate, key in
            let metrics = try await ServerPorts.usablePort("127.0.0.1", 0)
            let server = try await RunningServer(
                ["--tls-certificate", certificate, "--tls-key", key, "--metrics-port", "\(metrics)"])
            defer { server.remove() }
            let secret = try await server.kalends(["key", "create", "--name", "t"]).output
            func curl(_ arguments: String...) async throws -> String {
                let answer = try await runProgram("/usr/bin/curl", ["-skS"] + arguments)
                try #require(answer.status == 0, "\(answer.error)")
                return answer.output
            }
            func call(_ method: String, _ path: String, _ body: String) async throws -> JSONValue {
                try JSONValue(
                    parsing: Data(
                        try await curl(
                            "-X", method, "-H", "Authorization: Bearer \(secret.trimmingCharacters(in: .newlines))",
                            "-H", "Content-Type: application/json", "-d", body,
                            "https://127.0.0.1:\(server.port)/v1/circles/c\(path)"
                        ).utf8))
            }
            _ = try await call("PUT", "", #"{"name":"C","timeZone":"Europe/Berlin"}"#)
            _ = try await call("PUT", "/members/a", #"{"displayName":"A","role":"owner"}"#)
            let (notes, due) = (String(repeating: "n", count: 49_000), (Date.now + 86_400).ISO8601Format())
            for id in 0..<4 {
                _ = try await call(
                    "PUT", "/tasks/t\(id)",
                    #"{"title":"T","dueAt":"\#(due)","notes":"\#(id)\#(notes)"}"#)
            }
            let url = try #require(try await call("POST", "/feeds", #"{"userId":"a"}"#)["url"]?.string)
            let path = try #require(URL(string: url)?.path)
            let own = "https://127.0.0.1:\(server.port)\(path)"
            let body = try await curl(own)
            #expect(body.utf8.count > 200_000 && body.hasSuffix("END:VCALENDAR\r\n"))
            func fromMemory() async throws -> Int {
                let text = try await curl("http://127.0.0.1:\(metrics)/metrics")
                let found = text.firstMatch(of: /kalends_feed_answers_from_memory_total (\d+)/)
                return try #require(found.flatMap { Int($0.1) })
            }
            let before = try await fromMemory()
            #expect(try await curl(own) == body)
            // Far more than the system keeps for a reader, who reads only after a second.
            let count = 60
            let one = "GET \(path) HTTP/1.1\r\nHost: x\r\n"
            let asked = folder.appending(path: "asked").path
            let all = String(repeating: one + "\r\n", count: count) + one + "Connection: close\r\n\r\n"
            try Data(all.utf8).write(to: URL(filePath: asked))
            let connect = "/usr/bin/openssl s_client -quiet -connect 127.0.0.1:\(server.port)"
            let slow = try await runProgram("/bin/sh", ["-c", "\(connect) < \(asked) 2> /dev/null | (sleep 1; cat)"])
            let answers = slow.output.split(separator: "HTTP/1.1 200 OK\r\n")
            #expect(answers.count == count + 1)
            #expect(answers.allSatisfy { $0.hasSuffix("\r\n\r\n" + body) })
            #expect(try await fromMemory() == before + count + 1)
            #expect(await server.stop() == 0)
        }
    }

    @Test("SIGHUP never ends the server, with or without a certificate")
    func hangup() async throws {
        let server = try await RunningServer()
        defer { server.remove() }
        for _ in 0..<3 { server.signal(SIGHUP) }
        try await Task.sleep(for: .milliseconds(200))
        #expect(try await server.kalends(["key", "create", "--name", "t"]).status == 0)
        #expect(await server.stop() == 0)
    }

    @Test("New files are taken by themselves, broken ones are named once and leave what there was")
    func files() async throws {
        try await Self.run { _, certificate, key in
            let log = LogRecorder()
            let certificates = try TLSCertificates(
                certificate: certificate, key: key, logger: Logger(label: "t") { _ in log })
            let first = certificates.current
            certificates.renew(isAsked: false)
            #expect(certificates.current === first && log.text.isEmpty)
            try Data("nothing".utf8).write(to: URL(filePath: certificate))
            for _ in 0..<3 { certificates.renew(isAsked: false) }
            #expect(certificates.current === first)
            #expect(log.text.components(separatedBy: "cannot be renewed").count == 2)
            try FileManager.default.removeItem(atPath: certificate)
            certificates.renew(isAsked: false)
            #expect(certificates.current === first && log.text.contains("is not there, or cannot be read"))
            try await Self.make("second.example", certificate, key)
            certificates.renew(isAsked: false)
            #expect(certificates.current !== first && log.text.contains("was read again"))
            #expect(!log.text.contains("PRIVATE KEY"))
        }
    }

    @Test("Files that cannot be used are named at start, each with its own fault")
    func faults() async throws {
        try await Self.run { folder, certificate, key in
            let (nothing, junk) = (folder.appending(path: "no.pem").path, folder.appending(path: "junk.pem").path)
            try Data("nothing".utf8).write(to: URL(filePath: junk))
            let (other, otherKey) = (folder.appending(path: "other.pem").path, folder.appending(path: "other.key").path)
            try await Self.make("other.example", other, otherKey)
            for (certificate, key, words) in [
                (nothing, key, "certificate \(nothing) is not there"),
                (certificate, nothing, "key \(nothing) is not there"),
                (junk, key, "not a certificate in PEM"), (certificate, junk, "not a private key in PEM"),
                (certificate, otherKey, "does not belong to the certificate"),
            ] {
                do {
                    _ = try TLSCertificates(certificate: certificate, key: key, logger: Logger(label: "t"))
                    Issue.record("\(words)")
                } catch let error as StorageError {
                    #expect(error.description.contains(words), "\(error)")
                }
            }
        }
    }
}
