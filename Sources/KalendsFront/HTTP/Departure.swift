// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import NIOCore

/// A request's wait for somebody else, which ends when the request's client has gone.
///
/// It is sent to the connection as an event when the wait begins, and again when it is over.
final class Departure: Sendable {
    /// The client has gone.
    let come: @Sendable () -> Void

    init(_ come: @escaping @Sendable () -> Void) { self.come = come }
}

extension KalendsContext {
    /// Does work that waits for somebody else, such as a request to another server: nothing that others may need is held
    /// meanwhile, and the work is cancelled when the client has gone.
    ///
    /// A client that closes only its own side has gone, too: nothing tells it from one that has closed both.
    func awaiting<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        memory.letGo()
        let (events, continuation) = AsyncStream.makeStream(of: Void.self)
        let departure = Departure { continuation.finish() }
        channel.triggerUserOutboundEvent(departure, promise: nil)
        defer { channel.triggerUserOutboundEvent(departure, promise: nil) }
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
