// SPDX-License-Identifier: Apache-2.0

/// Why a store did not do what it was asked.
public enum StoreFailure: Error, Hashable, Sendable {
    /// Permission is missing, or was taken away.
    case notAuthorized
    /// The calendar is not there.
    case calendarGone(String)
    /// The calendar, or the event, cannot be changed.
    case readOnly
    /// The event is not there.
    case eventGone
    /// The event itself cannot be stored: the reason, without any of its contents.
    case invalid(String)
    /// The event was changed by somebody else between reading and writing.
    case changedMeanwhile
    /// Something that may work the next time.
    case temporary(String)
    /// The time for the work ran out.
    case cancelled
}
