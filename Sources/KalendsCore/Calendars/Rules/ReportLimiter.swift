// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Limits how many slow requests of calendar apps run at the same time: reports, and lists of collections. Requests are
/// bounded by person and by network, and each report in time and in bytes.
package final class ReportLimiter: Sendable {
    /// Places are for reports that are made or wait for their readers; the bytes are what they keep of their bodies.
    private let places: FairPool
    /// The processor time that a sender's reports take: a minute at once, then half of one processor.
    private let processor = RateLimit(burst: 120, span: 1_000)
    private static let portion = 2
    private static let pause = Duration.milliseconds(50)
    private let limits: ConnectionLimits
    private let now: Clock

    init(_ limits: ConnectionLimits, now: @escaping Clock) {
        places = FairPool(
            FairPool.Size(
                bytes: limits.reportMemory, slots: limits.reports, slotsPerPerson: limits.reportsOfAPerson),
            busy: "Many calendars are being read at this moment; ask again soon.", of: "reports")
        (self.limits, self.now) = (limits, now)
    }

    /// Takes a place for a report, waiting for a moment until one is free.
    ///
    /// Throws 503 if no place is free in time, and at once for a sender who has used up the processor time.
    package func enter(_ sender: Sender) async throws -> Place {
        let wait = processor.wait(sender.caller, now: now())
        guard wait == 0 else {
            throw Refusal.waits("Your reports have kept this server busy; ask again later.", wait / 1000 + 1)
        }
        let end = ContinuousClock.now + limits.reportPatience
        while true {
            do throws(Refusal) { return Place(self, try places.enter(sender)) } catch {
                guard ContinuousClock.now < end else { throw Refusal.waits(error.detail, 5) }
            }
            try await Task.sleep(for: Self.pause)
        }
    }

    func charge(_ sender: Sender, _ time: Duration) {
        processor.charge(sender.caller, Int(time / .milliseconds(1)) * Self.portion, now: now())
    }

    /// A report's place, with what it has taken until now.
    package final class Place: Sendable {
        private let room: ReportLimiter
        private let holding: FairPool.Holding
        private let used = Mutex((time: Duration.zero, bytes: 0))

        fileprivate init(_ room: ReportLimiter, _ holding: FairPool.Holding) {
            (self.room, self.holding) = (room, holding)
        }

        deinit {
            room.charge(holding.sender, used.withLock { $0.time })
        }

        /// Counts this many bytes as kept until the report is done; throws 503 if there is no room for them.
        package func keep(_ bytes: Int) throws { try holding.grow(by: bytes) }

        /// Does a part of the report, whose processor time is counted.
        package func count<Value>(_ part: () throws -> Value) rethrows -> Value {
            let began = SystemThread.processorTime
            defer {
                let time = SystemThread.processorTime - began
                used.withLock { $0.time += time }
            }
            return try part()
        }

        package func count(bytes: Int) { used.withLock { $0.bytes += bytes } }

        /// Whether the report has taken all that one may.
        package var isUsedUp: Bool {
            used.withLock { $0.time >= room.limits.reportTime || $0.bytes >= room.limits.reportBytes }
        }
    }

    /// The number of places taken.
    var taken: Int { places.slots }
}

extension Refusal {
    fileprivate static func waits(_ sentence: String, _ seconds: Int) -> Refusal {
        Refusal(.unavailable, code: .busy, detail: sentence, retryAfter: seconds)
    }
}
