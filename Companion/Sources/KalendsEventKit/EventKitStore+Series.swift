// SPDX-License-Identifier: Apache-2.0

import Foundation
import KalendsCompanion

#if canImport(EventKit)
internal import EventKit
#else
internal import EventKitStandIn
#endif

/// Finds out which occurrences belong to which series.
///
/// Accounts name a changed occurrence differently: as its series, by the series' identifier with a suffix, or only by
/// its identifier on the device. An occurrence that was tied to no series would look deleted.
extension EventKitStore {
    struct Series {
        /// The series itself, which is its first occurrence.
        var main: EKEvent
        var parts: [EKEvent]
    }

    /// Returns an event's id at the calendar's server, the same for a series and each of its occurrences.
    func name(of event: EKEvent) -> String {
        let name = event.calendarItemExternalIdentifier ?? event.calendarItemIdentifier
        return event.isDetached ? Self.withoutOccurrence(name) : name
    }

    /// Groups the occurrences of series.
    func series(of found: [EKEvent]) -> [Series] {
        var groups: [ByteString: Series] = [:]
        var itemsByTie: [ByteString: ByteString] = [:]
        for event in found where !event.isDetached && event.hasRecurrenceRules {
            let item = ByteString(event.calendarItemIdentifier)
            if groups[item] == nil {
                guard let main = event.eventIdentifier.flatMap({ events.event(withIdentifier: $0) }) else { continue }
                groups[item] = Series(main: main, parts: [])
                for tie in ties(of: event) { itemsByTie[tie] = min(itemsByTie[tie] ?? item, item) }
            }
            groups[item]?.parts.append(event)
        }
        for event in found where event.isDetached {
            let ties = ties(of: event)
            var item = ties.lazy.compactMap { itemsByTie[$0] }.first
            if item == nil, let main = main(of: event) {
                // None of the series' own occurrences is among those that were found.
                let asked = ByteString(main.calendarItemIdentifier)
                if groups[asked] == nil { groups[asked] = Series(main: main, parts: []) }
                for tie in ties { itemsByTie[tie] = asked }
                item = asked
            }
            if let item { groups[item]?.parts.append(event) }
        }
        return groups.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Returns those of the occurrences that belong to a series.
    func parts(of main: EKEvent, among found: [EKEvent]) -> [EKEvent] {
        let own = Set(ties(of: main))
        // The same series may be in a calendar twice; then each has its own occurrences.
        let near = found.filter { ties(of: $0).contains(where: own.contains) }
        let all = series(of: near + [main])
        let same = all.first { $0.main.calendarItemIdentifier == main.calendarItemIdentifier }
        return (same?.parts ?? []).filter { $0 !== main }
    }

    /// Returns the series of a changed occurrence.
    func main(of changed: EKEvent) -> EKEvent? {
        let local = changed.eventIdentifier.flatMap { events.event(withIdentifier: Self.withoutOccurrence($0)) }
        let named = events.calendarItems(withExternalIdentifier: name(of: changed)).map { $0 as? EKEvent }
        return ([local] + named).lazy.compactMap { $0 }.first { event in
            event.hasRecurrenceRules && !event.isDetached
                && event.calendar?.calendarIdentifier == changed.calendar?.calendarIdentifier
        }
    }

    /// Returns what an occurrence may have in common with its series, the surest first.
    private func ties(of event: EKEvent) -> [ByteString] {
        let calendar = event.calendar?.calendarIdentifier ?? ""
        var ties = ["item \(calendar) \(event.calendarItemIdentifier)"]
        if let local = event.eventIdentifier { ties.append("local \(calendar) \(Self.withoutOccurrence(local))") }
        ties.append("name \(calendar) \(name(of: event))")
        return ties.map { ByteString($0) }
    }

    /// Removes the suffix by which EventKit tells a changed occurrence from its series.
    private static func withoutOccurrence(_ name: String) -> String {
        name.range(of: "/RID=", options: .backwards).map { String(name[..<$0.lowerBound]) } ?? name
    }
}
