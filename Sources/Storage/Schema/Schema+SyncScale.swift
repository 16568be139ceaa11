// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Indexes for what is looked up every second, every hour and at every scrape, so that its cost does not grow with
    /// all stored rows.
    static let syncScale: [String] = [
        "CREATE INDEX connections_by_next ON connections (provider, next_sync_at) WHERE next_sync_at IS NOT NULL",
        "CREATE INDEX sync_links_gone ON sync_links (since_at) WHERE state = 'deleted'",
        "CREATE INDEX sync_conflicts_open ON sync_conflicts (connection_id) WHERE state = 'open'",
        "CREATE INDEX sync_conflicts_resolved ON sync_conflicts (at) WHERE state = 'resolved'",
    ]
}
