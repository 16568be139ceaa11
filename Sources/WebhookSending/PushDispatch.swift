// SPDX-License-Identifier: Apache-2.0

package import KalendsCore
package import Logging
import ServiceLifecycle
import Storage

/// Tells calendar apps of changes while the server runs (draft-bitfire-webdav-push).
///
/// Changes within half a second go out in one message. All state is in the database, so sending continues after a restart; each
/// message says only that something has changed, so that of several one is enough.
package struct PushDispatch: Service {
    package let services: Services
    package let logger: Logger
    private let places = PushPlaces()

    package init(services: Services, logger: Logger) {
        self.services = services
        self.logger = logger
    }

    private static let pause = Duration.milliseconds(100)
    /// After how many pauses the database is asked although this server wrote nothing: others may have.
    private static let patience = 6
    /// How long changes are collected.
    private static let collecting = Duration.milliseconds(500)
    /// The maximum number of registrations of one person, and of all people, that are served at a time.
    private static let (mostOfPerson, most) = (8, 2000)
    /// How many more registrations than that are looked at together.
    private static let page = 500

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            let lanes = WebhookLanes()
            await withDiscardingTaskGroup { group in
                var (seen, rounds): (UInt64?, Int) = (nil, 0)
                while !Task.isCancelled {
                    rounds += 1
                    let time = services.store.clock.now
                    if time != seen || rounds % Self.patience == 0,
                        let found = await attempt({ try await behind(lanes) })
                    {
                        seen = time
                        for (id, user) in found where lanes.open(id, of: user, most: Self.mostOfPerson) {
                            group.addTask {
                                defer { lanes.close(id, of: user) }
                                guard (try? await Task.sleep(for: Self.collecting)) != nil else { return }
                                _ = await attempt { try await serve(id) }
                            }
                        }
                    }
                    try? await Task.sleep(for: Self.pause)
                }
            }
        }
    }

    /// Sends all messages that are due; returns how many were taken.
    func once() async throws -> Int {
        let push = services.pushRegistrations
        var taken = 0
        for own in try await push.behind(limit: .max) where try await serve(own.id) { taken += 1 }
        return taken
    }

    private func attempt<Value: Sendable>(_ work: () async throws -> Value) async -> Value? {
        await logger.attempt("calendar apps cannot hear of changes", work)
    }

    /// Returns registrations whose app has to hear of changes, in addition to those that are being served.
    private func behind(_ lanes: WebhookLanes) async throws -> [(id: String, user: String)] {
        let served = lanes.count
        guard served < Self.most, services.isSealingKeyRight else { return [] }
        return try await services.pushRegistrations.behind(limit: served + Self.page)
    }

    /// Sends a registration's message; returns whether it was taken.
    private func serve(_ id: String) async throws -> Bool {
        let push = services.pushRegistrations
        return try await services.leases.shards.work(of: id) {
            guard let due = try await push.due(id), let place = try await places.enter(due) else { return false }
            defer { withExtendedLifetime(place) {} }
            try HeldLeases.check()
            let answer = try await push.send(due)
            let now = services.now()
            try await push.note(answer, to: due) { now + WebhookDispatch.wait(after: $0, answer.retryAfter) }
            return answer.isTaken
        } ?? false
    }
}
