// SPDX-License-Identifier: Apache-2.0

import Storage

extension Connection {
    /// Makes an active connection due now.
    mutating func comeSoon(now: Int) {
        if state == .active { nextSyncAt = now }
    }
}
