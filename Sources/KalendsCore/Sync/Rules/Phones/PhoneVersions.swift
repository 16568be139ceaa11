// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import Storage

/// The earlier versions of an event that a device may still have.
///
/// A device that was offline reports the version that it had. A part that equals one of the server's older versions is
/// not a person's edit and does not replace a newer value.
struct PhoneVersions {
    struct Version: Codable, Hashable {
        /// The `updatedAt` from which the next version is valid.
        var until: Int
        var content: PersonalEvent.Content
    }

    /// The maximum number of versions that are kept; a device is assumed not to be further behind.
    private static let most = 16
    /// The maximum number of kept versions whose successor has reached the device: an edit may still be based on one of them.
    private static let mostDelivered = 4

    private(set) var all: [Version]

    init(_ tie: PersonalEvent.ItemAndDevice) throws { all = try tie.earlier.map { try storedRecord($0) } ?? [] }

    /// Adds the version that was valid until now.
    mutating func add(_ content: PersonalEvent.Content, until: Int, delivered: Int) {
        all.removeFirst(max(0, all.prefix { $0.until <= delivered }.count - Self.mostDelivered))
        all.append(Version(until: until, content: content))
        all.removeFirst(max(0, all.count - Self.most))
    }

    var stored: String? { get throws { all.isEmpty ? nil : try storedText(all) } }

    /// Returns the versions that the device may have had before its edit.
    ///
    /// - Parameters:
    ///   - base: the `updatedAt` of the device's version, if the device reports it.
    ///   - delivered: the time up to which changes have reached the device.
    func possible(base: Int?, delivered: Int) -> [PersonalEvent.Content] {
        if let base { return all.first { $0.until > base }.map { [$0.content] } ?? [] }
        return all.filter { $0.until > delivered }.map(\.content)
    }
}

/// The parts of an event that are compared and taken over as a whole.
enum PhonePart: CaseIterable {
    case title, times, description, location, recurrence

    /// Whether this part is the same in two events.
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

    /// Returns the rule and dates of a recurrence in one notation, so that equal ones compare as equal.
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

    /// Returns this content with the device's changes; `earlier` has the versions that the device may have known. Where
    /// both sides have changed a part, the connection's run decides between them.
    func taking(
        _ sent: PersonalEvent.Content, besides earlier: [PersonalEvent.Content]
    ) -> PersonalEvent.Content {
        var merged = self
        for part in PhonePart.allCases where !part.isSame(sent, self) {
            let verdict = Precedence.either(.calendar).verdict(
                isSame: false, isChangedHere: !earlier.isEmpty,
                isChangedThere: !earlier.contains { part.isSame(sent, $0) })
            if case .take = verdict { part.take(sent, into: &merged) }
        }
        return merged
    }
}

extension TimeSpan {
    /// Whether both spans begin and end at the same instants, whatever their zones are called.
    fileprivate func isSameTime(as other: TimeSpan) -> Bool {
        switch (self, other) {
        case (.timed(let start, let end, _), .timed(let otherStart, let otherEnd, _)):
            start == otherStart && end == otherEnd
        case (.days, .days): self == other
        default: false
        }
    }
}
