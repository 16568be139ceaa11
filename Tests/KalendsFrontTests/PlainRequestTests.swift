// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront

/// The recognizer of polls, beside the general parser: what it reads, the parser reads as the same request.
@Suite("Polls that are read before the general parser")
struct PlainRequestTests {
    /// How many requests are tried; `KALENDS_PLAIN_REQUESTS=5000000` tries more.
    private static let count =
        ProcessInfo.processInfo.environment["KALENDS_PLAIN_REQUESTS"].flatMap { Int($0) } ?? 20_000
    private static let token = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"

    /// What calendar apps and proxies send.
    private static let usual = [
        [
            "User-Agent: iOS/26.5 (23F77) dataaccessd/1.0", "Accept: */*", "Accept-Language: de-DE,de;q=0.9",
            "Accept-Encoding: gzip, deflate", "Connection: keep-alive", "If-None-Match: \"0123456789abcdef\"",
        ],
        ["User-Agent: Google-Calendar-Importer", "Accept-Encoding: gzip, deflate, br", "Connection: Keep-Alive"],
        [
            "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Thunderbird/115.6.0",
            "Accept: text/calendar,text/plain;q=0.8,*/*;q=0.5", "Accept-Charset: utf-8,*;q=0.1",
            "Accept-Encoding: gzip, deflate", "Pragma: no-cache", "Cache-Control: no-cache",
            "If-Modified-Since: Mon, 02 Mar 2026 12:00:00 GMT",
        ],
        [
            "User-Agent: ICSx5/2.2 (ical4j/3.2 okhttp/4.12 Android/15)", "Accept: text/calendar, */*;q=0.9",
            "If-None-Match: W/\"a\", \"b\"", "If-Modified-Since: Mon, 02 Mar 2026 12:00:00 GMT",
        ],
        [
            "X-Forwarded-For: 192.0.2.7, 2001:db8::1", "X-Forwarded-For: 192.0.2.8", "X-Request-ID: 8f1c",
            "X-Forwarded-Proto: https", "user-agent:curl/8.5.0",
        ],
        [],
    ]

    private static func request(_ fields: [String]) -> String {
        (["GET /feeds/\(token)/Care.ics HTTP/1.1", "Host: calendar.example:8080"] + fields).joined(separator: "\r\n")
            + "\r\n\r\n"
    }

    @Test("What calendar apps send is recognized", arguments: usual)
    func recognized(fields: [String]) throws {
        let text = Self.request(fields)
        let plain = try #require(PlainRequest(ByteBuffer(string: text)))
        #expect(plain.token.reveal() == Self.token)
        #expect(plain.route == .named)
        #expect(Reading(ByteBuffer(string: text)).plainFault(plain) == nil)
        #expect(PlainRequest(ByteBuffer(string: text.replacing("GET ", with: "HEAD ")))?.asked.isHead == true)
        #expect(PlainRequest(ByteBuffer(string: text.replacing("/Care.ics", with: "")))?.route == .short)
        #expect(PlainRequest(ByteBuffer(string: text.replacing("/Care", with: "")))?.route == .short)
    }

    @Test(
        "What could mean anything else is left to the general parser",
        arguments: [
            "Content-Length: 0", "content-length: 5", "Transfer-Encoding: chunked", "Expect: 100-continue",
            "Upgrade: h2c", "If-Match: *", "If-Unmodified-Since: Mon, 02 Mar 2026 12:00:00 GMT", "Connection: close",
            "Connection: keep-alive, upgrade", "Proxy-Connection: close",
            "Trailer: x", "Host: other.example", "User-Agent: a\r\nUser-Agent: b", "X-Request-ID: a\r\nX-Request-ID: b",
            " folded", "X : y", "X:  y", "X: y ", "X: \ty", "X:", ": y", "X: \u{7F}", "X: \u{E9}", "X: a\nY: b",
            "X_: y",
            "X: a\r\n\r\nGET / HTTP/1.1\r\nHost: x",
        ])
    func left(field: String) {
        #expect(PlainRequest(ByteBuffer(string: Self.request([field]))) == nil)
        #expect(PlainRequest(ByteBuffer(string: Self.request(["Accept: */*", field, "Pragma: x"]))) == nil)
    }

