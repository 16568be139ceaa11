// SPDX-License-Identifier: Apache-2.0

import Storage

/// What a monitor reads: counts of what this process did, and of what is so in the database.
struct Monitoring: Sendable {
    let services: Services

    /// Prometheus' text format. Counts of the database are left out when it cannot be read: the others say that then.
    func exposition() async -> String {
        let gauges = try? await services.store.read { try $0.syncGauges() }
        let sync = services.sync
        return services.metrics.exposition + sync.metrics.exposition(gauges ?? [:], running: sync.running)
            + (await StateMetrics(services: services).exposition()) + ProcessMetrics().exposition
    }
}
