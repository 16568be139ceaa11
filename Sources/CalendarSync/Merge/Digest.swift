// SPDX-License-Identifier: Apache-2.0

import Crypto

/// Short names for contents.
enum Digest {
    /// 32 hexadecimal digits of SHA-256.
    static func text(_ text: String) -> String {
        Hexadecimal.text(SHA256.hash(data: Array(text.utf8)).prefix(16))
    }
}
