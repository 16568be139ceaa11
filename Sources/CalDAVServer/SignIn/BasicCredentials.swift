// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import Hummingbird

/// The name and the password of Basic authentication (RFC 7617), in UTF-8.
///
/// The last colon is the one between them: a person's id may have others, and an app password has none.
struct BasicCredentials: Sendable {
    let name: String
    let password: String

    /// Longer values are not decoded.
    private static let longest = 4096

    /// Nil for a request without them, or with some that cannot be read.
    init?(_ request: Request) {
        guard let field = request.headers[.authorization], field.utf8.count <= Self.longest else { return nil }
        let parts = field.pieces(separatedBy: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].asciiLowercased == "basic",
            let data = Data(base64Encoded: String(parts[1].withoutOuterBlanks)),
            let text = String(validating: data, as: UTF8.self)?.fromOutside
        else { return nil }
        let bytes = text.utf8
        guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        name = String(text[..<colon])
        password = String(text[bytes.index(after: colon)...])
    }
}
