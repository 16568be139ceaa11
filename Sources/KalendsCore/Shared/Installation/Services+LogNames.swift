// SPDX-License-Identifier: Apache-2.0

import FeedTokens

extension Services {
    /// A user's name in the log, which reveals nothing to whoever reads the log without the sealing key.
    package func pseudonym(of user: String) -> String {
        String(sealingKey.name(for: "log name of user \(user)").prefix(12))
    }
}
