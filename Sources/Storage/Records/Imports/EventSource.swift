// SPDX-License-Identifier: Apache-2.0

/// The origin of an imported event, and so its owner: nothing else changes or removes the event.
public struct EventSource: Hashable, Sendable {
    /// The source in its stored form.
    public let text: String

    init(stored text: String) { self.text = text }

    /// The imports of events that every member may see.
    public static let shared = EventSource(stored: "f")

    /// One user's imports of private events; with nil, those of the host application, which nobody sees.
    public static func own(_ user: String?) -> EventSource { EventSource(stored: "f:" + (user ?? "")) }

    /// The to-dos of files that the circle has as tasks: what the files say in addition to the tasks.
    public static let tasks = EventSource(stored: "t")

    public static func subscription(_ id: String) -> EventSource { EventSource(stored: "s:" + id) }

    public var isSubscription: Bool { text.startsWithText("s:") }

    public static func == (one: EventSource, other: EventSource) -> Bool { one.text.isSameText(as: other.text) }

    public func hash(into hasher: inout Hasher) { text.hashText(into: &hasher) }
}

extension EventSource: ColumnValue {
    init(_ value: SQLValue, in column: String) throws { self.init(stored: try String(value, in: column)) }
    var columnValue: SQLValue { .text(text) }
}

/// Numbers of the states that a circle's events go through.
public enum EventEpoch {
    /// The end of a version that has not been replaced, and of a series that never ends.
    public static let open = 1 << 52
    /// The bound of a source's floor: only removed events with a SEQUENCE below it raise the floor.
    static let highestFloor = 1_000_000
}
