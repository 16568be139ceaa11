// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore
import Synchronization

/// The current second as a Date field shows it, formatted once a second.
package enum HTTPDate {
    private static let latest = Mutex((second: 0, text: ""))

    package static var now: String {
        let second = systemClock() / 1000
        return latest.withLock { latest in
            if latest.second != second { latest = (second, Instant(seconds: second).httpDate) }
            return latest.text
        }
    }
}
