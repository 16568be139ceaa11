// SPDX-License-Identifier: Apache-2.0

package import Base
import ICalBridge
package import Storage

extension PersonalEvents {
    /// What became of the events that a device sent.
    package struct Taken: Sendable {
        /// Each event by its place in what was sent; `event` is nil for the deletion of one that is not known.
        package var taken: [(index: Int, event: PersonalEvent?)] = []
        package var rejected: [(index: Int, faults: FaultList)] = []
        package var created = 0
        package var updated = 0
        package var unchanged = 0
        /// Milliseconds since 1970.
        package var serverTime = 0
        /// Connections with items that were changed, which are judged by their next run.
        var sources: Set<ByteString> = []
        /// Items of which a person has to decide, by the ids of their events.
        package var undecided: Set<ByteString> = []
    }

    /// How a user's devices are served.
    package struct Status: Sendable {
        package let user: String
        /// The device that asks, nil for another credential.
        package let device: Device?
        package let connections: [Carried]
        package let counts: PersonalEventCounts
        package let serverTime: Int
    }

    /// A connection that a phone carries, and which one does.
    package struct Carried: Sendable {
        package let own: Connection
        package let carrier: PhoneCarrier
        /// The device, if it is still registered.
        package let device: Device?
        package let isAsking: Bool
        package let counts: SyncCounts
    }

    /// How long a transaction keeps adding events: other writers wait only for a moment.
    private static let stepTime = Duration.milliseconds(40)

    /// Takes what a device sent, each event by itself, in as many transactions as it takes for none to be long.
    ///
    /// - Parameter pointer: where an event is in the body.
    package func take(
        _ sent: [SentEvent], at pointer: @escaping @Sendable (Int) -> String, for caller: Caller
    ) async throws -> Taken {
        let user = try Rights.user(caller.identity)
        let sent = await Self.followed(sent, at: pointer)
        var all = Taken()
        var next = 0
        while next < sent.count {
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

    /// Series that are followed before others have their turn.
    private static let followedAtOnce = 100

    /// The events with a fault at each rule that takes more work than it may.
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

    /// The name under which the calling device is known as a source, nil for another credential.
    package func source(for caller: Caller) async throws -> String? {
        guard case .device(let id, let user) = caller.identity else { return nil }
        return try await acts.store.read { try $0.device(id, of: user)?.deviceID }
    }

    /// Goes over what changed after a time, in one snapshot.
    ///
    /// - Parameters:
    ///   - provider: nil for all.
    ///   - show: takes pieces of what changed after a time, as long as it asks for more.
    package func changes<Shown: Sendable>(
        provider: String?, for caller: Caller,
        _ show: @escaping @Sendable ((_ after: Int, _ count: Int) throws -> [PersonalEvent]) throws -> Shown
    ) async throws -> Shown {
        let (user, device) = (try Rights.user(caller.identity), caller.device)
        return try await acts.store.read { transaction in
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
            taken.append((index, event))
        case .success((let event, .updated)):
            updated += 1
            taken.append((index, event))
        case .success((let event, .unchanged)):
            unchanged += 1
            taken.append((index, event))
        case .failure(let refusal):
            // A refusal without a field is about the event as a whole.
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
