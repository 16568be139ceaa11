// SPDX-License-Identifier: Apache-2.0

/// The failures that a recorded access survives.
public enum AccessDurability: String, CaseIterable, Sendable {
    /// A power cut: an access is on the disk before its reader gets an answer.
    case power
    /// The end of the process at any instant, but not a crash of the machine: an access is in the system's cache before
    /// its reader gets an answer, and on the disk within `flushInterval` plus the time that a flush takes.
    case process

    /// How long `process` collects accesses before it flushes them.
    static let flushInterval = Duration.milliseconds(30)
}
