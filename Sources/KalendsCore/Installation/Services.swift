// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
package import Storage

/// What use cases and background work are made of; made once at start, given to each by its constructor.
package struct Services: Sendable {
    package let store: any Store
    /// The same database as a whole, for the operator.
    package let maintenance: any StoreMaintenance
    package let ledger: FeedLedger
    /// Seals what must be shown or used again: addresses and secrets of webhooks and subscriptions.
    package let sealingKey: SealingKey
    package let rotation: KeyRotation
    package let counter: AccessCounter
    package let feeds: FeedCache
    package let renderer: FeedRenderer
    package let intake: Intake
    package let importReader: ImportReader
    package let importDesk: ImportDesk
    package let turns: CircleTurns
    package let leases: Leases
    /// The database as one of the servers that share it; nil where there is one.
    package let sharing: (any SharedStore)?
    package let tidying: Tidying
    package let fetcher: GuardedFetcher
    package let refreshes: RefreshDesk
    package let sync: SyncDesk
    /// What opens people's accounts elsewhere.
    package let calendars: any CalendarProviding
    /// How often one user gets a new address for a feed: hashes of those that ended are kept permanently.
    package let mints: RateLimit
    /// What opens people's accounts elsewhere, renewed in one place.
    package let grants: GrantDesk
    package let userTokens: UserTokens
    package let passwords: Passwords
    package let metrics: Metrics
    package let memory: MemoryBudgets
    package let stopping = Stopping()
    package let settings: ServerSettings
    /// Whether the sealing key is the one that the database's feed addresses were sealed with.
    package let isSealingKeyRight: Bool
    /// Whether feeds are served, and not only a command's requests.
    package let isServer: Bool
    package let now: Clock

    package init(
        store: any Store, maintenance: any StoreMaintenance, ledger: FeedLedger, sealingKey: SealingKey,
        rotation: KeyRotation, counter: AccessCounter, feeds: FeedCache, renderer: FeedRenderer, intake: Intake,
        importReader: ImportReader, importDesk: ImportDesk, turns: CircleTurns, leases: Leases,
        sharing: (any SharedStore)?, tidying: Tidying,
        fetcher: GuardedFetcher, refreshes: RefreshDesk, sync: SyncDesk, calendars: any CalendarProviding,
        mints: RateLimit, grants: GrantDesk, userTokens: UserTokens, passwords: Passwords, metrics: Metrics,
        memory: MemoryBudgets, settings: ServerSettings, isSealingKeyRight: Bool, isServer: Bool, now: @escaping Clock
    ) {
        self.store = store
        self.maintenance = maintenance
        self.ledger = ledger
        self.sealingKey = sealingKey
        self.rotation = rotation
        self.counter = counter
        self.feeds = feeds
        self.renderer = renderer
        self.intake = intake
        self.importReader = importReader
        self.importDesk = importDesk
        self.turns = turns
        self.leases = leases
        self.sharing = sharing
        self.tidying = tidying
        self.fetcher = fetcher
        self.refreshes = refreshes
        self.sync = sync
        self.calendars = calendars
        self.mints = mints
        self.grants = grants
        self.userTokens = userTokens
        self.passwords = passwords
        self.metrics = metrics
        self.memory = memory
        self.settings = settings
        self.isSealingKeyRight = isSealingKeyRight
        self.isServer = isServer
        self.now = now
    }
}
