// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Outbound
import Synchronization
import TestSupport
import Testing

@testable import KalendsCore

/// A host of calendars on this machine, known to the server under test as `cal.example`.
final class CalendarHost: Sendable {
    struct Content: Sendable {
        var status = 200
        var body = ""
        var etag: String?
        var headers = HTTPFields()
    }

    private let content = Mutex(Content())
    private let isHeld = Mutex(false)
    private let asked = Mutex<[HTTPFields]>([])
    private let openPort = Mutex(0)

    /// The address, which contains something that nobody else may see.
    var url: String { "http://cal.example:\(openPort.withLock { $0 })/private-5ecret/basic.ics?key=5ecret" }
    var requests: [HTTPFields] { asked.withLock { $0 } }
    func serve(_ content: Content) { self.content.withLock { $0 = content } }
    /// Keeps callers waiting until it is called with false.
    func hold(_ isHeld: Bool) { self.isHeld.withLock { $0 = isHeld } }

    /// Serves events by their UIDs and titles.
    func serve(_ events: KeyValuePairs<String, String>, etag: String? = nil) {
        serve(Content(body: Self.calendar(events), etag: etag))
    }

    static func calendar(_ events: KeyValuePairs<String, String>) -> String {
        let parts = events.enumerated().map { index, event in
            "BEGIN:VEVENT\r\nUID:\(event.key)\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:202603\(10 + index)T090000Z\r\n"
                + "SUMMARY:\(event.value)\r\nEND:VEVENT\r\n"
        }
        return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y\r\n\(parts.joined())END:VCALENDAR\r\n"
    }

    /// Runs a server whose fetches of `cal.example` reach such a host.
    static func run(
        worker: String = Programs.kalends,
        _ body: @escaping @Sendable (CalendarHost, TestServer) async throws -> Void
    ) async throws {
        let host = CalendarHost()
        let router = Router()
        router.get("**") { request, _ in
            host.asked.withLock { $0.append(request.headers) }
            while host.isHeld.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(10)) }
            let content = host.content.withLock { $0 }
            var headers = content.headers
            headers[.contentType] = "text/calendar; charset=utf-8"
            if let etag = content.etag {
                headers[.eTag] = etag
                if request.headers[.ifNoneMatch] == etag { return Response(status: .notModified, headers: headers) }
            }
            return Response(
                status: .init(code: content.status), headers: headers,
                body: ResponseBody(byteBuffer: ByteBuffer(string: content.body)))
        }
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            logger: Logger(label: "host") { _ in SwiftLogNoOpLogHandler() })
        try await application.test(.live) { client in
            let port = try #require(client.port)
            host.openPort.withLock { $0 = port }
            var settings = ServerSettings()
            settings.allowHTTPImports = true
            settings.fetching.resolver = NamedHosts(["cal.example": [["127.0.0.1"]]], otherwise: ["10.1.2.3"])
            let own = IPAddress("127.0.0.1")
            settings.fetching.permits = { $0 == own }
            try await TestServer.run(settings: settings, worker: worker) { server in
                try await server.makeCircle()
                try await body(host, server)
            }
        }
    }
}
