// SPDX-License-Identifier: Apache-2.0

/// The actions for one link.
struct SyncPlan: Sendable {
    enum Write: Hashable, Sendable {
        case create(EventUnit)
        case change(EventUnit)
        case remove
    }

    enum Sending: Hashable, Sendable {
        /// The event as the server should have it.
        case event(EventUnit)
        case deletion
    }

    var link: Int
    /// The event as the calendar has it now.
    var event: StoreEvent?
    /// The same event, completed with what was known before.
    var unit: EventUnit?
    var view: RemoteView?
    var remote: EventUnit?
    var write: Write?
    var sending: Sending?
    /// When the person made the change, in milliseconds of the server's clock; nil for the time of arrival.
    var sentAs: Int?
    /// Whether a value of the server loses to the calendar's.
    var putsBack = false
    /// Whether the link ends with the write.
    var ends = false

    var deletes: Bool { write == .remove || sending == .deletion }
}
