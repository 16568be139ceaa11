// SPDX-License-Identifier: Apache-2.0

import Storage

/// The metrics for a monitor: counts of this process, and of the state of the database.
package struct Monitoring: Sendable {
    package let services: Services

    /// Returns when the certificate in a file expires, in seconds since 1970; nil when the file holds no certificate.
    private let certificateExpiry: @Sendable (_ file: String) -> Int?

    package init(services: Services, certificateExpiry: @escaping @Sendable (_ file: String) -> Int?) {
        (self.services, self.certificateExpiry) = (services, certificateExpiry)
    }

    /// Returns the metrics in Prometheus' text format, without the database's counts when it cannot be read.
    package func exposition() async -> String {
        let gauges = try? await services.store.read { try $0.syncGauges() }
        let sync = services.sync
        let days = try? await services.syncContext.requestForecasts()
        return services.metrics.exposition
            + sync.metrics.exposition(
                gauges ?? [:], running: sync.running, requests: sync.requests.samples, days: days ?? [])
            + (await StateMetrics(services: services, certificateExpiry: certificateExpiry).exposition())
            + ProcessMetrics().exposition
    }
}
