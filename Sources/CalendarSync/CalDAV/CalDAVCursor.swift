// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import ICalBridge

/// Where a listing ended, as one text, which is bound to its calendar because equal calendars may have equal tokens.
struct CalDAVCursor {
    enum Position {
        /// The server's own token (RFC 6578).
        case token(String)
        /// The state of a server without tokens: its ctag, and the etag of each path.
        case etags(ctag: String?, [ByteString: String])
    }

    var position: Position
    /// When the whole calendar was last listed. Some servers accept an expired token and return nothing, forever.
    var fullAt: Instant

    /// The number of seconds after which everything is listed again.
    static let fullInterval = 7 * 86_400
    /// The maximum number of a calendar's members whose etags fit in a cursor.
    private static let memberLimit = 20_000
    /// The maximum size in bytes of a server's token, and of the etags: a cursor is stored with each run.
    private static let longestToken = 64 << 10
    private static let longestEtags = 2 << 20

    private static func fingerprint(_ collection: DAVAddress) -> String {
        Hexadecimal.text(SHA256.hash(data: Array(collection.text.utf8)).prefix(8))
    }

    /// Returns the cursor's text; nil when it cannot be written, so that the next listing is a full one.
    func text(_ collection: DAVAddress) -> String? {
        let head = "\(Self.fingerprint(collection))\n\(fullAt.seconds)\n"
        switch position {
        case .token(let token):
            return token.utf8.count > Self.longestToken || token.utf8.contains(10) ? nil : "token\n\(head)\(token)"
        case .etags(let ctag, let etags):
            guard etags.count <= Self.memberLimit, ctag?.utf8.contains(10) != true else { return nil }
            let size = etags.reduce(ctag?.utf8.count ?? 0) { $0 + $1.key.string.utf8.count + $1.value.utf8.count + 2 }
            guard size <= Self.longestEtags else { return nil }
            let lines = etags.map { "\($0.key.string) \($0.value)" }.sorted { $0 < $1 }
            return "etags\n\(head)\(([ctag ?? ""] + lines).joined(separator: "\n"))"
        }
    }

    /// Returns nil for a text that is not a cursor of this calendar.
    init?(_ text: String, _ collection: DAVAddress) {
        let lines = text.utf8.split(separator: 10, omittingEmptySubsequences: false)
            .map { String(fromOutside: Array($0)) }
        guard lines.count >= 4, lines[1] == Self.fingerprint(collection), let seconds = Int(lines[2]) else {
            return nil
        }
        fullAt = Instant(seconds: seconds)
        switch lines[0] {
        case "token" where lines.count == 4 && !lines[3].isEmpty: position = .token(lines[3])
        case "etags":
            var etags: [ByteString: String] = [:]
            for line in lines.dropFirst(4) {
                let parts = line.split(separator: " ", maxSplits: 1)
                guard parts.count == 2 else { return nil }
                etags[String(parts[0])] = String(parts[1])
            }
            position = .etags(ctag: lines[3].isEmpty ? nil : lines[3], etags)
        default: return nil
        }
    }

    init(_ position: Position, fullAt: Instant) {
        self.position = position
        self.fullAt = fullAt
    }
}
