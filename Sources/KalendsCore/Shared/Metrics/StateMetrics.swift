// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Storage

/// The state at the time of a monitor's request: readiness, free space and dates.
struct StateMetrics {
    let services: Services
    let certificateExpiry: (_ file: String) -> Int?

    func exposition() async -> String {
        var text = ""
        func add(_ name: String, _ help: String, _ value: String?, labels: String = "") {
            guard let value else { return }
            text += "# HELP kalends_\(name) \(help)\n# TYPE kalends_\(name) gauge\nkalends_\(name)\(labels) \(value)\n"
        }
        let (maintenance, journal) = (services.maintenance, services.counter.journal)
        let engine = (try? await maintenance.engineVersion()) ?? "unknown"
        add(
            "build_info", "The program's version and SQLite's.", "1",
            labels: #"{sqlite="\#(engine)",version="\#(Program.version)"}"#)
        add("ready", "Whether requests can be answered, as /readyz says.", services.upkeep.reasons.isEmpty ? "1" : "0")
        add(
            "access_journal_pending", "Reads in the journal that are not in the database yet.", "\(journal.pending)")
        add("access_journal_capacity", "Reads that the journal has room for.", "\(journal.capacity)")
        add(
            "access_journal_failed", "Whether reads cannot be recorded, so feeds are not served.",
            journal.failure == nil ? "0" : "1")
        add(
            "access_counting_failed", "Whether reads cannot be taken into the database, as on a full disk.",
            services.counter.foldingFailure == nil ? "0" : "1")
        add("change_streams", "Streams of changes that are open.", "\(services.streams.count)")
        add(
            "database_size_bytes", "Bytes of the database's file.",
            (try? await maintenance.size()).map(String.init))
        add(
            "disk_free_bytes", "Bytes that the disk of the database has left for this process.",
            DiskRoom(ofFolderOf: services.settings.database).map { "\($0.free)" })
        add(
            "tls_certificate_expiry_timestamp_seconds", "When the certificate that the server uses expires.",
            services.settings.tlsCertificate.flatMap(certificateExpiry).map { "\($0)" })
        let held =
            services.memory.used + [
                ("providers", services.sync.answers.memory.bytes), ("schedules", services.renderer.size),
                ("circle_indexes", services.circleIndexes.size), ("feed_members", services.feedMembers.size),
            ]
        text += """
            # HELP kalends_memory_held_bytes Bytes that are reserved or remembered, by purpose.
            # TYPE kalends_memory_held_bytes gauge
            \(held.map { "kalends_memory_held_bytes{purpose=\"\($0.purpose)\"} \($0.bytes)\n" }.joined())
            """
        if services.leases.isShared, let servers = try? await services.upkeep.servers() {
            add("servers_running", "Servers that have the database.", "\(servers.count(where: \.isRunning))")
            add(
                "shards_held", "Parts of the background work, of \(Shards.count), that this server does.",
                "\(services.leases.shards.count)")
            add(
                "missing_reads",
                "The minimum number of uncounted reads that servers recorded which are not running.",
                "\(servers.filter { !$0.isRunning }.reduce(0) { $0 + $1.server.missing })")
        }
        return text
    }
}
