// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOEmbedded
import NIOHTTP1

@testable import KalendsCore
@testable import KalendsFront

/// The bytes of a connection, in whatever pieces they arrive: the requests are those that the general parser reads from
/// all of them at once, in their order.
///
/// The first byte says how they are cut: behind every blank line, so that most pieces are whole requests, or anywhere.
enum EdgePromises {
    static func check(_ bytes: [UInt8]) throws {
        guard let choice = bytes.first else { return }
        let stream = Array(bytes.dropFirst())
        let expected = try requests(of: [stream], recognizes: false)
        let found = try requests(of: choice & 1 == 0 ? blocks(of: stream) : pieces(of: stream), recognizes: true)
        try promise(found == expected, "Other requests than the general parser's:\n\(found)\n\(expected)")
    }

    /// The bytes cut behind every blank line.
    private static func blocks(of bytes: [UInt8]) -> [[UInt8]] {
        var blocks: [[UInt8]] = [[]]
        for byte in bytes {
            blocks[blocks.count - 1].append(byte)
            if blocks[blocks.count - 1].suffix(4).elementsEqual("\r\n\r\n".utf8) { blocks.append([]) }
        }
        return blocks.filter { !$0.isEmpty }
    }

    /// The requests that were received whole.
    private static func requests(of pieces: [[UInt8]], recognizes: Bool) throws -> [Received] {
        let channel = EmbeddedChannel()
        let limits = ConnectionLimits()
        let watch = ConnectionWatch(limits, ConnectionCounts(limits), ServerSettings(), .unlimited)
        let recorder = Recorder(watch)
        if recognizes { watch.takesWhole = recorder.takeWhole }
        let handlers: [any ChannelHandler] = [watch, ByteToMessageHandler(HTTPRequestDecoder()), recorder]
        try channel.pipeline.syncOperations.addHandlers(handlers)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 8080)).wait()
        for piece in pieces {
            do {
                try channel.writeInbound(ByteBuffer(bytes: piece))
            } catch is HTTPParserError {
                // What follows is not read as requests, whatever it is.
            }
        }
        _ = try? channel.finish(acceptAlreadyClosed: true)
        if let fault = recorder.fault { throw BrokenPromise(description: fault) }
        return recorder.requests.filter(\.isWhole)
    }
}

/// A request as far as both readings have to agree on it.
private struct Received: Equatable {
    var method: String
    var target: String
    var asked: FeedRequest?
    var body: [UInt8] = []
    var isWhole = false
}

/// Records requests in the order in which they are read, in either way.
private final class Recorder: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private let watch: ConnectionWatch
    private(set) var requests: [Received] = []
    private(set) var fault: String?

    init(_ watch: ConnectionWatch) { self.watch = watch }

    func takeWhole(_ bytes: ByteBuffer) -> Bool {
        guard let plain = PlainRequest(bytes) else { return false }
        watch.wholeRequestCame()
        watch.answered()
        let target = String(buffer: bytes).split(separator: " ")[1]
        requests.append(
            Received(
                method: plain.asked.isHead ? "HEAD" : "GET", target: String(target), asked: plain.asked, isWhole: true))
        return true
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        switch part {
        case .head(let head):
            if case .head(let bounded) = part.withBoundedMarks, bounded != head {
                let again = HTTPServerRequestPart.head(bounded).withBoundedMarks
                if again != .head(bounded) { fault = "Marks are bounded once: \(head)" }
            }
            _ = try? RequestFraming(head)
            requests.append(Received(method: head.method.rawValue, target: head.uri, asked: FeedRequest(head)))
            watch.requestBegan(head)
        case .body(let bytes):
            guard !requests.isEmpty else {
                fault = "A body comes without a request."
                return
            }
            requests[requests.count - 1].body += bytes.readableBytesView
            watch.bodyCame()
        case .end(let trailers):
            guard !requests.isEmpty else {
                fault = "An end comes without a request."
                return
            }
            requests[requests.count - 1].isWhole = true
            watch.requestEnded(hasTrailers: trailers != nil)
            watch.answered()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { watch.parserFailed() }
}
