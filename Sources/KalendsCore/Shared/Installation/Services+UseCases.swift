// SPDX-License-Identifier: Apache-2.0

package import Logging

extension Services {
    var acts: Acts { Acts(store: store, pages: memory.pages, pace: pace, now: now) }
    package var circles: Circles {
        Circles(acts: acts, tidying: tidying, forgetRendering: { [renderer] in renderer.forget(circle: $0) })
    }
    package var members: Members {
        Members(acts: acts, tidying: tidying, quotas: settings.quotas, kinds: settings.kinds)
    }
    package var patients: Patients {
        Patients(acts: acts, tidying: tidying, quotas: settings.quotas, kinds: settings.kinds)
    }
    package var webhooks: Webhooks {
        Webhooks(
            acts: acts, key: sealingKey, quotas: settings.quotas, allowsMessages: settings.allowsMessages(to:))
    }
    package var changes: CircleChanges { CircleChanges(acts: acts) }
    package var activity: Activity {
        Activity(
            acts: acts, turns: turns, quotas: settings.quotas, kinds: settings.kinds,
            keptDays: settings.retention.activity)
    }
    package var schedule: Schedule { Schedule(acts: acts, quotas: settings.quotas) }
    package var occurrences: Occurrences { Occurrences(acts: acts, quotas: settings.quotas) }
    package var importing: ImportContext {
        ImportContext(
            acts: acts, settings: settings, intake: intake, reader: importReader, registry: importRegistry,
            fetcher: fetcher, refreshes: refreshes, sealingKey: sealingKey, leases: leases, turns: turns,
            tidying: tidying, memory: memory)
    }
    package var imports: Imports { Imports(context: importing) }
    package var fileCheck: FileCheck { FileCheck(context: importing) }
    package var subscriptions: Subscriptions { Subscriptions(context: importing) }
    package func subscriptionRefresh(_ logger: Logger) -> SubscriptionRefresh {
        SubscriptionRefresh(context: importing, logger: logger)
    }
    package var feedContext: FeedContext {
        FeedContext(
            acts: acts, settings: settings, ledger: ledger, counter: counter, cache: feedCache, renderer: renderer,
            mints: mints, metrics: metrics, memory: memory)
    }
    package var feeds: Feeds { Feeds(context: feedContext) }
    package var feedReading: FeedReading { FeedReading(context: feedContext) }
    package var reach: Reach { Reach(context: feedContext) }
    package var serviceKeys: ServiceKeys { ServiceKeys(acts: acts, lifetime: settings.keyLifetime) }
    package var users: Users {
        Users(acts: acts, passwords: passwords, guessable: GuessablePasswords(settings), proofs: proofs)
    }
    package var sessions: Sessions {
        Sessions(acts: acts, passwords: passwords, factors: factors, quotas: settings.quotas, recently: recently)
    }
    package var secondFactors: SecondFactors {
        SecondFactors(
            acts: acts, passwords: passwords, factors: factors, proofs: proofs, issuer: settings.brand.name)
    }
    private var factors: SecondFactorCheck {
        SecondFactorCheck(
            key: sealingKey, tolerance: settings.codeTolerance, algorithm: settings.codeAlgorithm,
            isNeeded: settings.needsSecondFactor)
    }
    private var proofs: ReauthenticationCheck {
        ReauthenticationCheck(store: store, passwords: passwords, factors: factors, now: now)
    }
    /// Whether the caller has to have signed in a moment ago to end other sessions and devices.
    var recently: RecentSignIn { RecentSignIn(isNeeded: settings.isStrict) }
    /// The sign-in at a provider; nil for a server without one.
    package var providerSignIn: ProviderSignIn? {
        openID.map {
            ProviderSignIn(
                acts: acts, key: sealingKey, provider: $0, quotas: settings.quotas, publicURL: settings.publicURL)
        }
    }
    package var signInLinks: SignInLinks { SignInLinks(acts: acts, quotas: settings.quotas) }
    package var operatorSessions: OperatorSessions { OperatorSessions(acts: acts) }
    package var devices: Devices { Devices(acts: acts, quotas: settings.quotas, recently: recently) }
    package var appPasswords: AppPasswords {
        AppPasswords(
            acts: acts, ledger: ledger, counter: counter, settings: settings, sealingKey: sealingKey,
            passwords: passwords, mints: mints, recently: recently, sharing: sharing)
    }
    package var personData: PersonData { PersonData(acts: acts, memory: memory) }
    package var erasures: PersonErasures { PersonErasures(services: self) }
    package var profiles: Profiles { Profiles(acts: acts) }
    package var personalEvents: PersonalEvents { PersonalEvents(acts: acts, quotas: settings.quotas) }
    package var ownCalendars: OwnCalendars {
        OwnCalendars(acts: acts, quotas: settings.quotas, tidying: tidying)
    }
    package func officeNights(_ logger: Logger) -> OfficeNights {
        OfficeNights(store: store, shards: leases.shards, now: now, logger: logger)
    }
    package var plannedEvents: PlannedEvents { PlannedEvents(acts: acts, quotas: settings.quotas) }
    package var officeDiary: OfficeDiary { OfficeDiary(acts: acts) }
    package var syncContext: SyncContext {
        SyncContext(
            acts: acts, settings: settings, sync: sync, calendars: calendars, grants: grants, sealingKey: sealingKey,
            leases: leases, tidying: tidying, switches: switches, memory: memory)
    }
    package func connectionSync(_ logger: Logger) -> ConnectionSync {
        ConnectionSync(context: syncContext, logger: logger)
    }
    package func phoneItems(_ logger: Logger) -> PhoneItems { PhoneItems(context: syncContext, logger: logger) }
    package var connections: Connections { Connections(context: syncContext) }
    package var syncing: Syncing { Syncing(context: syncContext) }
    package var resolving: Resolving { Resolving(context: syncContext) }
    package var changeReports: ChangeReports { ChangeReports(context: syncContext) }
    package var appleConnector: AppleConnector {
        AppleConnector(context: syncContext, circles: circles, connections: connections)
    }
    package var statistics: Statistics { Statistics(acts: acts, kinds: settings.kinds) }
    package var audit: Audit { Audit(acts: acts) }
    package var upkeep: Upkeep {
        Upkeep(
            acts: acts, maintenance: maintenance, counter: counter, stopping: stopping, rotation: rotation,
            kinds: settings.kinds, isShared: leases.isShared)
    }

    /// Returns the use case for many changes of a circle's items in one call.
    package func batch(in circle: String, for caller: Caller) -> ScheduleBatch {
        ScheduleBatch(acts: acts, quotas: settings.quotas, circle: circle, caller: caller)
    }
}
