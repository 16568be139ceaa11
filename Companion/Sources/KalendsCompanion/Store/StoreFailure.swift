// SPDX-License-Identifier: Apache-2.0

/// Why a store did not do what was requested.
public enum StoreFailure: Error, Hashable, Sendable {
    /// Permission is missing or was withdrawn.
    case notAuthorized
    /// The calendar does not exist.
    case calendarGone(String)
    /// The calendar, or the event, cannot be changed.
    case readOnly
    /// The event does not exist.
    case eventGone
    /// The event itself cannot be stored; the text gives the reason without the event's contents.
    case invalid(String)
    /// The event was changed by somebody else between reading and writing.
    case changedMeanwhile
    /// Another attempt may succeed.
    case temporary(String)
    /// The time for the work ran out.
    case cancelled
}
