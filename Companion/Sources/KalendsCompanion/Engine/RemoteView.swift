// SPDX-License-Identifier: Apache-2.0

/// A server's event with its changed occurrences.
struct RemoteView: Sendable {
    var main: RemoteEvent
    /// Changed occurrences by their original start, including deleted ones.
    var parts: [EventMoment: RemoteEvent] = [:]

    var isDeleted: Bool { main.isDeleted }
    /// Whether the event mirrors an item of a circle.
    var isItem: Bool { main.itemId != nil || main.circleId != nil || main.collection != nil }
    /// The newest version among the event and its changed occurrences, by the server's clock.
    var updatedAt: Int { parts.values.reduce(main.updatedAt) { max($0, $1.updatedAt) } }
    /// The event's id on devices; nil when no device has it.
    var externalID: String? { main.externalId.flatMap { $0.isEmpty ? nil : $0 } }

    /// Returns the event in the form of calendars; nil when its times cannot be read.
    func unit(_ zones: Zones) -> EventUnit? {
        guard let content = main.content else { return nil }
        var unit = EventUnit(content)
        for (moment, part) in parts where unit.content.recurrence != nil {
            if part.isDeleted {
                unit.content.recurrence?.exceptions.insert(moment)
            } else if let content = part.content {
                unit.changed[moment] = content
            }
        }
        return unit.canonical(zones)
    }
}

/// The server's events, with the changed occurrences of each series.
struct RemoteIndex: Sendable {
    private(set) var views: [ByteString: RemoteView] = [:]
    private var byExternal: [ByteString: ByteString] = [:]
    private var byItem: [ByteString: ByteString] = [:]

    init() {}

    init(_ events: [RemoteEvent]) {
        var parts: [RemoteEvent] = []
        for event in events {
            guard event.instance == nil else {
                parts.append(event)
                continue
            }
            let id = ByteString(event.id)
            views[id] = RemoteView(main: event)
            if let item = event.itemKey { byItem[item] = id }
            guard let external = event.externalId, !external.isEmpty else { continue }
            // If a deleted event and an existing one share an id, it means the existing one.
            if byExternal[external] == nil || !event.isDeleted { byExternal[external] = id }
        }
        for part in parts {
            guard let moment = part.instance,
                let owner = part.itemKey.flatMap({ byItem[$0] }) ?? part.externalId.flatMap({ byExternal[$0] })
            else { continue }
            views[owner]?.parts[moment] = part
        }
    }

    subscript(id: String?) -> RemoteView? { id.flatMap { views[$0] } }

    func view(externalID: String) -> RemoteView? { byExternal[externalID].flatMap { views[$0] } }
}

extension RemoteEvent {
    /// The key that an item shares with its changed occurrences.
    fileprivate var itemKey: ByteString? {
        itemId.map { ByteString("\(connectionId ?? "") \(collection ?? "") \($0)") }
    }
}
