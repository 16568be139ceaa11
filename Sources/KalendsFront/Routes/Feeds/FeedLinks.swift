// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import KalendsCore

/// The addresses at which calendar apps read a feed.
struct FeedLinks: Viewed {
    let url: String
    let webcalURL: String

    static let view = View<FeedLinks>([
        .text("url", \.url).described("The secret address at which calendar apps read the feed."),
        .text("webcalUrl", \.webcalURL),
    ])
}

extension ServerSettings {
    /// The addresses of a feed; Thunderbird names the calendar after the last part of the path.
    func links(_ token: Secret, name: String) -> FeedLinks {
        let letters = name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
        let slug = String(letters).split(separator: "-").joined(separator: "-")
        let url = "\(publicURL)/feeds/\(token.reveal())/\(slug.isEmpty ? "calendar" : slug).ics"
        let bare = url.parted(at: "://")?.after ?? url[...]
        return FeedLinks(url: url, webcalURL: "webcal://\(bare)")
    }
}
