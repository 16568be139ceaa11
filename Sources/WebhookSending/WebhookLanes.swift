// SPDX-License-Identifier: Apache-2.0

import Base
import Synchronization

/// The webhooks that are being served at present.
final class WebhookLanes: Sendable {
    private let served = Mutex<Set<ByteString>>([])

    /// Returns false when the webhook is already being served.
    func open(_ hook: String) -> Bool { served.withLock { $0.insert(ByteString(hook)).inserted } }

    func close(_ hook: String) { served.withLock { _ = $0.remove(ByteString(hook)) } }
}
