// SPDX-License-Identifier: Apache-2.0

import CompanionFolder
import Foundation
import KalendsCompanion

/// Assembles the library for this machine: its files, its folder of calendars, its clock.
struct CompanionContext: Sendable {
    let paths: ToolPaths
    let choices: Choices
    let store: VdirStore
    let connector: CalendarConnector
    let status: StatusStore

    init(_ paths: ToolPaths, _ choices: Choices) throws {
        self.paths = paths
        self.choices = choices
        status = StatusStore(paths.status)
        store = VdirStore(root: URL(filePath: choices.folder), zones: Self.zones)
        let (engine, status) = (FileStateStore(paths.engine), status)
        connector = CalendarConnector(
            opening: store, memory: FileConnectorMemory(paths.connector), installation: try paths.installation(),
            counts: UsageCounts(paths.usage),
            clear: {
                try await engine.clear()
                try await status.clear()
            })
    }

    /// Opens the files for commands that come after `login`.
    static func open(_ paths: ToolPaths = ToolPaths()) throws -> CompanionContext {
        guard let choices = try Self.read(paths.choices) else { throw ToolFailure.notLoggedIn }
        return try CompanionContext(paths, choices)
    }

    /// Returns the companion with everything that it syncs.
    func companion() throws -> Companion {
        guard let token = try Self.read(paths.token) else { throw ToolFailure.notLoggedIn }
        try Self.checkMode(paths.token.url)
        var settings = choices.settings
        // A token for planned events is accepted for nothing else.
        if token.kind == .planned { (settings.ownCalendars, settings.mirrorCalendar) = ([], nil) }
        guard !settings.ownCalendars.isEmpty || settings.mirrorCalendar != nil || !choices.planned.isEmpty else {
            throw ToolFailure.use("No calendar is chosen: run `kalends-companion calendars`.")
        }
        return Companion(
            connector: connector, status: status,
            service: HTTPCompanionService(choices.server, credential: token.credential, transport: Self.transport),
            states: FileStateStore(paths.engine), settings: settings, plannedCalendars: choices.planned,
            zones: Self.zones, clock: Self.clock)
    }

    /// Lasts as long as the program: connections are not torn down while it ends.
    static let transport = URLSessionTransport()

    static let zones = Zones(device: { TimeZone.current.identifier })

    /// Milliseconds since 1970.
    @Sendable
    static func clock() -> Int { Int(Date().timeIntervalSince1970 * 1000) }

    private static func read<Value>(_ file: PrivateFile<Value>) throws -> Value? {
        do { return try file.read() } catch {
            throw ToolFailure.failed("\(file.url.path) cannot be read, or is not what this tool wrote.")
        }
    }

    /// Refuses a token that others on this machine can read.
    static func checkMode(_ file: URL) throws {
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        if let mode, mode & 0o077 != 0 {
            throw ToolFailure.use("Others can read \(file.path): run `chmod 600` on it, or log in again.")
        }
    }
}
