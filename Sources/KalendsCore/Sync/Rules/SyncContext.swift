// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Storage

/// What connections and their runs may touch.
package struct SyncContext: Acting, CircleReading {
    let acts: Acts
    let settings: ServerSettings
    let sync: SyncScheduler
    let calendars: any CalendarProviding
    let grants: GrantRegistry
    let sealingKey: SealingKey
    let leases: Leases
    let tidying: Tidying
    /// Limits how often a user's calendars move to another phone.
    let switches: RateLimit
    let memory: MemoryBudgets

    /// The providers of people's calendars, by connection.
    var providers: ConnectionProviders {
        ConnectionProviders(settings: settings, store: store, key: sealingKey, grants: grants, sync: sync, now: now)
    }
}
