// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// The event that informs readers of a replaced address that it will end, and where to renew it.
///
/// It covers whole days from the replacement to the last day on which the address works, so every calendar app shows it
/// today and until then, in whatever time zone. It reveals nothing about the circle or the new address, since whoever
/// uses the old one may be the reason for the replacement. It is in the language of the feed's owner.
struct RenewalNotice {
    let event: Event
    /// The last day on which the address works, in the feed's zone.
    let lastDay: CivilDate

    init(_ notice: GraceNotice, _ live: LiveFeedParts) {
        func day(_ milliseconds: Int) -> CivilDate {
            live.zone.rules.civil(at: Instant(milliseconds: milliseconds)).date
        }
        let first = day(notice.replacedAt)
        let last = max(first, day(notice.endsAt - 1))
        lastDay = last
        let revision = live.look.revision(
            uid: notice.uid, sequence: notice.sequence, createdAt: notice.replacedAt, updatedAt: notice.changedAt)
        let app = live.look.style.detail == .full ? live.look.linkTemplate.flatMap(Self.origin) : nil
        var event = Event(uid: notice.uid, start: .date(first), end: .time(.date(last.adding(days: 1))))
        let words = RenewalWords.of(notice.language)
        let facts = RenewalWords.Facts(prefix: live.titlePrefix, first: first, last: last, app: app)
        (event.summary, event.description) = (words.title(facts), words.text(facts))
        event.url = app
        event.status = "CONFIRMED"
        event.take(revision)
        event.created = revision.createdAt
        event.mark(free: true)
        self.event = event
    }

    /// Returns the host application's address, taken from where it shows items: only scheme and host, which open even
    /// without a sign-in.
    private static func origin(_ template: String) -> String? {
        let parts = template.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3, !parts[2].isEmpty, !parts[2].contains("{") else { return nil }
        return parts[..<3].joined(separator: "/")
    }
}
