// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The webhooks or registrations that are being served at present.
final class WebhookLanes: Sendable {
    private let served = Mutex<(lanes: Set<ByteString>, ofPerson: [ByteString: Int])>(([], [:]))

    var count: Int { served.withLock { $0.lanes.count } }

    /// Returns false when the webhook is already being served, or as many of its person's as may be.
    func open(_ hook: String, of person: String = "", most: Int = .max) -> Bool {
        served.withLock { served in
            guard served.ofPerson[ByteString(person), default: 0] < most,
                served.lanes.insert(ByteString(hook)).inserted
            else { return false }
            served.ofPerson[ByteString(person), default: 0] += 1
            return true
        }
    }

    func close(_ hook: String, of person: String = "") {
        served.withLock { served in
            served.lanes.remove(ByteString(hook))
            let count = served.ofPerson[ByteString(person), default: 1] - 1
            served.ofPerson[ByteString(person)] = count > 0 ? count : nil
        }
    }
}
