// SPDX-License-Identifier: Apache-2.0

/// Whether a person lets this app use their calendars, and for which uses.
public enum ConnectorStatus: Hashable, Sendable {
    case notConnected
    /// `read` and `write` are the person's two toggles; the system's permission covers both.
    case connected(read: Bool, write: Bool)

    public var isConnected: Bool { if case .connected = self { true } else { false } }

    public func allows(_ use: CalendarUse) -> Bool {
        guard case .connected(let read, let write) = self else { return false }
        return use == .read ? read : write
    }
}

/// A use of a calendar.
public enum CalendarUse: Hashable, Sendable, CaseIterable { case read, write }

/// The stored fact that a person connected, with their toggles. Without a record nobody has connected.
public struct ConnectorRecord: Hashable, Sendable, Codable {
    /// The installation in which the person connected; a record from another installation does not count.
    public var installation: String
    public var read: Bool
    public var write: Bool

    public init(installation: String, read: Bool, write: Bool) {
        self.installation = installation
        self.read = read
        self.write = write
    }
}

/// Stores the record in the app's own folder, so that it is removed with the app.
public protocol ConnectorMemory: Sendable {
    func load() async throws -> ConnectorRecord?
    /// Stores the record; nil removes it.
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

extension Collection<StoreCalendar> {
    /// The default calendar if nobody chose one: the device's own default, or else the first that can be written.
    public var primary: StoreCalendar? {
        first { $0.isDefault && $0.canWrite } ?? first(where: \.canWrite)
    }
}
