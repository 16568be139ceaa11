// SPDX-License-Identifier: Apache-2.0

public import Calendar
import OfficeDays

/// Sends planned events: titles, times and calendar names, and nothing else.
public struct PlannedUpload: Sendable {
    public static let pastDays = 7
    public static let futureDays = 30
    /// The title that replaces an empty one.
    public static let untitled = "Planned"

    private let store: any CalendarStore
    private let service: any CompanionService
    private let zones: Zones

    public init(store: any CalendarStore, service: any CompanionService, zones: Zones) {
        self.store = store
        self.service = service
        self.zones = zones
    }

    /// Returns the span that is sent: whole days of the device, from seven days before `now` (in seconds since 1970) to
    /// thirty after.
    public static func window(_ now: Int, _ zones: Zones) -> TimeRange {
        let clock = zones.clock(of: nil)
        let today = clock.date(at: now)
        return TimeRange(
            seconds: clock.start(
                of: today.adding(days: -pastDays))..<clock.start(
                    of: today.adding(days: futureDays + 1)))
    }

    /// Sends the window once. If the calendars could not be read completely, nothing is sent, because the server
    /// removes events that are not sent.
    ///
    /// - Parameters:
    ///   - calendars: the ids of the calendars to send.
    ///   - now: the current time, in milliseconds since 1970.
    public func run(calendars: [String], now: Int) async throws(PlannedFailure) -> PlannedAnswer {
        try await allowed()
        let window = Self.window(now / 1000, zones)
        var found: [StoreOccurrence] = []
        do throws(StoreFailure) {
            let there = try await store.calendars().map(\.id)
            guard !calendars.isEmpty, calendars.allSatisfy({ there.contains($0) }) else { throw .calendarGone("") }
            for piece in window.years { found += try await store.occurrences(in: piece, calendars: calendars) }
            let still = try await store.calendars().map(\.id)
            guard calendars.allSatisfy({ still.contains($0) }) else { throw .calendarGone("") }
        } catch {
            throw error == .notAuthorized ? await refusal() : .store(error)
        }
        try await allowed()
        let body = PlannedBody(
            rangeStart: text(window.from), rangeEnd: text(window.to), events: Self.events(found, text))
        do throws(CompanionFailure) {
            return try await service.upsertPlanned(body)
        } catch {
            throw .service(error)
        }
    }

    private func allowed() async throws(PlannedFailure) {
        guard await store.authorization().canSync else { throw await refusal() }
    }

    private func refusal() async -> PlannedFailure {
        await store.switchedOff().isEmpty ? .permissionMissing : .switchedOff
    }

    /// Returns each occurrence once, without events that Kalends itself put into a calendar.
    private static func events(_ found: [StoreOccurrence], _ text: (Instant) -> String) -> [PlannedBody.Event] {
        var seen: Set<PlannedBody.Event> = []
        func rank(_ one: StoreOccurrence) -> (Int, ByteString, ByteString) {
            (one.range.from.seconds, ByteString(one.key.localID), ByteString(one.title))
        }
        let sorted = found.sorted { rank($0) < rank($1) }
        return sorted.compactMap { occurrence in
            guard EventMark(url: occurrence.url) == nil else { return nil }
            let event = PlannedBody.Event(
                externalID: occurrence.key.localID,
                title: occurrence.title.allSatisfy(\.isWhitespace) ? untitled : occurrence.title,
                startAt: text(occurrence.range.from), endAt: text(occurrence.range.to), isAllDay: occurrence.isAllDay,
                sourceCalendarName: occurrence.calendarTitle)
            return seen.insert(event).inserted ? event : nil
        }
    }

    /// Returns an instant in RFC 3339 with the offset of the device's zone.
    private func text(_ instant: Instant) -> String {
        instant.rfc3339(offset: zones.clock(of: nil).secondsEast(at: instant.seconds))
    }
}

/// Why planned events were not sent.
public enum PlannedFailure: Error, Hashable, Sendable {
    case permissionMissing
    /// The person switched the reading off in the app.
    case switchedOff
    case store(StoreFailure)
    case service(CompanionFailure)
}
