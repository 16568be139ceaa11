// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import HummingbirdTesting
import NIOCore
import NIOSSL
import Outbound
import Server
import Synchronization
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

/// Runs a host on this machine that answers as the tests need, under the name `cal.example`.
private func withHost(
    tls: TLSConfiguration? = nil, _ body: @escaping @Sendable (_ port: Int, _ seen: SeenRequests) async throws -> Void
) async throws {
    let seen = SeenRequests()
    let router = Router()
    router.get("ok") { request, _ in
        seen.add(request)
        if request.headers[.ifNoneMatch] == "\"v1\"" { return Response(status: .notModified) }
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/calendar; charset=windows-1252", .eTag: "\"v1\"",
                .lastModified: "Mon, 02 Mar 2026 12:00:00 GMT", .setCookie: "a=b",
            ], body: ResponseBody(byteBuffer: ByteBuffer(string: "BEGIN:VCALENDAR")))
    }
    router.get("moved/**") { request, _ in
        seen.add(request)
        return Response(status: .movedPermanently, headers: [.location: "/ok", .setCookie: "a=b"])
    }
    router.get("sized/:count") { _, context in
        let count = context.parameters.get("count", as: Int.self) ?? 0
        return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(repeating: 65, count: count)))
    }
    router.get("endless") { _, _ in
        Response(
            status: .ok,
            body: ResponseBody { writer in
                while true { try await writer.write(ByteBuffer(repeating: 65, count: 65_536)) }
            })
    }
    router.get("drip") { _, _ in
        Response(
            status: .ok,
            body: ResponseBody { writer in
                while true {
                    try await writer.write(ByteBuffer(string: "x"))
                    try await Task.sleep(for: .milliseconds(50))
                }
            })
    }
    router.get("silence") { _, _ in
        try await Task.sleep(for: .seconds(3))
        return Response(status: .ok)
    }
    router.get("gzip/:count") { _, context in
        let count = context.parameters.get("count", as: Int.self) ?? 0
        let packed = Gzip.pack(ByteBuffer(repeating: 65, count: count)) ?? ByteBuffer()
        return Response(status: .ok, headers: [.contentEncoding: "gzip"], body: ResponseBody(byteBuffer: packed))
    }
    router.get("broken") { _, _ in
        Response(
            status: .ok, headers: [.contentEncoding: "gzip"], body: ResponseBody(byteBuffer: ByteBuffer(string: "no")))
    }
    router.get("brotli") { _, _ in Response(status: .ok, headers: [.contentEncoding: "br"]) }
    router.get("heads") { _, _ in
        var fields = HTTPFields()
        for index in 0..<100 {
            if let name = HTTPField.Name("X-\(index)") { fields[name] = String(repeating: "x", count: 1000) }
        }
        return Response(status: .ok, headers: fields)
    }
    router.get("status/:code") { _, context in
        Response(
            status: .init(code: context.parameters.get("code", as: Int.self) ?? 500), headers: [.retryAfter: "120"])
    }
    let server: HTTPServerBuilder = try tls.map { try .tls(.http1(), tlsConfiguration: $0) } ?? .http1()
    let application = Application(
        router: router, server: server,
        configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)))
    try await application.test(.live) { client in try await body(try #require(client.port), seen) }
}

private final class SeenRequests: Sendable {
    private let kept = Mutex<[HTTPFields]>([])
    var all: [HTTPFields] { kept.withLock { $0 } }
    func add(_ request: Request) { kept.withLock { $0.append(request.headers) } }
}

@Suite("What a fetch takes from a host")
struct FetchClientTests {
    private static func fetcher(
        limit: Int = 1 << 20, deadline: Duration = .seconds(600), transport: ClientTransport = ClientTransport()
    ) -> GuardedFetcher {
        let own = IPAddress("127.0.0.1")
        return GuardedFetcher(
            NamedHosts(["cal.example": [["127.0.0.1"]], "inner.example": [["127.0.0.2"]]]), transport, allowsHTTP: true,
            limit: limit, deadline: deadline, permits: { $0.isGlobalUnicast || $0 == own })
    }

    private static func calendar(_ fetcher: GuardedFetcher, _ text: String) async throws -> FetchedCalendar {
        guard
            case .calendar(let calendar) = try await fetcher.attempt(
                try PublicURL(text, allowsHTTP: true), nil, for: nil)
        else {
            throw OutboundFailure.garbled
        }
        return calendar
    }

    @Test("A calendar comes with its charset, its validators and the host that had it, also behind a redirect")
    func whole() async throws {
        try await withHost { port, seen in
            let fetcher = Self.fetcher()
            for path in ["ok", "moved/secret"] {
                let calendar = try await Self.calendar(fetcher, "http://cal.example:\(port)/\(path)")
                #expect(String(decoding: try calendar.bytes, as: UTF8.self) == "BEGIN:VCALENDAR")
                #expect(calendar.upload.charset == "windows-1252" && calendar.finalHost == "cal.example")
                #expect(calendar.validators.etag == "\"v1\"")
                #expect(calendar.validators.lastModified == "Mon, 02 Mar 2026 12:00:00 GMT")
            }
            #expect(seen.all.count == 3)
            for fields in seen.all {
                #expect(fields[.userAgent]?.hasPrefix("Kalends/") == true && fields[.acceptEncoding] == "gzip")
                for name in [HTTPField.Name.authorization, .referer, .ifNoneMatch] { #expect(fields[name] == nil) }
            }
            // What the redirect set goes back to its host, and the first request of a fetch has none.
            #expect(seen.all.map { $0[.cookie] } == [nil, nil, "a=b"])
        }
    }

    @Test("What has not changed since is not sent again, and another address's tag is never shown")
    func conditional() async throws {
        try await withHost { port, seen in
            let fetcher = Self.fetcher()
            let url = try PublicURL("http://cal.example:\(port)/moved/a", allowsHTTP: true)
            guard case .calendar(let first) = try await fetcher.attempt(url, nil, for: nil) else {
                Issue.record("There is no calendar.")
                return
            }
            guard case .notModified = try await fetcher.attempt(url, first.validators, for: nil) else {
                Issue.record("It was sent again.")
                return
            }
            #expect(seen.all.map { $0[.ifNoneMatch] } == [nil, nil, nil, "\"v1\""])
            #expect(seen.all.last?[.ifModifiedSince] == "Mon, 02 Mar 2026 12:00:00 GMT")
            // Nobody asked whether it is unchanged.
            #expect(await fetcher.failure("http://cal.example:\(port)/status/304") == .status(304))
        }
    }

    @Test("A body ends at the limit, whether its length is told or not, packed or not")
    func limits() async throws {
        try await withHost { port, _ in
            let fetcher = Self.fetcher(limit: 100_000)
            let base = "http://cal.example:\(port)"
            for path in ["sized/100001", "endless", "gzip/100001", "gzip/50000000"] {
                #expect(await fetcher.failure("\(base)/\(path)") == .tooLarge(limit: 100_000), "\(path)")
            }
            for path in ["sized/100000", "gzip/100000"] {
                #expect(try await Self.calendar(fetcher, "\(base)/\(path)").bytes.count == 100_000)
            }
            for path in ["broken", "brotli", "heads"] {
                #expect(await fetcher.failure("\(base)/\(path)") == .garbled, "\(path)")
            }
            let url = try fetcher.url("\(base)/endless")
            let error = await #expect(throws: Refusal.self) { try await fetcher.fetch(url: url, for: nil) }
            #expect(error?.kind == .tooLarge && error?.faults.map(\.pointer) == ["/url"])
        }
    }

    @Test("A host that is silent, or sends a byte now and then, is given up at the deadline")
    func slow() async throws {
        try await withHost { port, _ in
            let fetcher = Self.fetcher(deadline: .milliseconds(400))
            for path in ["drip", "silence"] {
                #expect(await fetcher.failure("http://cal.example:\(port)/\(path)") == .timeout, "\(path)")
            }
        }
    }

    @Test("Any status but 200 is reported with the time to wait that the host names")
    func statuses() async throws {
        try await withHost { port, _ in
            let fetcher = Self.fetcher()
            for code in [204, 206, 401, 404, 410, 429, 503] {
                let url = try PublicURL("http://cal.example:\(port)/status/\(code)", allowsHTTP: true)
                let failure = await #expect(throws: OutboundFailure.self) {
                    try await fetcher.attempt(url, nil, for: nil)
                }
                #expect(failure?.kind == .status(code) && failure?.retryAfter == 120)
            }
            #expect(await fetcher.failure("http://inner.example:\(port)/ok") == .address)
        }
    }

    @Test("A port that nobody listens on is reported as a host that cannot be reached")
    func nobody() async throws {
        let port = try await ServerPorts.usablePort("127.0.0.1", 0)
        #expect(await Self.fetcher().failure("http://cal.example:\(port)/") == .unreachable)
    }

    @Test("Over TLS the certificate must be one of the name, though the connection goes to the address")
    func certificates() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (key, certificate) = (folder.appending(path: "key.pem").path, folder.appending(path: "cert.pem").path)
        let made = try await runProgram(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=cal.example", "-addext", "subjectAltName=DNS:cal.example", "-keyout", key, "-out",
                certificate,
            ])
        try #require(made.status == 0, "\(made.error)")
        let chain = try NIOSSLCertificate.fromPEMFile(certificate)
        let tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
        try await withHost(tls: tls) { port, _ in
            let own = IPAddress("127.0.0.1")
            let resolver = NamedHosts([:], otherwise: ["127.0.0.1"])
            func fetcher(_ transport: ClientTransport) -> GuardedFetcher {
                GuardedFetcher(resolver, transport, permits: { $0 == own })
            }
            let trusting = fetcher(ClientTransport(trustRoots: chain))
            let calendar = try await Self.calendar(trusting, "https://cal.example:\(port)/ok")
            #expect(try !calendar.bytes.isEmpty)
            #expect(await trusting.failure("https://other.example:\(port)/ok") == .untrusted)
            #expect(await trusting.failure("https://127.0.0.1:\(port)/ok") == .untrusted)
            #expect(await fetcher(ClientTransport()).failure("https://cal.example:\(port)/ok") == .untrusted)
        }
    }

    @Test("The system's resolver finds this machine, and nothing for an invalid name")
    func resolver() async throws {
        let found = try await SystemResolver().addresses(of: "localhost", for: "ann")
        #expect(!found.isEmpty && found.allSatisfy { !$0.isGlobalUnicast })
        #expect(try await SystemResolver().addresses(of: "nothing.invalid", for: "ann").isEmpty)
    }

    @Test("Several packed members are one text, and bytes behind them a fault")
    func members() throws {
        let part = Array(try #require(Gzip.pack(ByteBuffer(string: "BEGIN"))).readableBytesView)
        #expect(try Gunzip.unpack(part + part, limit: 10) == Array("BEGINBEGIN".utf8))
        #expect(throws: Gunzip.UnpackingError.tooLarge) { try Gunzip.unpack(part + part, limit: 9) }
        for bytes in [[], Array(part.dropLast()), part + [1, 2, 3], [0x1F, 0x8B]] {
            #expect(throws: Gunzip.UnpackingError.damaged) { try Gunzip.unpack(bytes, limit: 100) }
        }
    }
}
