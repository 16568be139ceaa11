// SPDX-License-Identifier: Apache-2.0

internal import Base

/// What brought an imported event, and whose it is therefore: nothing else changes it or takes it away.
public struct EventSource: Hashable, Sendable {
    /// As it is stored.
    public let text: String

    init(stored text: String) { self.text = text }

    /// People's imports, of what every member may see.
    public static let shared = EventSource(stored: "f")

    /// One user's imports of what is private to them; of nil, the host application's, which nobody sees.
    public static func own(_ user: String?) -> EventSource { EventSource(stored: "f:" + (user ?? "")) }

    public static func subscription(_ id: String) -> EventSource { EventSource(stored: "s:" + id) }

    public var isSubscription: Bool { text.startsWithText("s:") }

    public static func == (one: EventSource, other: EventSource) -> Bool { one.text.isSameText(as: other.text) }

    public func hash(into hasher: inout Hasher) { text.hashText(into: &hasher) }
}

/// Numbers of the states that a circle's events go through.
public enum EventEpoch {
    /// The end of a version that nothing has replaced, and of a series that never ends.
    public static let open = 1 << 52
    /// New events of a source begin above what is gone of it up to here.
    static let highestFloor = 1_000_000
}
