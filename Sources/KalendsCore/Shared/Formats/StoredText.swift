// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Returns the content as JSON with sorted keys.
func storedText(_ content: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(content), as: UTF8.self)
}
