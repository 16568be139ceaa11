// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// What a feed shows about the end of a replaced token; nothing for tokens that were replaced before this
    /// migration.
    static let graceNotices: [String] = [
        "ALTER TABLE feed_tokens ADD COLUMN replaced_at BIGINT",
        "ALTER TABLE feed_tokens ADD COLUMN notice_uid TEXT",
        "ALTER TABLE feed_tokens ADD COLUMN notice_sequence BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE feed_tokens ADD COLUMN noticed_at BIGINT",
    ]
}
