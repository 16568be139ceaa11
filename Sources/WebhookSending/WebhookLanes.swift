// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The webhooks or registrations that are being served at present.
final class WebhookLanes: Sendable {
    private let served = Mutex<Set<ByteString>>([])

    var count: Int { served.withLock { $0.count } }

    /// Returns false when the webhook is already being served.
    func open(_ hook: String) -> Bool { served.withLock { $0.insert(ByteString(hook)).inserted } }

    func close(_ hook: String) { served.withLock { _ = $0.remove(ByteString(hook)) } }
}
