// SPDX-License-Identifier: Apache-2.0

import Storage

/// The quota of imports into a circle, per day and in total.
struct ImportQuota: Sendable {
    let store: any Store
    let quotas: Quotas
    let circleID: String

    init(_ context: ImportContext, for caller: Identity, circle: String) {
        (store, quotas, circleID) = (context.store, context.settings.quotas.clamped(to: caller), circle)
    }

    private static let day = 86_400_000

    /// Counts a received file; throws 429 if the circle has used up its quota for the day.
    func note(bytes: Int, now: Int, in transaction: any WriteTransaction) throws {
        let today = now.floorDivided(by: Self.day)
        let used = try transaction.importUsage(of: circleID, day: today)
        let reason: String? =
            if used.count >= quotas.importsPerDay {
                "A circle can import at most \(quotas.importsPerDay) files a day."
            } else if used.bytes + bytes > quotas.importBytesPerDay {
                "A circle can import at most \(quotas.importBytesPerDay) bytes a day."
            } else {
                nil
            }
        if let reason {
            let seconds = ((today + 1) * Self.day - now + 999) / 1000
            throw Refusal(
                .tooMany, code: .limitReached, detail: "\(reason) The next day begins at 0:00 UTC.",
                retryAfter: seconds)
        }
        try transaction.addImportUsage(bytes: bytes, of: circleID, day: today)
    }

    /// Throws 409 if the circle already has as many imported events as it may, or if the file has more than that.
    func check(events: Int) async throws {
        let circleID = circleID
        let known = try await store.read { try $0.importedUsage(in: circleID).count }
        guard known < quotas.eventsPerCircle, events <= quotas.eventsPerCircle else {
            throw Refusal.quota("A circle has", quotas.eventsPerCircle, "imported events")
        }
    }
}
