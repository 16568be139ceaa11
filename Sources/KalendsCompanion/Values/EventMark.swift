// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What says of an event in a calendar that Kalends made it, and for which of a user's events.
///
/// It is in the event's address, which opens the server's pages: a calendar keeps an address and no other field of ours.
public struct EventMark: Hashable, Sendable {
    public var user: String
    public var eventID: String
    /// Rises when an event that a person deleted is made again.
    public var generation: Int

    public init(user: String, eventID: String, generation: Int) {
        self.user = user
        self.eventID = eventID
        self.generation = generation
    }

    private static let name = "/app/#kalends-event/"

    /// The address with the mark, at a server.
    public func url(at server: String) -> String {
        var base = server
        while base.hasSuffix("/") { base.removeLast() }
        return "\(base)\(Self.name)\(Self.escaped(user))/\(Self.escaped(eventID))/\(generation)"
    }

    /// Reads the mark of any server; nil for an address without one.
    public init?(url: String?) {
        guard let url, url.utf8.count <= 2000, let found = url.range(of: Self.name) else { return nil }
        let parts = url[found.upperBound...].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let user = String(parts[0]).removingPercentEncoding,
            let event = String(parts[1]).removingPercentEncoding, !user.isEmpty, !event.isEmpty,
            let generation = Int(parts[2]), generation >= 0
        else { return nil }
        self.init(user: user, eventID: event, generation: generation)
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
