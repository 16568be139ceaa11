// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
package import Storage

extension PersonalEvents {
    /// The result for the events that a device sent.
    package struct Taken: Sendable {
        /// Each accepted event by its index in the request; `event` is nil for the deletion of an unknown event.
        package var taken: [(index: Int, event: TakenEvent?)] = []
        package var rejected: [(index: Int, faults: FaultList)] = []
        package var created = 0
        package var updated = 0
        package var unchanged = 0
        /// Milliseconds since 1970.
        package var serverTime = 0
        /// Connections whose items were changed; their next run judges the changes.
        var sources: Set<ByteString> = []
        /// The ids of the events whose items wait for a person's decision.
        package var undecided: Set<ByteString> = []
    }

    /// What is answered about an event. A request may name one event thousands of times, so its texts are not kept.
    package struct TakenEvent: Sendable {
        package let id: String
        package let updatedAt: Int
        /// The state for a device; `deleted` for an event that does not exist.
        package let state: String
        /// The connection whose item it shows; nil for a person's own event.
        package let source: String?
        let item: ItemKey?

        init(_ event: PersonalEvent) {
            (id, updatedAt) = (event.id, event.updatedAt)
            state = event.deletedAt == nil ? event.mapping.state.rawValue : "deleted"
            (source, item) = (event.tie?.source, event.item)
        }
    }

    /// The state of the service for a user's devices.
    package struct Status: Sendable {
        package let user: String
        /// The calling device; nil for another credential.
        package let device: Device?
        package let connections: [Carried]
        package let counts: PersonalEventCounts
        package let serverTime: Int
    }

    /// A connection that a phone carries, and the phone that does.
    package struct Carried: Sendable {
        package let own: Connection
        package let carrier: PhoneCarrier
        /// The device, if it is still registered.
        package let device: Device?
        package let isAsking: Bool
        package let counts: SyncCounts
    }

    /// How long one transaction continues to add events, so that other writers wait only briefly.
    private static let stepTime = Duration.milliseconds(40)

    /// Takes the events that a device sent, one by one, in as many transactions as are needed to keep each short.
    ///
    /// - Parameter pointer: returns the event's place in the body.
    package func take(
        _ sent: [SentEvent], at pointer: @escaping @Sendable (Int) -> String, for caller: Caller
    ) async throws -> Taken {
        let user = try Rights.user(caller.identity)
        let sent = await Self.followed(sent, at: pointer)
        var all = Taken()
        var next = 0
        let end = ContinuousClock.now + Self.time
        while next < sent.count {
            try Task.checkCancellation()
            guard ContinuousClock.now < end else {
                all.rejected += (next..<sent.count).map { Self.late($0, at: pointer($0)) }
                break
            }
            let first = next
            let part = try await change(of: user, for: caller) { writer in
                let start = ContinuousClock.now
                var part = Taken()
                for index in first..<sent.count {
                    part.take(
                        sent[index], index, at: pointer(index), try Self.outcome(sent[index], pointer(index), &writer))
                    if ContinuousClock.now - start >= Self.stepTime { break }
                }
                part.sources = writer.changedSources
                return part
            }
            all.add(part)
            next += part.taken.count + part.rejected.count
        }
        all.serverTime = acts.now()
        return all
    }

    /// How long a request may change events while others' bodies wait for the same room.
    private static let time = Duration.seconds(30)

    /// Rejects what is left of a request that took too long.
    private static func late(_ index: Int, at pointer: String) -> (index: Int, faults: FaultList) {
        var faults = FaultList()
        faults.append(
            Fault(
                pointer: "\(pointer)/externalId", code: .tooMany,
                message: "The request took too long. Send this event again in another one."))
        return (index, faults)
    }

    /// How many series are expanded before other tasks get a turn.
    private static let followedAtOnce = 100

