// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import Outbound
import TestSupport
import Testing

/// A CalDAV server and its proxy as separate programs on this machine, which run as long as this value exists.
final class CalDAVHost: Sendable {
    static let username = "alice"
    static let password = "secret"

    let address: String
    private let folder: URL
    private let program: SpawnedProgram

    /// - Parameter name: `radicale` or `xandikos`.
    init(_ name: String) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "caldav-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (ready, log) = (folder.appending(path: "ready").path, folder.appending(path: "log").path)
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        program = try SpawnedProgram(
            try #require(Programs.python),
            ["-B", packageRoot.appending(path: "Tests/Providers/caldav_faults.py").path, ready, name],
            environment: Programs.environment, in: nil, input: "/dev/null", output: log, error: log)
        var words: [Substring] = []
        while words.isEmpty, program.isRunning {
            try await Task.sleep(for: .milliseconds(50))
            words = ((try? String(contentsOfFile: ready, encoding: .utf8)) ?? "").split(
                whereSeparator: \.isWhitespace)
        }
        address = String(try #require(words.dropFirst(2).first, "\(name) did not start"))
    }

    /// `host:port`.
    var host: ByteString { ByteString(String(address.dropFirst("http://".count).prefix { $0 != "/" })) }

    func stop() {
        // It ends its server too.
        kill(program.processIdentifier, SIGTERM)
        _ = program.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }
}

/// A person who edits a calendar with another program.
struct CalDAVPerson: Sendable {
    struct Resource: Sendable {
        var path: String
        var etag: String
        var text: String
    }

    let host: CalDAVHost
    /// The calendar's absolute address.
    let calendar: String

    private func send(
        _ method: String, _ path: String, _ headers: [(name: String, value: String)] = [], _ body: String? = nil
    ) async throws -> Exchanged {
        let credentials = Data("\(CalDAVHost.username):\(CalDAVHost.password)".utf8).base64EncodedString()
        let origin = host.address.hasSuffix("/") ? String(host.address.dropLast()) : host.address
        return try await ExchangeClient().send(
            method, origin + path, headers: headers + [("Authorization", "Basic \(credentials)")],
            body: body.map { Array($0.utf8) }, longest: 1 << 24)
    }

    private var path: String {
        let rest = calendar.drop { $0 != ":" }.dropFirst(3)
        return String(rest.drop { $0 != "/" })
    }

    /// Returns everything in the calendar, in order of path.
    func resources() async throws -> [Resource] {
        let answer = try await send("PROPFIND", path, [("Depth", "1")])
        let listing = String(decoding: answer.body, as: UTF8.self)
        var found: [Resource] = []
        for match in listing.matches(of: #/<(?:\w+:)?href>([^<]+\.ics)<\/(?:\w+:)?href>/#) {
            let path = String(match.1)
            let own = try await send("GET", path)
            let etag = own.headers.first { $0.name.lowercased() == "etag" }?.value ?? ""
            found.append(Resource(path: path, etag: etag, text: String(decoding: own.body, as: UTF8.self)))
        }
        return found.sorted { $0.path < $1.path }
    }

    /// Returns the resource whose text contains a word.
    func resource(with word: String) async throws -> Resource {
        try #require(try await resources().first { $0.text.contains(word) }, "nothing with \(word)")
    }

    func put(_ text: String, at path: String? = nil, etag: String? = nil) async throws {
        let target = path ?? "\(self.path)\(self.path.hasSuffix("/") ? "" : "/")own-\(UUID().uuidString).ics"
        let condition: (name: String, value: String) = etag.map { ("If-Match", $0) } ?? ("If-None-Match", "*")
        let answer = try await send("PUT", target, [("Content-Type", "text/calendar; charset=utf-8"), condition], text)
        #expect((200...204).contains(answer.status), "\(answer.status)")
    }

    func delete(_ resource: Resource) async throws {
        let answer = try await send("DELETE", resource.path, [("If-Match", resource.etag)])
        #expect((200...204).contains(answer.status), "\(answer.status)")
    }

    /// Moves an event by whole hours, as a person drags it.
    func move(_ word: String, hours: Int) async throws {
        let old = try await resource(with: word)
        let moved = old.text.replacing(#/(DTSTART|DTEND)([^:\r\n]*):(\d{8})T(\d{2})(\d{4}Z?)/#) { match in
            let hour = (Int(match.4) ?? 0) + hours
            return "\(match.1)\(match.2):\(match.3)T\(hour < 10 ? "0" : "")\(hour)\(match.5)"
        }
        #expect(moved != old.text)
        try await put(moved, at: old.path, etag: old.etag)
    }
}
