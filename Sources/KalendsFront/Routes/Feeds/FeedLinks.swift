// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import ICalBridge
import KalendsCore

/// The addresses at which calendar apps read a feed.
struct FeedLinks: Viewed {
    let url: String
    let name: String

    var webcalURL: String { address(.apple) }

    func address(_ form: SubscriptionForm) -> String { form.address(of: url, name: name) }

    static let view = View<FeedLinks>([
        .text("url", \.url).described("The secret address at which calendar apps read the feed."),
        .text("webcalUrl", \.webcalURL),
        .object(
            "links", { $0 }, View(SubscriptionForm.allCases.map { form in .text(form.rawValue) { $0.address(form) } })),
    ])
}

extension ServerSettings {
    /// The addresses of a feed; Thunderbird names the calendar after the last part of the path.
    func links(_ token: Secret, name: String) -> FeedLinks {
        let letters = name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
        let slug = String(letters).split(separator: "-").joined(separator: "-")
        let url = "\(publicURL)/feeds/\(token.reveal())/\(slug.isEmpty ? "calendar" : slug).ics"
        return FeedLinks(url: url, name: name)
    }
}
