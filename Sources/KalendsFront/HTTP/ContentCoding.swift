// SPDX-License-Identifier: Apache-2.0

import FeedTokens

/// How a representation's bytes are packed on the way (RFC 9110 section 8.4).
enum ContentCoding: Hashable, Sendable {
    case identity
    case gzip

    /// What a request takes: gzip when it names it with a quality above 0, and never to Microsoft's programs, whose
    /// subscriptions fail silently then.
    init(acceptEncoding values: [String], from family: ClientFamily) {
        self = !values.isEmpty && !family.isMicrosoft && Self.takesGzip(values) ? .gzip : .identity
    }

    private static func takesGzip(_ values: [String]) -> Bool {
        // A star by itself says nothing about gzip: whoever sends it gets the plain bytes.
        for element in values.flatMap({ $0.asciiLowercased.pieces(separatedBy: ",") }) {
            let parts = element.pieces(separatedBy: ";").map(\.withoutBlanks)
            guard let coding = parts.first, coding == "gzip" || coding == "x-gzip" else { continue }
            guard let parameter = parts.dropFirst().first(where: { $0.hasPrefix("q=") }) else { return true }
            if QualityValue.read(parameter.dropFirst(2)) > 0 { return true }
        }
        return false
    }
}
