// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// The event by which the readers of a replaced address learn that it ends, and where to renew it.
///
/// Whole days from the one of the replacement to the last on which the address opens anything: each calendar app shows
/// it today, whatever day the app is on, and keeps showing it until then. It says nothing about the circle and nothing
/// about the new address, since whoever uses the old one may be the reason for the new one.
struct RenewalNotice {
    let event: Event

    init(_ notice: GraceNotice, _ live: LiveFeedParts) {
        func day(_ milliseconds: Int) -> CivilDate {
            live.zone.rules.civil(at: Instant(milliseconds: milliseconds)).date
        }
        let first = day(notice.replacedAt)
        let last = max(first, day(notice.endsAt - 1))
        let revision = live.look.revision(
            uid: notice.uid, sequence: notice.sequence, createdAt: notice.replacedAt, updatedAt: notice.changedAt)
        let app = live.look.style.detail == .full ? live.look.linkTemplate.flatMap(Self.origin) : nil
        var event = Event(uid: notice.uid, start: .date(first), end: .time(.date(last.adding(days: 1))))
        event.summary = "\(live.titlePrefix): This calendar address ends on \(last)"
        event.description =
            "This calendar has a new address since \(first). What you subscribed to is the old one: it shows nothing new "
            + "after \(last). Open the app that the calendar comes from\(app.map { " (\($0))" } ?? ""), copy the new "
            + "address there and subscribe to it; then remove this subscription."
        event.url = app
        event.status = "CONFIRMED"
        event.sequence = revision.sequence
        event.timestamp = revision.updatedAt
        event.created = revision.createdAt
        event.lastModified = revision.updatedAt
        event.mark(free: true)
        self.event = event
    }

    /// Where the host application is, by where it shows items: only scheme and host, which open without a sign-in too.
    private static func origin(_ template: String) -> String? {
        let parts = template.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3, !parts[2].isEmpty, !parts[2].contains("{") else { return nil }
        return parts[..<3].joined(separator: "/")
    }
}
