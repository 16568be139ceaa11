// SPDX-License-Identifier: Apache-2.0

package import ICalBridge

/// The content of an item that is due at a time and takes some minutes from then on.
package protocol DueContent: ItemContent {
    var dueAt: Instant { get set }
    var durationMinutes: Int { get set }
    var reminders: [Int] { get set }
}

extension DueContent {
    package var span: CareItem.Span { .timed(start: dueAt, end: dueAt.adding(seconds: durationMinutes * 60)) }

    package mutating func move(to span: CareItem.Span) throws {
        guard case .timed(let start, let end) = span else {
            throw InboundRefusal("This is due at a time, so it cannot be moved to whole days.")
        }
        (dueAt, durationMinutes) = (start, (end.seconds - start.seconds + 59) / 60)
    }

    package mutating func remind(_ minutes: [Int]) throws { reminders = minutes }
}
