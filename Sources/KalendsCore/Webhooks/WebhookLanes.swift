// SPDX-License-Identifier: Apache-2.0

import Base
import Synchronization

/// Which webhooks are being served at this moment.
final class WebhookLanes: Sendable {
    private let served = Mutex<Set<ByteString>>([])

    /// False when the webhook is being served already.
    func open(_ hook: String) -> Bool { served.withLock { $0.insert(ByteString(hook)).inserted } }

    func close(_ hook: String) { served.withLock { _ = $0.remove(ByteString(hook)) } }
}
