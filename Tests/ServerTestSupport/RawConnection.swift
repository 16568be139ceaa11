// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOPosix

/// A connection on which a test sends exactly the bytes that it wants.
struct RawConnection: Sendable {
    private let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>

    struct TooSlow: Error {
        var received: String
    }

    init(port: Int) async throws {
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
    }

    /// Sends a text and collects the answer until `isDone` or the end of the connection, for ten minutes at most, so
    /// that a hanging test fails.
    func exchange(
        _ text: String, until isDone: @escaping @Sendable (String) -> Bool
    ) async throws -> String {
        try await channel.executeThenClose { inbound, outbound in
            do {
                try await outbound.write(ByteBuffer(string: text))
            } catch ChannelError.ioOnClosedChannel {
                // The server ended it before: a machine with much to do was slower than the server's patience. What came
                // before the end is here to be read.
            }
            return try await withThrowingTaskGroup(of: String?.self) { group in
                group.addTask {
                    var received = ""
                    do {
                        for try await bytes in inbound {
                            // A character a byte, so that packed bytes are kept and counted too.
                            received += String(bytes: bytes.readableBytesView, encoding: .isoLatin1) ?? ""
                            if isDone(received) { break }
                        }
                    } catch let error as IOError where error.errnoCode == 104 {
                        // Reset by the server: its way to end a connection.
                    }
                    return received
                }
                group.addTask {
                    try await Task.sleep(for: .seconds(600))
                    return nil
                }
                defer { group.cancelAll() }
                guard let first = try await group.next(), let received = first else {
                    throw TooSlow(received: "nothing complete")
                }
                return received
            }
        }
    }

    /// Sends several texts on one connection, each after the earlier ones were answered.
    func converse(_ body: (inout Conversation) async throws -> Void) async throws {
        try await channel.executeThenClose { inbound, outbound in
            var conversation = Conversation(inbound: inbound.makeAsyncIterator(), outbound: outbound)
            try await body(&conversation)
        }
    }

    struct Conversation {
        var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
        let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>

        /// Sends a text and returns what arrives until `isDone` or the end of the connection.
        mutating func ask(_ text: String, until isDone: (String) -> Bool) async throws -> String {
            try await outbound.write(ByteBuffer(string: text))
            var received = ""
            while !isDone(received), let bytes = try await inbound.next() { received += String(buffer: bytes) }
            return received
        }
    }

    /// Sends a request and returns its answer, with the value of Date removed.
    static func ask(port: Int, _ lines: String...) async throws -> String {
        let request = lines.joined(separator: "\r\n") + "\r\nHost: x\r\n\r\n"
        let hasBody = !request.hasPrefix("HEAD ")
        let answer = try await RawConnection(port: port).exchange(request) { text in
            guard let end = text.range(of: "\r\n\r\n") else { return false }
            let length = text.firstMatch(of: /\r\nContent-Length: ([0-9]+)/.ignoresCase()).flatMap { Int($0.1) } ?? 0
            return !hasBody || text[end.upperBound...].unicodeScalars.count >= length
        }
        return answer.replacing(/\r\nDate: [^\r]*\r\n/, with: "\r\nDate: now\r\n")
    }
}
