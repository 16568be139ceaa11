// SPDX-License-Identifier: Apache-2.0

@_exported public import Base  // Text is compared by its bytes in all of this module.

/// An answer without its body.
package struct OutboundAnswer: Sendable {
    package var status: Int
    package var headers: [(name: String, value: String)]

    package init(status: Int, headers: [(name: String, value: String)]) {
        (self.status, self.headers) = (status, headers)
    }

    /// Returns the values of a field, joined as one (RFC 9110 section 5.3); nil when the field is missing.
    ///
    /// - Parameter name: in lower case.
    package func field(_ name: String) -> String? {
        let values = headers.filter { $0.name.lowercased() == name }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}
