// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes
import Hummingbird
import KalendsCore

extension Request {
    /// Whether the caller does not want to wait for the work (RFC 7240 section 4.1).
    var prefersAsync: Bool {
        headers[values: .prefer].contains { field in
            // A preference may be followed by parameters, like a media type.
            field.pieces(separatedBy: ",").contains { MediaType.essence(of: String($0)) == "respond-async" }
        }
    }
}

extension HTTPField.Name {
    package static let prefer = HTTPField.Name("Prefer") ?? .from
    package static let preferenceApplied = HTTPField.Name("Preference-Applied") ?? .from
}
