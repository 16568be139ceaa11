// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// What the feed of a replaced token tells of its end; of tokens replaced before, nothing is told.
    static let graceNotices: [String] = [
        "ALTER TABLE feed_tokens ADD COLUMN replaced_at BIGINT",
        "ALTER TABLE feed_tokens ADD COLUMN notice_uid TEXT",
        "ALTER TABLE feed_tokens ADD COLUMN notice_sequence BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE feed_tokens ADD COLUMN noticed_at BIGINT",
    ]
}
