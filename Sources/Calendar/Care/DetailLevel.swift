// SPDX-License-Identifier: Apache-2.0

/// How much of an item a feed shows, from everything to only the time.
public enum DetailLevel: Int, Comparable, Sendable, CaseIterable {
    /// Everything: notes, place, categories, reminders.
    case full
    /// Only title and time.
    case titles
    /// Only the time, under the title `<prefix> Event`.
    case minimal
    /// Only the time, under the title `Busy`.
    case busy

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
