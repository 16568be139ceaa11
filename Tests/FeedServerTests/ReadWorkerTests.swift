// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("The process that reads strangers' files")
struct ReadWorkerTests {
    private static let file = """
        BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20260101T000000Z\r\n\
        DTSTART:20260303T100000Z\r\nSUMMARY:One\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n
        """

    private func post(_ server: TestServer, _ text: String) async throws -> Answer {
        try await server.raw(
            .post, "/v1/circles/c/imports",
            headers: [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"],
            body: ByteBuffer(string: text))
    }

    @Test("It has no privileges to gain, no file to write and little memory, from before its first byte of input")
    func limits() async throws {
        let process = try ConversingProgram(
            Programs.kalends,
            [
                "read-worker", "--assumed-time-zone", "UTC", "--limit", "1000000", "--processor-seconds", "7",
                "--address-space", "900000000",
            ])
        let proc = "/proc/\(process.processIdentifier)"
        func text(_ name: String) -> String { (try? String(contentsOfFile: "\(proc)/\(name)", encoding: .utf8)) ?? "" }
        func limit(_ name: String) -> Substring? {
            text("limits").split(separator: "\n").first { $0.hasPrefix(name) }?.dropFirst(name.count)
                .split(separator: " ").first
        }
        // What no filter of calls prevents, the limit on processes does.
        try await eventually("The worker has its limits.") {
            text("status").contains("Seccomp:\t2") || limit("Max processes") == "0"
        }
        #expect(limit("Max file size") == "0" && limit("Max core file size") == "0")
        #expect(limit("Max cpu time") == "7")
        #expect(limit("Max address space") == (Programs.isSanitized ? "unlimited" : "900000000"))
        #expect(text("status").contains("NoNewPrivs:\t1"))
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/net")
        // Where the machine lets a process leave the network at all.
        if let network = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(proc)/ns/net"), getuid() == 0 {
            #expect(network != own)
        }
        let result = try await process.finish(Self.file)
        #expect(result.status == 0)
        #expect(result.output.contains("One"))
    }

    @Test("It may start a thread, but opens no file, makes none, reaches no network and starts no process")
    func reach() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "reach-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "secret")
        try Data("secret".utf8).write(to: file)
        let result = try await ConversingProgram(
            Programs.kalends,
            [
                "read-worker", "--assumed-time-zone", "UTC", "--limit", "1", "--processor-seconds", "7",
                "--address-space", "900000000", "--try-to-read", file.path,
            ]
        ).finish()
        #expect(result.status == 0)
        #expect(
            result.output == """
                before: reads=1 writes=1 connects=1 forks=1 threads=1
                after: reads=0 writes=0 connects=0 forks=0 threads=1

                """
        )
    }

    @Test("A file in another charset is read there too, with libraries loaded before the rights went")
    func foreign() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            var bytes = Array(Self.file.utf8)
            // 会议在北京 as Python's codec gb2312 writes it.
            bytes.replace(
                Array("One".utf8), with: [0xBB, 0xE1, 0xD2, 0xE9, 0xD4, 0xDA, 0xB1, 0xB1, 0xBE, 0xA9])
            for type in ["text/calendar", "text/calendar; charset=\"GB2312\""] {
                let answer = try await server.raw(
                    .post, "/v1/circles/c/imports",
                    headers: [.authorization: "Bearer \(server.key)", .contentType: type],
                    body: ByteBuffer(bytes: bytes)
                ).expect(201)
                #expect(answer.json["items"]?.array?.first?["summary"]?.string == "会议在北京")
                let problem = answer.json["problems"]?.array?.first
                #expect(problem?["code"]?.string == "not-utf8" && problem?["line"]?.integer == 8)
                #expect(problem?["severity"]?.string == (type.contains("GB") ? "repaired" : "warning"))
            }
        }
    }

    @Test("Its death is an answer, and the server goes on", arguments: ["kill -SEGV $$", "kill -KILL $$", "exit 1"])
    func death(_ act: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "worker-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let script = folder.appending(path: "worker").path
        try await makeScript("#!/bin/sh\n\(act)\n", at: script)
        try await TestServer.run(worker: script) { server in
            try await server.makeCircle()
            let answer = try await post(server, Self.file).expect(422)
            #expect(answer.json["detail"]?.string?.contains("limits") == true)
            try await server.call(.get, "/v1/circles/c").expect(200)
            try await eventually("Nothing of the import is left.") {
                try await server.services.store.read { try $0.rows("SELECT id FROM imports", []).isEmpty }
            }
        }
    }

    @Test("A file beyond the limits on memory is refused, and the next one read", .disabled(if: Programs.isSanitized))
    func memory() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let folder = server.folder.path
            // The same program with a limit that its own libraries nearly use up.
            let script = "\(folder)/small"
            try await makeScript(
                """
                #!/bin/sh
                shift 7
                exec '\(Programs.kalends)' read-worker --assumed-time-zone UTC --limit 99999999 --processor-seconds 20 \
                --address-space 1000000

                """, at: script)
            var settings = server.services.settings
            settings.readWorker = script
            let small = ImportReader(settings)
            let bytes = Array(Self.file.utf8) + Array(repeating: 10, count: 8 << 20)
            let upload = try ImportUpload(bytes)
            let circle = try #require(try await server.services.store.read { try $0.circle("c") })
            await #expect(throws: Refusal.self) { try await small.read(upload, in: circle) }
            try await post(server, Self.file).expect(201)
        }
    }

    @Test("Many files at once wait for their turn")
    func many() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<12 {
                    group.addTask {
                        try await patiently {
                            try await post(server, index % 3 == 0 ? "no calendar" : Self.file)
                        }.status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 201 } == 8 && statuses.count { $0 == 422 } == 4)
        }
    }
}
