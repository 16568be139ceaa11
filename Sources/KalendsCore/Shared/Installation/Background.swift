// SPDX-License-Identifier: Apache-2.0

package import Logging
import ServiceLifecycle

extension Logger {
    /// Does background work; returns nil if it was cancelled or failed, which is logged.
    ///
    /// - Parameter failure: what cannot be done then.
    package func attempt<Value: Sendable>(_ failure: Message, _ work: () async throws -> Value) async -> Value? {
        do {
            return try await work()
        } catch is CancellationError {
            return nil
        } catch {
            self.error(failure, metadata: ["error": "\(publicText(error))"])
            return nil
        }
    }

    /// Repeats background work, with a pause after each time, until the server ends.
    func repeatedly(
        every pause: Duration, failure: Message, _ work: @escaping @Sendable () async throws -> Void
    ) async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                _ = await attempt(failure, work)
                try? await Task.sleep(for: pause)
            }
        }
    }
}
