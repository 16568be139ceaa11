// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Storage

/// What the routes work with; made once at start, given to each by its constructor.
struct Services: Sendable {
    let store: SQLiteStore
    let ledger: FeedLedger
    /// Seals what must be shown or used again: addresses and secrets of webhooks and subscriptions.
    let sealingKey: SealingKey
    let counter: AccessCounter
    let feeds: FeedCache
    let renderer: FeedRenderer
    let importReader: ImportReader
    let importDesk: ImportDesk
    let fetcher: GuardedFetcher
    let userTokens: UserTokens
    let passwords: Passwords
    let metrics: Metrics
    let settings: ServerSettings
    /// Whether the sealing key is the one that the database's feed addresses were sealed with.
    let isSealingKeyRight: Bool
    /// Whether feeds are served, and not only a command's requests.
    let isServer: Bool
    let now: Clock
}
