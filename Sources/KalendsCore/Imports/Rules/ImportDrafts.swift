// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// An event of a file with what follows only from the event, whatever is stored.
///
/// A class, because it is passed on several times, and only one reference is counted then.
final class ImportDraft: Sendable {
    let event: Event
    let line: Int
    let isSettled: Bool
    let recurrenceID: String
    let span: (start: Int, end: Int?)
    let fingerprint: String
    /// The event as it would be stored, and what of it would not be.
    let content: String
    let leftOut: LeftOut

    init(_ read: ReadEvent, keeping extras: Set<EventExtra>, floatingIn zone: any TimeZoneRules) {
        (event, line, isSettled) = (read.event, read.line, read.isSettled)
        recurrenceID = event.recurrenceKey(floatingIn: zone)
        span = event.span(floatingIn: zone)
        fingerprint = event.fingerprint(floatingIn: zone)
        (content, leftOut) = event.stored(keeping: extras)
    }
}

extension Event {
    /// Returns the event as it is stored, and what of it is not.
    func stored(keeping extras: Set<EventExtra>) -> (content: String, leftOut: LeftOut) {
        var leftOut: LeftOut = [:]
        return (StoredEvent.text(importable(keeping: extras, leftOut: &leftOut)), leftOut)
    }
}

/// The events of a file, some blocks at a time, in order.
///
/// The next blocks are made while the last ones are decided and stored, on another processor where there is one.
struct ImportDrafts {
    struct Block: Sendable {
        /// The number of the block.
        let number: Int
        /// The events as they were read, in packed form.
        let packed: [UInt8]
        let events: [ImportDraft]
    }

    /// How much is decided together: each decision asks the database a few times, however many events it is for.
    private static let together = (blocks: 5, bytes: 512 << 10)

    private let events: ImportEvents
    private let zone: any TimeZoneRules
    private let extras: Set<EventExtra>
    private let store: any Store
    private var number = 0
    private var coming: Task<[Block], any Error>?

    init(_ events: ImportEvents, for plan: SharedPlan, _ store: any Store) {
        (self.events, zone, extras, self.store) = (events, plan.zone, plan.extras, store)
        prepare()
    }

    /// Returns the next blocks, which follow each other; nil after the last one.
    mutating func next() async throws -> [Block]? {
        guard let blocks = try await coming?.value else { return nil }
        number += blocks.count
        prepare()
        return blocks
    }

    private mutating func prepare() {
        guard number < events.blocks else {
            coming = nil
            return
        }
        let (events, zone, extras, store, first) = (events, zone, extras, store, number)
        // A caller who gives up leaves some blocks to be made, which changes nothing.
        coming = Task {
            var (blocks, bytes): ([Block], Int) = ([], 0)
            for number in first..<min(first + Self.together.blocks, events.blocks) {
                let packed = try await events.packed(number, store)
                blocks.append(
                    Block(
                        number: number, packed: packed,
                        events: try ImportBlock.events(packed).map {
                            ImportDraft($0, keeping: extras, floatingIn: zone)
                        }))
                bytes += packed.count
                if bytes >= Self.together.bytes { break }
            }
            return blocks
        }
    }
}
