// SPDX-License-Identifier: Apache-2.0

import FeedTokens

/// The encoding of a representation's bytes for transfer (RFC 9110 section 8.4).
package enum ContentCoding: CaseIterable, Hashable, Sendable {
    case identity
    case gzip

    /// The coding that a request accepts: gzip when it is named with a quality above 0, but never for Microsoft's
    /// programs, whose subscriptions then fail silently.
    init(acceptEncoding values: [String], from family: ClientFamily) {
        self = !values.isEmpty && !family.isMicrosoft && Self.takesGzip(values) ? .gzip : .identity
    }

    /// Whether the values of `Accept-Encoding` name gzip.
    package static func takesGzip(_ values: [String]) -> Bool {
        // A star by itself does not name gzip: a client that sends only a star gets the plain bytes.
        for element in values.flatMap({ $0.asciiLowercased.pieces(separatedBy: ",") }) {
            let parts = element.pieces(separatedBy: ";")
            // A blank within the name makes it another name; around a weight's `=` it does no harm.
            let coding = String((parts.first ?? "").withoutOuterBlanks)
            guard coding == "gzip" || coding == "x-gzip" else { continue }
            let weight = parts.dropFirst().map(\.withoutBlanks).first { $0.hasPrefix("q=") }
            guard let weight else { return true }
            if QualityValue.read(weight.dropFirst(2)) > 0 { return true }
        }
        return false
    }
}
