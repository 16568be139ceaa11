// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import Storage

/// What a device may still have of an event that has changed here since.
///
/// A device that was away says what it had when it left. What equals an older version of ours is not an edit of a
/// person, and does not take a newer value back.
struct PhoneVersions {
    struct Version: Codable, Hashable {
        /// The `updatedAt` from which on the next version is valid.
        var until: Int
        var content: PersonalEvent.Content
    }

    /// Versions that are remembered: more than these a device is not behind.
    private static let most = 16
    /// Of those that a newer one has reached the device since: it may say that an edit was made on top of an older one.
    private static let mostDelivered = 4

    private(set) var all: [Version]

    init(_ tie: PersonalEvent.Tie) throws { all = try tie.earlier.map { try storedRecord($0) } ?? [] }

    /// Remembers what was there until now.
    mutating func add(_ content: PersonalEvent.Content, until: Int, delivered: Int) {
        all.removeFirst(max(0, all.prefix { $0.until <= delivered }.count - Self.mostDelivered))
        all.append(Version(until: until, content: content))
        all.removeFirst(max(0, all.count - Self.most))
    }

    var stored: String? { get throws { all.isEmpty ? nil : try storedText(all) } }

    /// What the device may have had before its edit.
    ///
    /// - Parameters:
    ///   - base: the `updatedAt` of what it had, when it says so.
    ///   - delivered: changes up to this time have reached it.
    func possible(base: Int?, delivered: Int) -> [PersonalEvent.Content] {
        if let base { return all.first { $0.until > base }.map { [$0.content] } ?? [] }
        return all.filter { $0.until > delivered }.map(\.content)
    }
}

/// Parts of an event that a device says as one.
enum PhonePart: CaseIterable {
    case title, times, description, location, recurrence

    /// Whether two events say the same of this part.
    func isSame(_ one: PersonalEvent.Content, _ other: PersonalEvent.Content) -> Bool {
        switch self {
        case .title: one.title == other.title
        case .description: one.description == other.description
        case .location: one.location == other.location
        case .recurrence: Self.recurrence(one) == Self.recurrence(other)
        case .times:
            one.hasTimes(of: other)
                || one.recurrence == nil && other.recurrence == nil
                    && PhoneForm.span(one, zone: nil).isSameTime(as: PhoneForm.span(other, zone: nil))
        }
    }

    func take(_ other: PersonalEvent.Content, into content: inout PersonalEvent.Content) {
        switch self {
        case .title: content.title = other.title
        case .description: content.description = other.description
        case .location: content.location = other.location
        case .recurrence: content.recurrence = other.recurrence
        case .times:
            (content.date, content.endDate) = (other.date, other.endDate)
            (content.startTime, content.endTime) = (other.startTime, other.endTime)
            content.timeZone = other.timeZone
        }
    }

    /// A rule with the moments of its dates, however they were written.
    private static func recurrence(_ content: PersonalEvent.Content) -> [Set<ByteString>]? {
        guard let stored = content.recurrence.flatMap({ PersonalRecurrence(stored: $0) }) else { return nil }
        func keys(_ texts: [String]) -> Set<ByteString> {
            Set(texts.map { ByteString(PersonalMoment($0)?.key ?? $0) })
        }
        return [[ByteString(stored.rule ?? "")], keys(stored.exceptions), keys(stored.additions)]
    }
}

extension PersonalEvent.Content {
    fileprivate func hasTimes(of other: PersonalEvent.Content) -> Bool {
        date == other.date && endDate == other.endDate && startTime == other.startTime && endTime == other.endTime
            && timeZone == other.timeZone
    }

    /// This with what a device has changed, of which `earlier` says what it knew.
    func taking(
        _ sent: PersonalEvent.Content, besides earlier: [PersonalEvent.Content]
    ) -> PersonalEvent.Content {
        var merged = self
        for part in PhonePart.allCases where !part.isSame(sent, self) {
            guard !earlier.contains(where: { part.isSame(sent, $0) }) else { continue }
            part.take(sent, into: &merged)
        }
        return merged
    }
}

extension Span {
    /// Whether both begin and end at once, whatever their zones are called.
    fileprivate func isSameTime(as other: Span) -> Bool {
        switch (self, other) {
        case (.timed(let start, let end, _), .timed(let otherStart, let otherEnd, _)):
            start == otherStart && end == otherEnd
        case (.days, .days): self == other
        default: false
        }
    }
}
