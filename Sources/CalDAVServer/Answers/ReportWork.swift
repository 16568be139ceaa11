// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore
import KalendsFront
import Synchronization

/// Work for a report, or for a list of what is in a collection, until its whole answer is written: others take turns with it,
/// it has a bound, and it ends when its client has gone.
final class ReportWork: Sendable {
    let place: ReportLimiter.Place
    private let presence: Presence
    private let turn = Mutex(ContinuousClock.now)

    /// The amount of work that is done without checking whether others wait.
    private static let longestTurn = Duration.milliseconds(20)

    init(_ place: ReportLimiter.Place, _ presence: Presence) { (self.place, self.presence) = (place, presence) }

    /// Lets those come first who wait, if the turn was long; throws once nobody waits for the answer.
    func pause() async throws {
        try presence.check()
        let now = ContinuousClock.now
        guard now - turn.withLock({ $0 }) >= Self.longestTurn else { return }
        await Task.yield()
        turn.withLock { $0 = ContinuousClock.now }
    }
}

extension Exchange {
    /// Answers with what may take long, on the threads for such work.
    func working<Value: Sendable>(_ answer: (Exchange) async throws -> Value) async throws -> Value {
        let (reports, sender) = (services.reports, context.sender)
        let place = try await context.awaiting { try await reports.enter(sender) }
        var exchange = self
        exchange.work = ReportWork(place, Presence(on: context.channel))
        return try await LongWork.run(for: sender) { [exchange] in try await answer(exchange) }
    }

    /// Does a part of the work for each of some resources.
    func each<Element>(_ elements: [Element], _ part: (Element) throws -> Void) async throws {
        for element in elements {
            try await work?.pause()
            if let work { try work.place.count { try part(element) } } else { try part(element) }
        }
    }

    /// Whether the answer has taken all that one may.
    var isUsedUp: Bool { work?.place.isUsedUp ?? false }
}
