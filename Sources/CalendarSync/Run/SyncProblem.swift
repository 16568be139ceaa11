// SPDX-License-Identifier: Apache-2.0

/// Why a run did not come to its end or an event is held back, for whoever says it in a language other than the English
/// of the sentence that is stored beside it.
public enum SyncProblem: String, Hashable, Sendable, Codable, CaseIterable {
    // What a provider answered, by `ProviderFailure.Kind`.
    case unauthorized, misconfigured, forbidden, calendarMissing, cursorExpired, throttled, quotaExceeded, unavailable
    case unanswered, unreachable, busy, malformed, refused
    /// Some events could not be written.
    case incomplete
    /// The connection was changed during the run.
    case changedMeanwhile
    /// Something failed on this server.
    case fault
    /// The event in the calendar cannot be read.
    case unreadable
    /// The item, or its event in the calendar, has more text than is kept in step.
    case tooLong
    /// Deleting the event would cancel it for people who are invited to it.
    case guests
    /// The calendar cannot repeat an event in this way.
    case repetition
    /// The calendar cannot repeat an event in this way, and single events would be too many.
    case tooManyParts
    /// The calendar shows other times than were written.
    case otherTimes

    init(_ kind: ProviderFailure.Kind) {
        self =
            switch kind {
            case .unauthorized: .unauthorized
            case .misconfigured: .misconfigured
            case .forbidden: .forbidden
            case .calendarMissing: .calendarMissing
            case .cursorExpired: .cursorExpired
            case .throttled: .throttled
            case .quotaExceeded: .quotaExceeded
            case .unavailable: .unavailable
            case .unanswered: .unanswered
            case .unreachable: .unreachable
            case .busy: .busy
            case .malformed: .malformed
            case .refused, .needsNewGeneration, .needsSingleEvents: .refused
            }
    }
}

extension RunRecord {
    /// Notes what went wrong.
    public mutating func note(_ problem: SyncProblem, _ sentence: String) {
        (self.problem, error) = (problem, sentence)
    }

    /// Notes what a provider answered.
    public mutating func note(_ failure: ProviderFailure) { note(SyncProblem(failure.kind), failure.message) }
}

extension Link {
    /// Holds the event back.
    mutating func hold(_ problem: SyncProblem, _ sentence: String) {
        (state, self.problem, reason) = (.quarantined, problem, sentence)
    }
}