    /// Returns the events, with a fault for each rule that takes more work than allowed.
    private static func followed(_ sent: [SentEvent], at pointer: (Int) -> String) async -> [SentEvent] {
        var (sent, budget) = (sent, RecurrenceBudget(steps: SeriesWork.ofFile))
        for index in sent.indices {
            if let fault = sent[index].edit.fault(at: pointer(index), following: &budget) {
                sent[index].faults.append(fault)
            }
            if index % followedAtOnce == followedAtOnce - 1 { await Task.yield() }
        }
        return sent
    }

    private static func outcome(
        _ sent: SentEvent, _ pointer: String, _ writer: inout PersonalWriter
    ) throws -> Result<(PersonalEvent?, PersonalWriter.Outcome), Refusal> {
        do {
            return .success(try writer.take(sent, at: pointer))
        } catch let refusal as Refusal {
            return .failure(refusal)
        }
    }

    /// Returns the name under which the calling device is known as a source; nil for another credential.
    package func source(for caller: Caller) async throws -> String? {
        guard case .device(let id, let user) = caller.identity else { return nil }
        return try await acts.store.read { try $0.device(id, of: user)?.deviceID }
    }

    /// Visits the changes after a time, in one snapshot.
    ///
    /// - Parameters:
    ///   - provider: nil for the events of all providers.
    ///   - show: makes the result with a function that fetches the changes after a time, piece by piece.
    package func changes<Shown: Sendable>(
        provider: String?, for caller: Caller,
        _ show: @escaping @Sendable ((_ after: Int, _ count: Int) throws -> [PersonalEvent]) throws -> Shown
    ) async throws -> Shown {
        let (user, device) = (try Rights.user(caller.identity), caller.device)
        return try await acts.readPage(for: caller) { transaction in
            try show {
                try transaction.personalEvents(
                    of: user, changedAfter: $0, provider: provider, for: device, limit: $1)
            }
        }
    }

    package func status(for caller: Caller) async throws -> Status {
        let (user, now) = (try Rights.user(caller.identity), acts.now())
        return try await acts.store.read { transaction in
            let device = try caller.device.flatMap { try transaction.device($0, of: user) }
            let connections = try transaction.connections(of: user, by: .apple).map { own in
                let carrier =
                    try transaction.phoneCarrier(of: user, source: own.id) ?? PhoneCarrier(of: user, source: own.id)
                let known = try carrier.carrier.flatMap { try transaction.device($0, of: user) }
                return Carried(
                    own: own, carrier: carrier, device: known,
                    isAsking: carrier.carrier != nil && carrier.carrier == caller.device,
                    counts: try transaction.counts(ofConnection: own.id))
            }
            return Status(
                user: user, device: device, connections: connections,
                counts: try transaction.personalEventCounts(of: user), serverTime: now)
        }
    }
}

extension PersonalEvents.Taken {
    fileprivate mutating func take(
        _ sent: SentEvent, _ index: Int, at pointer: String,
        _ outcome: Result<(PersonalEvent?, PersonalWriter.Outcome), Refusal>
    ) {
        switch outcome {
        case .success((let event, .created)):
            created += 1
            taken.append((index, event.map(PersonalEvents.TakenEvent.init)))
        case .success((let event, .updated)):
            updated += 1
            taken.append((index, event.map(PersonalEvents.TakenEvent.init)))
        case .success((let event, .unchanged)):
            unchanged += 1
            taken.append((index, event.map(PersonalEvents.TakenEvent.init)))
        case .failure(let refusal):
            // A refusal without a field concerns the event as a whole.
            rejected.append(
                (
                    index,
                    refusal.faults.mapped { fault in
                        var fault = fault
                        if fault.pointer.isEmpty { fault.pointer = "\(pointer)/externalId" }
                        return fault
                    }
                ))
        }
    }

    fileprivate mutating func add(_ part: Self) {
        taken += part.taken
        rejected += part.rejected
        created += part.created
        updated += part.updated
        unchanged += part.unchanged
        sources.formUnion(part.sources)
    }
}
