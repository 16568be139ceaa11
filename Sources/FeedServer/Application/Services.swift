// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Storage

/// What the routes work with; made once at start, given to each by its constructor.
struct Services: Sendable {
    let store: any Store
    /// The same database as a whole, for the operator.
    let maintenance: any StoreMaintenance
    let ledger: FeedLedger
    /// Seals what must be shown or used again: addresses and secrets of webhooks and subscriptions.
    let sealingKey: SealingKey
    let rotation: KeyRotation
    let counter: AccessCounter
    let feeds: FeedCache
    /// The bytes that the front sends of them.
    let bodies: FeedBodies
    let renderer: FeedRenderer
    let intake: Intake
    let importReader: ImportReader
    let importDesk: ImportDesk
    let turns: CircleTurns
    let tidying: Tidying
    let fetcher: GuardedFetcher
    let refreshes: RefreshDesk
    let sync: SyncDesk
    /// What opens people's accounts elsewhere.
    let calendars: any CalendarProviding
    /// How often one user gets a new address of a feed: hashes of those that ended are kept for good.
    let mints: RateLimit
    /// What opens people's accounts elsewhere, renewed in one place.
    let grants: GrantDesk
    let userTokens: UserTokens
    let passwords: Passwords
    let metrics: Metrics
    let memory: MemoryBudgets
    let proxyNotice = ProxyNotice()
    let stopping = Stopping()
    let settings: ServerSettings
    /// Whether the sealing key is the one that the database's feed addresses were sealed with.
    let isSealingKeyRight: Bool
    /// Whether feeds are served, and not only a command's requests.
    let isServer: Bool
    let now: Clock
}