    @Test("A request that is not whole, or has something before or behind it, is left to the general parser")
    func whole() {
        let bytes = Array(Self.request(Self.usual[0]).utf8)
        for count in 0..<bytes.count { #expect(PlainRequest(ByteBuffer(bytes: bytes[..<count])) == nil) }
        #expect(PlainRequest(ByteBuffer(bytes: bytes)) != nil)
        for extra in ["\r\n", "\r\n\r\n", "G", "\0", String(decoding: bytes, as: UTF8.self)] {
            #expect(PlainRequest(ByteBuffer(bytes: bytes + extra.utf8)) == nil)
            #expect(PlainRequest(ByteBuffer(bytes: extra.utf8 + bytes)) == nil)
        }
        let long = Self.request(["X: " + String(repeating: "y", count: PlainRequest.longest)])
        #expect(PlainRequest(ByteBuffer(string: long)) == nil)
        let many = Self.request((0..<PlainRequest.mostFields).map { "X\($0): y" })
        #expect(PlainRequest(ByteBuffer(string: many)) == nil)
    }

    @Test("Whatever the bytes, the general parser reads a recognized request as the same one", .ownThread)
    func sameReading() {
        var random = SplitMix(seed: 1_984)
        var recognized = 0
        for number in 0..<Self.count {
            let bytes = ByteBuffer(bytes: Generator.request(&random))
            guard let plain = PlainRequest(bytes) else { continue }
            recognized += 1
            if let fault = Reading(bytes).plainFault(plain) {
                Issue.record("Request \(number): \(fault): \(String(buffer: bytes).debugDescription)")
                return
            }
        }
        #expect(recognized > Self.count / 40, "too few of them were recognized to prove anything: \(recognized)")
    }

    @Test("However a connection's bytes are cut, its requests are the same as without the recognizer", .ownThread)
    func cutAnywhere() throws {
        var random = SplitMix(seed: 27)
        var whole = 0
        for number in 0..<(Self.count / 20) {
            let requests = (0..<(1 + random.below(4))).map { _ in Generator.sound(&random) }
            let stream = requests.reduce([], +)
            let expected = Reading(ByteBuffer(bytes: stream))
            try #require(expected.error == nil, "\(String(decoding: stream, as: UTF8.self).debugDescription)")
            var cuts = (0..<random.below(4)).map { _ in random.below(stream.count) }
            // Most pieces that arrive are whole requests.
            if random.below(4) > 0 { cuts += requests.indices.map { requests[..<$0].reduce(0) { $0 + $1.count } } }
            let connection = try Connection()
            var start = 0
            for end in Set(cuts).union([stream.count]).sorted() where end > start {
                try connection.feed(stream[start..<end])
                start = end
            }
            whole += connection.record.whole
            if connection.record.requests != expected.requests {
                Issue.record(
                    "Stream \(number), cut at \(cuts.sorted()): \(String(decoding: stream, as: UTF8.self).debugDescription)"
                )
                return
            }
            try connection.close()
        }
        #expect(whole > Self.count / 200, "too few requests came whole to prove anything: \(whole)")
    }

    @Test("A tunnel, an upgrade, an end of the connection and a fault leave what follows to the general parser")
    func neverAfter() throws {
        for first in [
            "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n", "NONSENSE\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nProxy-Connection: close\r\n\r\n",
            "GET / HTTP/1.0\r\nConnection: keep-alive x\r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nConnection: close\r\n\r\n",
        ] {
            let connection = try Connection()
            try connection.feed(first.utf8)
            try connection.feed(Self.request([]).utf8)
            #expect(connection.record.whole == 0, "\(first)")
            try? connection.close()
        }
    }
}

/// Requests from pieces, most of them nearly usual.
private enum Generator {
    private static let tokens = [
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", "__________________________________________8",
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9", "short",
    ]
    private static let paths = [
        "/feeds/TOKEN/Care.ics", "/feeds/TOKEN", "/feeds/TOKEN.ics", "/functions/v1/ical-feed/TOKEN",
        "/feeds/TOKEN/a%20b.ics", "/feeds/TOKEN/Care.ics?x=1", "/FEEDS/TOKEN/Care.ics", "//feeds/TOKEN/Care.ics",
        "http://calendar.example/feeds/TOKEN/Care.ics", "/feeds/TOKEN/../x.ics", "/feeds/TOKEN/..ics", "/healthz", "*",
    ]
    private static let fields = [
        "Host: calendar.example", "host:x", "Host: [2001:db8::1]:8080", "Host: a b", "Accept: */*",
        "Accept: text/calendar,text/plain;q=0.8", "accept: application/calendar+json", "Accept-Encoding: gzip, br",
        "User-Agent: dataaccessd/1.0", "USER-AGENT: x", "If-None-Match: \"0123\"", "If-None-Match: W/\"0\", \"1\"",
        "If-None-Match: *", "If-Modified-Since: Mon, 02 Mar 2026 12:00:00 GMT", "Connection: keep-alive",
        "Connection: Keep-Alive", "Connection: close", "Connection: upgrade", "Content-Length: 0", "Content-Length: 4",
        "Transfer-Encoding: chunked", "Transfer-Encoding: gzip", "Expect: 100-continue", "Upgrade: websocket",
        "X-Forwarded-For: 192.0.2.1", "X-Request-ID: abc", "Cookie: a=b; c=d", "Range: bytes=0-5", "X:y", "X: ", "X:",
        "X:  y", "X: y ", "Proxy-Connection: close", "TE: trailers", "Trailer: X", "Authorization: Basic eDp5",
    ]
    private static let bytes: [UInt8] =
        [0, 9, 10, 13, 32, 34, 37, 44, 47, 58, 59, 127, 128, 0xCC, 255] + Array("GAz0-".utf8)

