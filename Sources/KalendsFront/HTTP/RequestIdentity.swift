// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

/// The id that a proxy or a caller gives a request (`X-Request-Id`), so that it is found in the logs of both.
enum RequestIdentity {
    /// The longest accepted id, in bytes.
    private static let limit = 128

    /// The id that was sent; nil unless it consists of letters, digits and `. _ ~ : + / = @ -`, since it goes into the
    /// log and back into the answer.
    static func valid(_ text: String?) -> String? {
        guard let text, (1...limit).contains(text.utf8.count), text.utf8.allSatisfy(isAllowed) else { return nil }
        return text
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "._~:+/=@-".utf8.contains(byte)
        }
    }
}

extension HTTPField.Name {
    static let xRequestID = HTTPField.Name("X-Request-Id") ?? .from
}
