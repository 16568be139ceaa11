// SPDX-License-Identifier: Apache-2.0

@_exported public import Base  // Text is compared by its bytes in all of this module.
package import FeedTokens
package import Storage

/// The services that use cases and background work depend on; they are created once at start and passed to each
/// initializer.
///
/// A class, because every request under way would have copies of all settings.
package final class Services: CircleReading {
    package let store: any Store
    /// Maintenance of the same database as a whole, for the operator.
    package let maintenance: any StoreMaintenance
    package let ledger: FeedLedger
    /// Seals secrets that must be shown or used again, such as the addresses and secrets of webhooks and subscriptions.
    package let sealingKey: SealingKey
    package let rotation: KeyRotation
    package let counter: AccessCounter
    package let feedCache: FeedCache
    package let renderer: FeedRenderer
    package let intake: Intake
    package let importReader: ImportReader
    package let importRegistry: ImportRegistry
    package let turns: CircleLock
    package let leases: Leases
    /// The database as shared by several servers; nil if there is only one server.
    package let sharing: (any SharedStore)?
    package let tidying: Tidying
    package let fetcher: GuardedFetcher
    package let refreshes: RefreshRegistry
    package let sync: SyncScheduler
    /// Opens people's accounts at other providers.
    package let calendars: any CalendarProviding
    /// Limits how often one user gets a new feed address, because the hashes of replaced addresses are kept
    /// permanently.
    package let mints: RateLimit
    /// The tokens for people's accounts at other providers, which are renewed in one place.
    package let grants: GrantRegistry
    package let userTokens: UserTokens
    /// The provider at which people sign in; nil for a server without one.
    let openID: OpenIDProvider?
    package let passwords: Passwords
    package let metrics: Metrics
    package let memory: MemoryBudgets
    package let stopping = Stopping()
    let runningRequests = RunningRequests()
    package let streams: ChangeStreams
    package let pushKeys: PushKeys
    let pace = Acts.makePace()
    let circleIndexes = CircleIndexes()
    let feedMembers = KeptFeedMembers()
    package let reports: ReportLimiter
    package let keyRequests = KeyRequests()
    /// How often a user's calendars move to another phone, which writes all of their events again.
    let switches = RateLimit(burst: 20, span: 60_000)
    package let uses: UseNotes
    package let settings: ServerSettings
    /// Whether the sealing key is the one with which the database's feed addresses were sealed.
    package let isSealingKeyRight: Bool
    /// A random text that a restore of the database changes.
    package let databaseID: String
    /// Whether this process serves feeds, and does not only run a command.
    package let isServer: Bool
    package let now: Clock

    package init(
        store: any Store, maintenance: any StoreMaintenance, ledger: FeedLedger, sealingKey: SealingKey,
        rotation: KeyRotation, counter: AccessCounter, feedCache: FeedCache, renderer: FeedRenderer, intake: Intake,
        importReader: ImportReader, importRegistry: ImportRegistry, turns: CircleLock, leases: Leases,
        sharing: (any SharedStore)?, tidying: Tidying,
        fetcher: GuardedFetcher, refreshes: RefreshRegistry, sync: SyncScheduler, calendars: any CalendarProviding,
        mints: RateLimit, grants: GrantRegistry, userTokens: UserTokens, passwords: Passwords, metrics: Metrics,
        memory: MemoryBudgets, settings: ServerSettings, isSealingKeyRight: Bool, databaseID: String, isServer: Bool,
        now: @escaping Clock
    ) {
        self.store = store
        uses = UseNotes(store)
        streams = ChangeStreams(store)
        pushKeys = PushKeys(store, sealedWith: sealingKey)
        self.maintenance = maintenance
        self.ledger = ledger
        self.sealingKey = sealingKey
        self.rotation = rotation
        self.counter = counter
        self.feedCache = feedCache
        self.renderer = renderer
        self.intake = intake
        self.importReader = importReader
        self.importRegistry = importRegistry
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
        openID = settings.openID.map { own in
            OpenIDProvider(
                own, AccountHTTP(rules: settings.fetching, privateHosts: own.privateHosts, asker: ""),
                leastBits: settings.tokens.leastBits)
        }
        self.passwords = passwords
        self.metrics = metrics
        self.memory = memory
        self.settings = settings
        reports = ReportLimiter(settings.limits, now: now)
        self.isSealingKeyRight = isSealingKeyRight
        self.databaseID = databaseID
        self.isServer = isServer
        self.now = now
    }
}
