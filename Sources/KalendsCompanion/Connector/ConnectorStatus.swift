// SPDX-License-Identifier: Apache-2.0

/// Whether a person lets this app use their calendars, and for what.
public enum ConnectorStatus: Hashable, Sendable {
    case notConnected
    /// `read` and `write` are the person's two toggles; the system's permission is there for both.
    case connected(read: Bool, write: Bool)

    public var isConnected: Bool { if case .connected = self { true } else { false } }

    public func allows(_ use: CalendarUse) -> Bool {
        guard case .connected(let read, let write) = self else { return false }
        return use == .read ? read : write
    }
}

/// What is done with a calendar.
public enum CalendarUse: Hashable, Sendable, CaseIterable { case read, write }

/// That a person connected, and their toggles, as they are kept. A missing one means that nobody connected.
public struct ConnectorRecord: Hashable, Sendable, Codable {
    /// The installation in which the person connected: what came along from another one counts for nothing.
    public var installation: String
    public var read: Bool
    public var write: Bool

    public init(installation: String, read: Bool, write: Bool) {
        self.installation = installation
        self.read = read
        self.write = write
    }
}

/// Where the record is kept: in the app's own folder, so that it goes with the app.
public protocol ConnectorMemory: Sendable {
    func load() async throws -> ConnectorRecord?
    /// Nil takes the record away.
    func save(_ record: ConnectorRecord?) async throws
}

public struct FileConnectorMemory: ConnectorMemory {
    private let file: PrivateFile<ConnectorRecord>

    public init(_ file: PrivateFile<ConnectorRecord>) { self.file = file }

    public func load() throws -> ConnectorRecord? { try file.read() }

    public func save(_ record: ConnectorRecord?) throws {
        if let record { try file.write(record) } else { try file.remove() }
    }
}
