// SPDX-License-Identifier: Apache-2.0

import Storage

/// What a monitor reads: counts of what this process did, and of the state of the database.
package struct Monitoring: Sendable {
    package let services: Services

    /// Until when the certificate in a file is valid, in seconds since 1970; nil when it holds none.
    private let certificateExpiry: @Sendable (_ file: String) -> Int?

    package init(services: Services, certificateExpiry: @escaping @Sendable (_ file: String) -> Int?) {
        (self.services, self.certificateExpiry) = (services, certificateExpiry)
    }

    /// Prometheus' text format. Counts of the database are left out when it cannot be read: the others say that then.
    package func exposition() async -> String {
        let gauges = try? await services.store.read { try $0.syncGauges() }
        let sync = services.sync
        return services.metrics.exposition + sync.metrics.exposition(gauges ?? [:], running: sync.running)
            + (await StateMetrics(services: services, certificateExpiry: certificateExpiry).exposition())
            + ProcessMetrics().exposition
    }
}
