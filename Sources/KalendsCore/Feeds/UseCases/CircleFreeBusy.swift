// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
import Storage

/// When members of a circle are busy by what the circle holds, and not with what.
///
/// What is private to a member counts for that member. A member's own events outside the circle do not count: they are
/// in feeds only if that member chose so.
package struct CircleFreeBusy: Sendable {
    package typealias Period = (kind: FreeBusyTime.Kind, range: TimeRange)

    package let range: TimeRange
    /// The periods of each user, in the order of the request.
    package let people: [(userID: String, busy: [Period])]

    /// The maximum number of people in one request, and the maximum number of days that it asks for.
    package static let (mostPeople, mostDays) = (50, 400)

    /// Returns when people are busy; throws 404 for a circle that is not the caller's, and 422 for users who are not its
    /// members and for a span that is not valid.
    package static func of(
        _ users: [String], in circleID: String, from: Instant, to: Instant, for caller: Caller, _ context: FeedContext
    ) async throws -> CircleFreeBusy {
        try await context.readInTurn(for: caller.payer) { transaction, room in
            let circle = try Rights.authorized(circleID, for: caller.identity, in: transaction).circle
            var faults = FaultList()
            for (index, user) in users.enumerated() where try transaction.member(user, in: circleID) == nil {
                faults.append(
                    Fault(
                        pointer: "/userIds/\(index)", code: .unknownReference,
                        message: "The circle has no such member."))
            }
            if from >= to {
                faults.append(Fault(pointer: "/to", code: .order, message: "This must be later than `from`."))
            } else if to.seconds - from.seconds > mostDays * 86_400 {
                faults.append(
                    Fault(
                        pointer: "/to", code: .outOfRange,
                        message: "This must be at most \(mostDays) days after `from`."))
            }
            if !faults.isEmpty { throw Refusal.invalid(faults) }
            try room.take(circle.id, andOwnOf: nil, in: transaction)
            var work = try Work(
                circle, users, TimeRange(from: from, to: to), try CircleNames(circle.id, in: transaction),
                context.settings)
            try work.addAll(in: transaction)
            return CircleFreeBusy(range: work.range, people: work.people())
        }.0
    }

    /// Visits the rows that may touch the span once for all people.
    private struct Work {
        let range: TimeRange
        private let circle: Circle
        private let users: [String]
        private let builder: EntryBuilder
        private let filters: [FeedFilter]
        private var busy: BusyWork
        private var times: [FreeBusyTime]

        init(
            _ circle: Circle, _ users: [String], _ range: TimeRange, _ names: CircleNames, _ settings: ServerSettings
        ) throws {
            (self.circle, self.users, self.range) = (circle, users, range)
            let (zone, configuration) = (try circle.zone, FeedConfiguration())
            let look = FeedRenderKey(
                style: CareStyle(titlePrefix: settings.titlePrefix, detail: .full), zone: zone, sequenceOffset: 0,
                shownChangedAt: 0, linkTemplate: nil)
            builder = EntryBuilder(look: look, names: names, kinds: settings.kinds, writesText: false)
            let window = FeedWindow(configuration, today: CivilDate(daysSinceEpoch: 0), zone: zone)
            filters = users.map { FeedFilter(configuration, userID: $0, window: window, zone: zone) }
            busy = BusyWork(in: zone)
            times = users.map { _ in FreeBusyTime(in: range) }
        }

        mutating func addAll(in transaction: any ReadTransaction) throws {
            let (first, last) = (
                range.from.milliseconds - EntrySpan.slack, range.to.milliseconds + EntrySpan.slack
            )
            let changed: [ByteString: [ChangedOccurrence]] = Dictionary(
                grouping: try transaction.occurrences(of: nil, in: circle.id), by: \.itemID)
            try transaction.eachItem(in: circle.id, from: first, to: last) { row in
                let content = try builder.kinds.content(of: row)
                let occurrences = row.hasOccurrences ? changed[row.id] ?? [] : []
                let own = users.indices.filter { index in content.ownerID.map { $0 == users[index] } ?? false }
                let others = users.indices.filter { !own.contains($0) }
                for (positions, isOwn) in [(own, true), (others, false)] where !positions.isEmpty {
                    add(
                        try builder.events(of: row, content, occurrences: occurrences, isOwn: isOwn), for: positions)
                }
            }
            try ImportedSeries.eachInOrder(in: circle, from: first, to: last, transaction) { series in
                let traits = EntryTraits(series)
                add(
                    builder.events(of: series), for: users.indices.filter { filters[$0].exclusion(of: traits) == nil })
                return true
            }
        }

        private mutating func add(_ events: [Event], for positions: [Int]) {
            guard !positions.isEmpty, events.contains(where: { $0.isTransparent != true }) else { return }
            let zone = busy.zone.rules
            var found: [Occurrence] = []
            busy.each(of: events, in: range) { found.append($0) }
            for occurrence in found {
                for position in positions { times[position].add(occurrence, floatingIn: zone) }
            }
        }

        mutating func people() -> [(userID: String, busy: [Period])] {
            users.indices.map { (users[$0], times[$0].settled()) }
        }
    }
}
