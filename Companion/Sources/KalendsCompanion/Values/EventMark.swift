// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Marks an event in a calendar as made by Kalends, and identifies the server's event that it shows.
///
/// The mark is the event's URL, since calendars keep a URL but no fields of other programs. The server gives the URL
/// for an item; for a person's own event, the URL leads to the server's pages.
public struct EventMark: Hashable, Sendable {
    /// The part that all generations of a mark share.
    public let identity: String
    /// Increases when an event that a person deleted is made again.
    public let generation: Int
    /// The original start of a changed occurrence; nil for other events.
    public let occurrence: EventMoment?

    private static let page = "/app/#kalends-event/"
    private static let scheme = "kalends:/"

    /// Returns the URL for a person's own event at a server.
    public static func url(of eventID: String, user: String, generation: Int, at server: String) -> String {
        var base = server
        while base.hasSuffix("/") { base.removeLast() }
        return "\(base)\(page)\(escaped(user))/\(escaped(eventID))/\(generation)"
    }

    /// Reads the mark of any server; nil for a URL without a mark.
    public init?(url: String?) {
        guard let url, url.utf8.count <= 2000 else { return nil }
        if url.hasPrefix(Self.scheme) {
            let parts = url.dropFirst(Self.scheme.count).split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 6 || parts.count == 7, let number = Int(parts[5]), number >= 0 else { return nil }
            identity = Self.scheme + parts[..<5].joined(separator: "/")
            generation = number
            occurrence = parts.count == 7 ? parts[6].removingPercentEncoding.flatMap { EventMoment($0) } : nil
        } else {
            guard let found = url.range(of: Self.page) else { return nil }
            let parts = url[found.upperBound...].split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 3, !parts[0].isEmpty, !parts[1].isEmpty, let number = Int(parts[2]), number >= 0
            else { return nil }
            identity = "\(parts[0])/\(parts[1])"
            generation = number
            occurrence = nil
        }
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
            switch byte {
            case 48...57, 65...90, 97...122, 45, 46, 95: escaped.unicodeScalars.append(Unicode.Scalar(byte))
            default: escaped += "%" + String(decoding: Hexadecimal.digits(of: byte), as: UTF8.self)
            }
        }
        return escaped
    }
}
