// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// A client of Server-Sent Events.
final class EventReader: Sendable {
    struct Event: Hashable, Sendable {
        let id: Int
        let data: String
    }

    private struct State {
        var text = ""
        var hasEnded = false
    }

    private final class Received: Sendable { let state = Mutex(State()) }

    private let received = Received()
    private let task: Task<Void, Never>

    /// - Parameter lines: the lines of the request's header, without Host and Accept.
    init(port: Int, _ lines: String...) async throws {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let head = (lines + ["Host: x", "Accept: text/event-stream"]).joined(separator: "\r\n") + "\r\n\r\n"
        let received = received
        task = Task {
            try? await channel.executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(string: head))
                for try await bytes in inbound {
                    received.state.withLock { state in
                        state.text += String(buffer: bytes)
                        // The last chunk: the answer is whole.
                        if state.text.hasSuffix("\r\n0\r\n\r\n") { state.hasEnded = true }
                    }
                }
            }
            received.state.withLock { $0.hasEnded = true }
        }
    }

    var text: String { received.state.withLock(\.text) }
    /// Whether the answer ended, or the connection did.
    var hasEnded: Bool { received.state.withLock(\.hasEnded) }
    var status: Int { Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0 }

    /// The changes in the order in which they came.
    var events: [Event] {
        var (events, id): ([Event], Int?) = ([], nil)
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("id: ") { id = Int(line.dropFirst(4)) }
            if line.hasPrefix("data: "), let id { events.append(Event(id: id, data: String(line.dropFirst(6)))) }
        }
        return events
    }

    /// Cuts the connection.
    func cut() { task.cancel() }

    deinit { task.cancel() }
}
