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
/// The next blocks are made while the last ones are decided and stored, on another processor where there is one. Only a few
/// imports are in memory at a time, and a long one lets others go first between its groups.
struct ImportDrafts {
    struct Group: Sendable {
        /// The blocks as they were read, in packed form, each with the place of its first event.
        var blocks: [(first: Int, packed: [UInt8])] = []
        /// The events that are not decided yet, and the place of the first of them.
        var rest: ArraySlice<ImportDraft> = []
        var first: Int

        /// The place behind the last event.
        var end: Int { first + rest.count }

        /// Takes the next events.
        mutating func take(_ count: Int) -> (first: Int, events: [ImportDraft]) {
            defer { (rest, first) = (rest.dropFirst(count), first + count) }
            return (first, Array(rest.prefix(count)))
        }
    }

    /// How much is decided together: each decision asks the database a few times, however many events it is for.
    private static let together = (blocks: 5, bytes: 512 << 10)

    private let events: ImportEvents
    private let zone: any TimeZoneRules
    private let extras: Set<EventExtra>
    private let store: any Store
    private var first = 0
    private var coming: Task<Group, any Error>?
    private let memory: MemoryBudget
    private let turn: MemoryShare

    /// - Parameter payer: who takes turns with others.
    init(_ events: ImportEvents, for plan: SharedPlan, payer: String, _ context: ImportContext) {
        (self.events, zone, extras, store) = (events, plan.zone, plan.extras, context.store)
        memory = context.memory.imports
        turn = MemoryShare(memory, network: ByteString(payer))
    }

    /// Returns the next blocks, which follow each other; nil after the last one. Throws 503 if others keep the memory for too
    /// long.
    ///
    /// - Parameter staging: what the groups before have become; it is written before others go first.
    mutating func next(after staging: inout EventStaging) async throws -> Group? {
        if memory.isAwaited {
            coming = nil
            try await staging.finish()
            turn.keep(0)
        }
        try await turn.hold(MemoryBudgets.mostOfImport)
        if coming == nil { prepare() }
        guard let group = try await coming?.value else { return nil }
        first = group.end
        prepare()
        return group
    }

    private mutating func prepare() {
        guard first < events.count else {
            coming = nil
            return
        }
        let (events, zone, extras, store, first) = (events, zone, extras, store, first)
        // A caller who gives up leaves some blocks to be made, which changes nothing.
        coming = Task {
            var (group, bytes) = (Group(first: first), 0)
            while group.end < events.count, group.blocks.count < Self.together.blocks, bytes < Self.together.bytes {
                let packed = try await events.packed(from: group.end, store)
                group.blocks.append((group.end, packed))
                bytes += packed.count
                group.rest += try ImportBlock.events(packed).map {
                    ImportDraft($0, keeping: extras, floatingIn: zone)
                }
            }
            return group
        }
    }
}
