// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Testing

/// A phone's calendar as a program on it manages it: it finds events by their marks, fetches changes, and sends its
/// own.
final class Pocket {
    let phone: Phone
    let name: String
    private(set) var since = 0
    /// Events by the phone's own ids.
    private(set) var events: [String: JSONValue] = [:]
    private var number = 0
    var writes = 0

    init(_ phone: Phone, _ name: String) { (self.phone, self.name) = (phone, name) }

    /// Takes what changed, and reports the ids of the events that it created; returns whether anything happened.
    func round(_ bench: PhoneBench) async throws -> Bool {
        let (found, next) = try await phone.changes(since: since)
        since = next
        var answers: [JSONValue] = []
        for event in found {
            let known = events.first { $0.value["mark"] == event["mark"] }
            if event["syncState"] == "deleted" {
                if let known {
                    events[known.key] = nil
                    writes += 1
                }
                continue
            }
            let id = known?.key ?? "\(name)-\(number)"
            if known == nil { number += 1 }
            if known.map({ bench.sent($0.value, as: id) != bench.sent(event, as: id) }) ?? true { writes += 1 }
            events[id] = event
            if event["externalId"] != .string(id) {
                answers.append(bench.sent(event, as: id, ["turn": event["turn"] ?? .null]))
            }
        }
        if !answers.isEmpty {
            try await phone.call(.post, "/sync/apple/events/upsert", ["events": .array(answers)]).expect(200)
        }
        return !answers.isEmpty || found.contains { $0["syncState"] == "deleted" }
    }

    func edit(_ item: String, _ change: [ByteString: JSONValue], _ bench: PhoneBench) async throws {
        guard let (id, event) = events.first(where: { $0.value["itemId"] == .string(item) }) else { return }
        var members = event.object ?? [:]
        members.merge(change) { $1 }
        events[id] = .object(members)
        try await phone.upsert(bench.sent(.object(members), as: id, ["turn": event["turn"] ?? .null]))
    }

    var items: [String] { events.values.compactMap { $0["itemId"]?.string }.sorted() }
}
