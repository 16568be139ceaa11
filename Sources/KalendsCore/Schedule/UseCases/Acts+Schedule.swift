// SPDX-License-Identifier: Apache-2.0

import Storage

extension Acts {
    /// Changes items of a circle; the circle's version rises once for all of them.
    ///
    /// Other circles change in the meantime.
    ///
    /// - Parameter body: reads and writes only what is the circle's. It may run more than once, so it must have no effects
    ///   outside the transaction.
    func schedule<Value: Sendable>(
        in circle: String, for caller: Caller, _ quotas: Quotas,
        _ body: @escaping @Sendable (inout ScheduleWriter) throws -> Value
    ) async throws -> Value {
        let held = quotas.clamped(to: caller.identity)
        return try await act(on: .circle(circle, .write), in: .circle(circle), for: caller) { act in
            var writer = try ScheduleWriter(
                circle: act.circle, quotas: held, transaction: act.transaction, now: act.now)
            let value = try body(&writer)
            try writer.finish()
            return .unnoted("The circle's changes list every item and occurrence.", value)
        }
    }
}
