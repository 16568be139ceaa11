// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Storage

/// What the use cases and the background work of imports and of calendars that are followed may touch.
package struct ImportContext: Acting {
    let acts: Acts
    let settings: ServerSettings
    let intake: Intake
    let reader: ImportReader
    let registry: ImportRegistry
    let fetcher: GuardedFetcher
    let refreshes: RefreshRegistry
    let sealingKey: SealingKey
    let leases: Leases
    let turns: CircleLock
    let tidying: Tidying
    let memory: MemoryBudgets
}
