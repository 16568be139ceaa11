// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Storage

/// What the use cases of feeds may touch.
package struct FeedContext: Acting, CircleReading {
    let acts: Acts
    let settings: ServerSettings
    let ledger: FeedLedger
    let counter: AccessCounter
    let cache: FeedCache
    let renderer: FeedRenderer
    /// Limits how often one user gets a new address.
    let mints: RateLimit
    let metrics: Metrics
    let memory: MemoryBudgets
}
