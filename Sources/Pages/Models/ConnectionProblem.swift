// SPDX-License-Identifier: Apache-2.0

/// Why a run did not come to its end, or why a calendar does not take an item as it is.
public enum ConnectionProblem: String, Sendable, CaseIterable {
    case unauthorized, misconfigured, forbidden, calendarMissing, cursorExpired, throttled, quotaExceeded, unavailable
    case unanswered, unreachable, busy, malformed, refused, incomplete, changedMeanwhile, fault, unreadable, tooLong
    case guests, repetition, tooManyParts, otherTimes
}

/// Why a run waits for a person, with the number of events concerned.
public enum HoldCause: Sendable {
    case restored, empty
    case shared(Int)
    case missing(Int)
    case deletions(Int)
}

/// A part of an event that a calendar may keep less of.
public enum ConnectionField: String, Sendable, CaseIterable {
    case title, notes, location, times, recurrence, reminders, status, availability, existence
}

/// Why a calendar that is followed could not be read.
public enum SubscriptionProblem: String, Sendable, CaseIterable {
    case address, unreachable, untrusted, timeout, redirects, garbled, signIn, missing, status, tooLarge, unreadable
    case broken, full, empty, sealed, fault
}

extension Words {
    func text(_ problem: ConnectionProblem) -> String { self["syncProblem_" + problem.rawValue] }

    func text(_ problem: SubscriptionProblem) -> String { self["subscriptionProblem_" + problem.rawValue] }

    /// A sentence for each cause.
    func text(_ causes: [HoldCause]) -> String {
        causes.map { cause in
            switch cause {
            case .restored: self["holdCause_restored"]
            case .empty: self["holdCause_empty"]
            case .shared(let count): self("holdCause_shared", count: count)
            case .missing(let count): self("holdCause_missing", count: count)
            case .deletions(let count): self("holdCause_deletions", count: count)
            }
        }.joined(separator: " ")
    }

    /// A sentence that names the fields; empty for none.
    func text(_ fields: [ConnectionField]) -> String {
        let names = fields.map { self["syncField_" + $0.rawValue] }.joined(separator: ", ")
        return fields.isEmpty ? "" : self("syncFields", ["fields": names])
    }
}
