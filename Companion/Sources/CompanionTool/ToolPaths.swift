// SPDX-License-Identifier: Apache-2.0

import Foundation
import KalendsCompanion

/// The paths of the tool's files, by the XDG base directories: a person's choices, and the tool's memory.
struct ToolPaths: Sendable {
    let configuration: URL
    let state: URL

    /// - Parameters:
    ///   - environment: `XDG_CONFIG_HOME` and `XDG_STATE_HOME` count if they are absolute, as their specification
    ///     requires.
    ///   - home: the person's home folder.
    init(environment: [String: String] = ProcessInfo.processInfo.environment, home: URL? = nil) {
        // HOME takes precedence over the system's list of users, as in other programs.
        let said = environment.first { $0.key == "HOME" }?.value
        let home =
            home ?? said.flatMap { $0.hasPrefix("/") ? URL(filePath: $0) : nil }
            ?? FileManager.default.homeDirectoryForCurrentUser
        func folder(_ name: String, _ usual: String) -> URL {
            let named = environment.first { $0.key == name }?.value
            let base = named.flatMap { $0.hasPrefix("/") ? URL(filePath: $0) : nil } ?? home.appending(path: usual)
            return base.appending(path: "kalends-companion")
        }
        configuration = folder("XDG_CONFIG_HOME", ".config")
        state = folder("XDG_STATE_HOME", ".local/state")
    }

    var choices: PrivateFile<Choices> { PrivateFile(configuration.appending(path: "config.json")) }
    var token: PrivateFile<StoredToken> { PrivateFile(configuration.appending(path: "token.json"), longest: 65_536) }
    var connector: PrivateFile<ConnectorRecord> { PrivateFile(state.appending(path: "connector.json")) }
    var status: PrivateFile<SyncStatus> { PrivateFile(state.appending(path: "status.json")) }
    var usage: PrivateFile<[ByteString: Int]> { PrivateFile(state.appending(path: "usage.json")) }
    var engine: URL { state.appending(path: "engine.json") }
    var lock: URL { state.appending(path: "lock") }
    private var identity: PrivateFile<String> { PrivateFile(state.appending(path: "installation.json")) }

    /// Returns the id of this installation. A home folder that was copied to another machine is another installation.
    func installation(machine: String? = ToolPaths.machine) throws -> String {
        let kept: String
        if let found = try identity.read() {
            kept = found
        } else {
            kept = UUID().uuidString.lowercased()
            try identity.write(kept)
        }
        return "\(kept) \(machine ?? "")"
    }

    /// The id that systemd gave this machine; nil on a machine without systemd.
    static var machine: String? {
        guard let data = try? FileHandle(forReadingFrom: URL(filePath: "/etc/machine-id")).read(upToCount: 64) else {
            return nil
        }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// A person's choices; none of them is secret.
struct Choices: Codable, Hashable, Sendable {
    var server: ServerAddress
    /// The folder that contains one folder for each calendar.
    var folder: String
    /// The id of this machine at the server.
    var deviceID: String?
    /// Ids of calendars whose events go to the server.
    var own: [String] = []
    /// The calendar that shows the server's events.
    var mirror: String?
    /// Ids of calendars whose titles and times go to the server.
    var planned: [String] = []
    var pastDays: Int?
    var futureDays: Int?
    /// Seconds for which an event has to be missing before it counts as deleted.
    var patience: Int?

    /// The use of each chosen calendar; nil when none is chosen.
    var summary: String? {
        var ids = own
        for id in planned + (mirror.map { [$0] } ?? []) where !ids.contains(where: { $0 == id }) { ids.append(id) }
        return ids.isEmpty
            ? nil : ids.map { "\($0) (\(uses(of: $0).joined(separator: ", ")))" }.joined(separator: ", ")
    }

    func uses(of id: String) -> [String] {
        [
            own.contains { $0 == id } ? "own" : nil, mirror == id ? "mirror" : nil,
            planned.contains { $0 == id } ? "planned" : nil,
        ].compactMap(\.self)
    }

    /// The configuration with which the engine is started.
    var settings: CompanionSettings {
        var settings = CompanionSettings(deviceID: deviceID ?? "", serverURL: server.url.absoluteString)
        settings.ownCalendars = own
        settings.mirrorCalendar = mirror
        settings.pastDays = max(0, pastDays ?? settings.pastDays)
        settings.futureDays = max(0, futureDays ?? settings.futureDays)
        settings.deletionPatience = patience.map { $0 * 1000 } ?? settings.deletionPatience
        return settings
    }
}

/// The token, which is stored in a separate file.
struct StoredToken: Codable, Hashable, Sendable {
    enum Kind: String, Codable, Sendable {
        /// A device's own token.
        case device
        /// A token that is accepted only for planned events, such as `COMPANION_SYNC_TOKEN`.
        case planned
    }

    var kind: Kind
    var token: String

    var credential: Credential { kind == .device ? .device(token) : .bearer(token) }
}