    private static func path(_ random: inout SplitMix) -> String {
        // The first of each list is the usual one.
        let path = paths[random.below(2) == 0 ? random.below(4) : random.below(paths.count)]
        return path.replacing("TOKEN", with: tokens[random.below(4) > 0 ? random.below(2) : random.below(tokens.count)])
    }

    static func request(_ random: inout SplitMix) -> [UInt8] {
        let methods = ["GET", "GET", "GET", "HEAD", "get", "POST", "OPTIONS", "GET ", ""]
        let versions = [
            "HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "http/1.1", "HTTP/1.1 ",
        ]
        var lines = [
            "\(methods[random.below(methods.count)]) \(path(&random)) \(versions[random.below(versions.count)])"
        ]
        if random.below(8) > 0 { lines.append("Host: calendar.example") }
        let isUsual = random.below(2) == 0
        for _ in 0..<random.below(6) {
            lines.append(fields[isUsual ? 4 + random.below(12) : random.below(fields.count)])
        }
        var text = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        if random.below(3) == 0 {
            for _ in 0..<(1 + random.below(3)) {
                let index = random.below(text.count)
                switch random.below(4) {
                case 0: text.remove(at: index)
                case 1: text.insert(bytes[random.below(bytes.count)], at: index)
                case 2: text[index] = bytes[random.below(bytes.count)]
                default: text[index] = UInt8(random.below(256))
                }
                if text.isEmpty { text = [13] }
            }
        }
        return text
    }

    /// A request that the parser accepts, with or without a body, after which the connection stays open.
    static func sound(_ random: inout SplitMix) -> [UInt8] {
        let body = (0..<random.below(40)).map { _ in bytes[random.below(bytes.count)] } + [13, 10, 13, 10]
        let text =
            switch random.below(6) {
            case 0: "POST /v1/x HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.count)\r\n\r\n"
            case 1:
                "PUT /v1/y HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n\r\n\r\n\r\n0\r\n\r\n"
            case 2: "GET /healthz HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n"
            case 3: "\r\n\r\nGET /feeds/\(tokens[0]) HTTP/1.1\r\nHost: x\r\n\r\n"
            default:
                "GET \(paths[0].replacing("TOKEN", with: tokens[random.below(2)])) HTTP/1.1\r\nHost: x\r\nX: y\r\n\r\n"
            }
        return Array(text.utf8) + (text.hasPrefix("POST") ? body : [])
    }
}

/// A request as far as both readers have to agree on it.
private struct Request: Equatable {
    var method: String
    var target: String
    var asked: FeedRequest?
    var body: [UInt8] = []
    var isWhole = false
}

/// What the general parser makes of a connection's bytes.
private struct Reading {
    private(set) var requests: [Request] = []
    private(set) var heads: [HTTPRequestHead] = []
    private(set) var error: (any Error)?

