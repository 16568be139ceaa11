// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOPosix
import Outbound
import Synchronization
import Testing

@Suite("Connections that serve several requests of one account")
struct KeptConnectionTests {
    /// Answers every request with the number of its connection, counted from 1; "/bye" ends the connection after its
    /// answer.
    private final class Numbers: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart
        private let number: Int
        private var isLast = false

        init(_ number: Int) { self.number = number }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): isLast = head.uri == "/bye"
            case .body: break
            case .end:
                let body = ByteBuffer(string: String(number))
                let head = HTTPResponseHead(
                    version: .http1_1, status: .ok, headers: ["Content-Length": String(body.readableBytes)])
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
                if isLast { context.close(promise: nil) }
            }
        }
    }

    private final class Body: AnswerSink {
        private let kept = Mutex<[UInt8]>([])
        var text: String { String(decoding: kept.withLock { $0 }, as: UTF8.self) }
        func take(_ part: [UInt8]) { kept.withLock { $0 += part } }
    }

    /// A host on this machine, under a public name.
    private struct Host: Sendable {
        let port: Int
        /// Keeps connections for longer than any test takes, on however busy a machine.
        let transport = ClientTransport(patience: .seconds(36_000))

        static func run(_ body: (Host) async throws -> Void) async throws {
            let counter = CounterBox()
            let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                        try channel.pipeline.syncOperations.addHandler(Numbers(counter.next()))
                    }
                }
            // The same port at all addresses of this machine, as for a host that has several.
            let channel = try await bootstrap.bind(host: "0.0.0.0", port: 0).get()
            defer { channel.close(promise: nil) }
            try await body(Host(port: try #require(channel.localAddress?.port)))
        }

        /// Expects that a request is served on the connection with this number.
        func serves(
            _ number: String, _ path: String = "/", host: String = "cal.example", address: String = "127.0.0.1",
            as name: String = "ann", keeps: Bool = true
        ) async throws {
            let found = try await connection(path, host: host, address: address, as: name, keeps: keeps)
            #expect(found == number)
        }

        /// Returns the number of the connection that served a request.
        func connection(
            _ path: String = "/", host: String = "cal.example", address: String = "127.0.0.1", as name: String = "ann",
            method: String = "PROPFIND", keeps: Bool = true
        ) async throws -> String {
            let request = OutboundRequest(
                method: method, url: try PublicURL("http://\(host):\(port)\(path)", allowsHTTP: true),
                address: try #require(IPAddress(address)), headers: [("Authorization", "Basic \(name)")],
                keepsConnection: keeps)
            let (answer, body) = try await transport.send(request) { _ in Body() }
            #expect(answer.status == 200)
            return try #require(body?.text)
        }
    }

    private final class CounterBox: Sendable {
        private let count = Mutex(0)
        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    @Test("One after another they go over one connection, and without the wish each over its own")
    func reused() async throws {
        try await Host.run { host in
            for _ in 0..<20 { try await host.serves("1") }
            for number in 2..<5 { try await host.serves(String(number), keeps: false) }
            try await host.serves("1")
        }
    }

    @Test("Another password, another host and another address are other connections, whoever asked before")
    func apart() async throws {
        try await Host.run { host in
            try await host.serves("1")
            try await host.serves("2", as: "ben")
            try await host.serves("3", host: "other.example")
            // The host's name leads elsewhere by now: what was opened before the look-up is not used.
            try await host.serves("4", address: "127.0.0.2")
            try await host.serves("1")
            try await host.serves("2", as: "ben")
            try await host.serves("4", address: "127.0.0.2")
        }
    }

    @Test("Eight at once are eight connections at most, and the next eight are the same")
    func together() async throws {
        try await Host.run { host in
            func eight() async throws -> Set<String> {
                try await withThrowingTaskGroup(of: String.self) { group in
                    for _ in 0..<8 { group.addTask { try await host.connection() } }
                    return try await group.reduce(into: []) { $0.insert($1) }
                }
            }
            let first = try await eight()
            #expect(first.count <= 8)
            let second = try await eight()
            #expect(second.isSubset(of: Set((1...8).map(String.init))))
        }
    }

    @Test("A connection that its host ended is not used again, and a request that meets its end is sent once more")
    func ended() async throws {
        try await Host.run { host in
            for number in 1...10 { try await host.serves(String(number), "/bye") }
            try await host.serves("11")
        }
    }
}
