// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore

/// What the values of properties depend on besides their resource.
struct Scene: Sendable {
    let paths: DAVPaths
    /// The user who signed in; nil at a feed's address.
    let user: String?
    /// Whether the caller makes and removes collections.
    let mayMake: Bool
    let tokens: SyncTokens

    /// The address of the caller's principal; nil at a feed's address.
    var principal: String? { user.map { paths.href(.principal(user: ByteString($0))) } }
    var home: String? { user.map { paths.href(.home(user: ByteString($0))) } }
}

extension [UInt8] {
    /// Writes a `DAV:href`.
    mutating func href(_ address: String) {
        self += "<D:href>".utf8
        XMLElement.write(address, to: &self)
        self += "</D:href>".utf8
    }

    mutating func text(_ text: String) { XMLElement.write(text, to: &self) }
}
