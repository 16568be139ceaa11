// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage

extension Components {
    private static let feedFields: [Schema.Field] =
        CountedFeed.view.fields + [.required("config", .named("FeedConfig"))]

    static func feeds(_ kinds: ItemKinds) -> [(String, Schema)] {
        let config = FeedConfiguration.fields(kinds)
        return [
            ("FeedConfig", .object(config).described("What a feed shows.")),
            ("FeedConfigInput", FeedConfiguration.input(kinds)),
            (
                "Feed",
                .object(
                    feedFields + [
                        .optional(
                            "health",
                            FeedHealth.view.schema.described(
                                "The feed's size, its readers and their times, and how much each rule leaves out."
                            ))
                    ])
            ),
            (
                "NewFeed",
                .object(
                    feedFields + FeedLinks.view.fields + [
                        .required("token", .string.described("The secret of the address."))
                    ])
            ),
            ("FeedLinks", FeedLinks.view.schema),
            ("FeedInput", Feeds.Draft.schema(kinds)),
            ("FeedChange", Feeds.Change.schema(kinds)),
            ("Regeneration", FeedRoutes.regeneration.schema),
            ("FeedAccess", ListedAccess.view.schema),
            ("FreeBusyInput", FreeBusyRoute.body.schema), ("FreeBusy", CircleFreeBusy.view.schema),
            (
                "FeedPreview",
                .output(
                    .required("from", .date), .required("to", .date),
                    .required("events", .array(of: PreviewText.event.schema)),
                    .required("leftOut", .array(of: PreviewText.leftOut.schema)),
                    .required("nextCursor", Schema.string.orNull.described("For the next part; null on the last.")))
            ),
        ]
    }
}
