// SPDX-License-Identifier: Apache-2.0

/// A part of an entry that is merged by itself.
public enum EntryField: String, Hashable, Sendable, Codable, CaseIterable {
    case title, notes, location
    /// Start, end, zone, and whether it is all day.
    case times
    /// The rule and its further dates.
    case recurrence
    case reminders, status, availability
    /// Of an occurrence: whether it takes place.
    case existence
}