    init(_ bytes: ByteBuffer) {
        let channel = EmbeddedChannel(handler: ByteToMessageHandler(HTTPRequestDecoder()))
        do {
            try channel.writeInbound(bytes)
        } catch {
            self.error = error
        }
        while let part = try? channel.readInbound(as: HTTPServerRequestPart.self) {
            requests.take(part)
            if case .head(let head) = part { heads.append(head) }
        }
        _ = try? channel.finish()
    }

    /// How this differs from what the recognizer read; nil when it does not.
    func plainFault(_ plain: PlainRequest) -> String? {
        if let error { return "the parser refuses it: \(error)" }
        guard requests.count == 1, let request = requests.first, let head = heads.first else {
            return "the parser reads \(requests.count) requests"
        }
        guard request.isWhole, request.body.isEmpty else { return "the parser reads a body, or waits for more" }
        guard let path = FeedPath.parse(head.uri), path.route == plain.route, path.token == plain.token else {
            return "the parser reads another path: \(head.uri)"
        }
        guard FeedRequest(head) == plain.asked else { return "the parser reads other fields: \(head.headers)" }
        // The router reads the fields in a way of its own, and the request's id elsewhere.
        var (fields, asked) = (HTTPFields(), plain.asked)
        for (name, value) in head.headers {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        asked.requestID = nil
        guard FeedRequest(asked.isHead ? .head : .get, fields) == asked, fields[.xRequestID] == plain.asked.requestID,
            fields[.ifMatch] == nil, fields[.ifUnmodifiedSince] == nil, fields[.contentLength] == nil
        else { return "the router reads other fields: \(head.headers)" }
        guard let framing = try? RequestFraming(head) else { return "the request is refused" }
        guard !framing.isOld, !framing.closes, !framing.expects, !framing.hasBody else { return "more than a request" }
        guard case .head(let bounded) = HTTPServerRequestPart.head(head).withBoundedMarks, bounded == head else {
            return "its marks are bounded"
        }
        return nil
    }
}

extension [Request] {
    fileprivate mutating func take(_ part: HTTPServerRequestPart) {
        switch part {
        case .head(let head):
            append(Request(method: head.method.rawValue, target: head.uri, asked: FeedRequest(head)))
        case .body(let bytes): self[count - 1].body += bytes.readableBytesView
        case .end: self[count - 1].isWhole = true
        }
    }
}

/// A connection with the watch, the recognizer and the general parser as in the server, whose requests are recorded.
private struct Connection {
    private let channel = EmbeddedChannel()
    let record: Recorder

    init() throws {
        let limits = ConnectionLimits()
        let watch = ConnectionWatch(limits, ConnectionCounts(limits), ServerSettings(), .unlimited)
        record = Recorder(watch)
        watch.takesWhole = record.takeWhole
        try channel.pipeline.syncOperations.addHandlers([watch, ByteToMessageHandler(HTTPRequestDecoder()), record])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 8080)).wait()
    }

    func feed(_ bytes: some Sequence<UInt8>) throws { try channel.writeInbound(ByteBuffer(bytes: bytes)) }

    func close() throws { _ = try channel.finish(acceptAlreadyClosed: true) }
}

/// Records requests in the order in which they are read, in either way.
private final class Recorder: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private let watch: ConnectionWatch
    private(set) var requests: [Request] = []
    private(set) var whole = 0

    init(_ watch: ConnectionWatch) { self.watch = watch }

    func takeWhole(_ bytes: ByteBuffer) -> Bool {
        guard let plain = PlainRequest(bytes) else { return false }
        whole += 1
        watch.wholeRequestCame()
        watch.answered()
        let target = String(buffer: bytes).split(separator: " ")[1]
        requests.append(
            Request(
                method: plain.asked.isHead ? "HEAD" : "GET", target: String(target), asked: plain.asked, isWhole: true))
        return true
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        requests.take(part)
        switch part {
        case .head(let head): watch.requestBegan(head)
        case .body: watch.bodyCame()
        case .end(let trailers):
            watch.requestEnded(hasTrailers: trailers != nil)
            watch.answered()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { watch.parserFailed() }
}
