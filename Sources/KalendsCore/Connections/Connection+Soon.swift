// SPDX-License-Identifier: Apache-2.0

import Storage

extension Connection {
    /// Makes an active connection run as soon as there is time.
    mutating func comeSoon(now: Int) {
        if state == .active { nextSyncAt = now }
    }
}
