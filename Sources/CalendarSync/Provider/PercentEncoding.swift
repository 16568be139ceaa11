// SPDX-License-Identifier: Apache-2.0

/// Text in addresses and forms (RFC 3986 section 2.1): all but unreserved characters as `%XX` of their UTF-8.
package enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)
    private static let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)

    /// A path segment, or the name or value of a query or form field.
    package static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if unreserved.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Fields in their order, as a query or as the body of `application/x-www-form-urlencoded`.
    package static func fields(_ fields: [(String, String)]) -> String {
        fields.map { encode($0) + "=" + encode($1) }.joined(separator: "&")
    }
}
