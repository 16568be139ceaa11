// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import ICalBridge
import KalendsCore
import Server
import Storage

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check whether this installation is healthy.",
        discussion: """
            Reads every row of the database as the server does, and checks its files and surroundings. The exit status \
            is 3 when something is wrong.
            """)

    @OptionGroup var options: SettingsOptions
    @Flag(help: "One line of JSON per check.") var json = false

    /// The results of all checks, as text for the report.
    struct Report {
        let json: Bool
        var isWell = true

        mutating func note(_ check: String, _ isFine: Bool, _ text: String) {
            isWell = isWell && isFine
            guard json else { return Console.line("\(isFine ? "ok  " : "BAD ") \(check): \(printable(text))") }
            let line: JSONValue = ["check": .string(check), "ok": .bool(isFine), "text": .string(text)]
            if let text = try? line.text() { Console.line(text) }
        }
    }

    func run() async throws {
        let settings = try await options.settings()
        var report = Report(json: json)
        let zones = SystemTimeZones.shared
        report.note("time zones", zones.isAvailable, "\(zones.identifiers.count) names in tzdata")
        let isThere = settings.server != nil || FileManager.default.fileExists(atPath: settings.database)
        let place = settings.shownDatabase
        report.note("database", isThere, isThere ? place : "\(place) is not there; name the right one with --database")
        guard isThere else { throw ExitCode(3) }
        // This check runs first and separately, when no other process has the database: invalid data may keep
        // everything else from working.
        if let faults = try await faultsAlone(settings) {
            note(faults, &report)
            guard report.isWell else { throw ExitCode(3) }
        } else {
            let rows = try await LocalClient.with(settings) { try await $0.json("GET", "/local/rows") }
            note(rows["faults"]?.array?.compactMap(\.string) ?? ["the server does not say"], &report)
        }
        try await noteHealth(settings, &report)
        noteKeyFile(settings, &report)
        try await MachineChecks(settings: settings, now: systemClock()).note(&report)
        let confinement = try await ImportReader.confinement(settings)
        report.note(
            "strangers' files", confinement.isEmpty,
            "read by a process without files, network and children"
                + (confinement.isEmpty ? "" : ", but this machine leaves it \(confinement.joined(separator: ", "))"))
        if !report.isWell { throw ExitCode(3) }
    }

    /// The faults in the database; nil when another process has it.
    private func faultsAlone(_ settings: ServerSettings) async throws -> [String]? {
        do {
            let lock = try DatabaseLock(settings, creates: false)
            defer { withExtendedLifetime(lock) {} }
            do {
                if settings.server == nil { try Engine.check(path: settings.database) }
            } catch {
                return [publicText(error)]
            }
            let store = try Engine.open(settings.place, true)
            defer { try? store.close() }
            do {
                if settings.server != nil { try await store.checkSchema() }
            } catch {
                return [publicText(error)]
            }
            return try await StoredRows.faults(in: store, store, settings.kinds).map(\.description)
        } catch let error as StorageError where error.isLocked {
            return nil
        }
    }

    private func note(_ faults: [String], _ report: inout Report) {
        if faults.isEmpty { report.note("stored rows", true, "each is as Kalends writes it") }
        for fault in faults { report.note("stored rows", false, fault) }
    }

    private func noteHealth(_ settings: ServerSettings, _ report: inout Report) async throws {
        let health = try await LocalClient.with(settings) { try await $0.json("GET", "/local/health") }
        let integrity = health["integrity"]?.string ?? "unknown"
        let engine = health["sqlite"]?.string ?? "unknown"
        if settings.server == nil {
            report.note("integrity", integrity == "ok", "\(integrity) (SQLite \(engine))")
            report.note("SQLite", true, SQLiteNote.text(engine))
        } else {
            report.note("integrity", integrity == "ok", "\(integrity) (PostgreSQL \(engine))")
        }
        let audit = try await LocalClient.with(settings) { try await $0.json("GET", "/local/audit/verify") }
        report.note("audit trail", audit["fault"] == .null, AuditCommand.sentence(audit))
        let accesses = health["accesses"] ?? .null
        let trouble = accesses["failure"]?.string ?? accesses["folding"]?.string
        report.note(
            "accesses", trouble == nil,
            "\(trouble ?? "recorded and counted"), \(accesses["pending"]?.integer ?? 0) waiting, room for "
                + "\(accesses["capacity"]?.integer ?? 0)")
        for server in health["servers"]?.array ?? [] { note(server, &report) }
        let isOurs = health["sealingKey"]?.bool == true
        report.note(
            "sealing key", isOurs,
            isOurs
                ? "the one that feed addresses were sealed with (without it they cannot be shown again)"
                : "not the one that feed addresses were sealed with: put that one in its place")
        if health["isRotationUnfinished"] == true {
            report.note("key rotation", false, "it was interrupted; run `kalends key-rotate` again")
        }
        if let proxy = health["untrustedProxy"]?.string {
            report.note(
                "proxies", false,
                "X-Forwarded-For comes from \(proxy), which is not in trustedProxies: everybody behind it counts as one"
            )
        }
    }

    /// Reports on one of several servers: whether it is running, and which of its reads are not yet counted.
    private func note(_ server: JSONValue, _ report: inout Report) {
        let (name, missing) = (server["name"]?.string ?? "unknown", server["missing"]?.integer ?? 0)
        if server["isRunning"] == true { return report.note("server", true, "\(name) runs") }
        let since = "not seen since \(server["seenAt"]?.string ?? "unknown")"
        if server["isStopped"] == true, missing == 0 { return report.note("server", true, "\(name) is stopped") }
        report.note(
            "server", missing == 0,
            "\(name) was \(since): at least \(missing) of its reads are not counted until it is started with its files")
    }

    private func noteKeyFile(_ settings: ServerSettings, _ report: inout Report) {
        guard settings.secretKey == nil else { return }
        let attributes = try? FileManager.default.attributesOfItem(atPath: settings.keyFile)
        let mode = attributes?[.posixPermissions] as? Int
        let file = settings.keyFile
        guard let mode else { return report.note("key file", false, "\(file) is not there") }
        let isPrivate = mode & 0o077 == 0
        report.note(
            "key file", isPrivate,
            isPrivate
                ? "\(file), which only its owner may read"
                : "\(file) can be read by other users; run: chmod 600 \(file)")
    }
}
