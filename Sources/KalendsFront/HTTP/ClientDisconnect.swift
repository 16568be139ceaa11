// SPDX-License-Identifier: Apache-2.0

import KalendsCore
package import NIOCore
import Synchronization

/// A callback for the moment when a request's client has disconnected, while the request waits for somebody else.
///
/// It is sent to the connection as an event when the wait begins, and again when the wait is over.
final class ClientDisconnect: Sendable {
    /// The client has gone.
    let notify: @Sendable () -> Void

    init(_ notify: @escaping @Sendable () -> Void) { self.notify = notify }
}

/// Whether a request's client is still there, for work that can be left once it has gone.
package final class Presence: Sendable {
    private final class Flag: Sendable {
        let isRaised = Atomic(false)
    }

    private let flag: Flag
    private let disconnect: ClientDisconnect
    private let channel: any Channel

    /// - Parameter channel: the request's connection.
    package init(on channel: any Channel) {
        let flag = Flag()
        disconnect = ClientDisconnect { flag.isRaised.store(true, ordering: .relaxed) }
        (self.flag, self.channel) = (flag, channel)
        channel.triggerUserOutboundEvent(disconnect, promise: nil)
    }

    deinit { channel.triggerUserOutboundEvent(disconnect, promise: nil) }

    /// Throws `CancellationError` if the client has gone.
    package func check() throws {
        if flag.isRaised.load(ordering: .relaxed) { throw CancellationError() }
    }
}

extension KalendsContext {
    /// Does work that waits for somebody else, such as a request to another server: nothing that others may need is held in the
    /// meantime, and the work is cancelled when the client has gone.
    ///
    /// A half-closed connection counts as gone, because it cannot be told apart from one that is fully closed.
    package func awaiting<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        memory.letGo()
        let (events, continuation) = AsyncStream.makeStream(of: Void.self)
        let disconnect = ClientDisconnect { continuation.finish() }
        channel.triggerUserOutboundEvent(disconnect, promise: nil)
        defer { channel.triggerUserOutboundEvent(disconnect, promise: nil) }
        return try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await work() }
            group.addTask {
                for await _ in events {}
                throw CancellationError()
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}
