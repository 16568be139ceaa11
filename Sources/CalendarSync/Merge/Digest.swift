// SPDX-License-Identifier: Apache-2.0

import Crypto

/// Short digests of texts.
enum Digest {
    /// Returns the first 32 hexadecimal digits of a text's SHA-256.
    static func text(_ text: String) -> String {
        Hexadecimal.text(SHA256.hash(data: Array(text.utf8)).prefix(16))
    }
}
