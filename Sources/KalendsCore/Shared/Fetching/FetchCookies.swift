// SPDX-License-Identifier: Apache-2.0

import Outbound

/// The cookies of one fetch: each goes back to the host that set it, and all are forgotten with the fetch (RFC 6265
/// section 3). Some hosts give a calendar only to those who come back with one.
struct FetchCookies: Hashable, Sendable {
    private struct Cookie: Hashable {
        let origin: ByteString
        let name: ByteString
        let value: ByteString
    }

    private static let most = 20
    private static let longest = 4096

    private var cookies: [Cookie] = []

    /// Takes what an answer sets; a cookie that is empty or has ended takes an earlier one away.
    mutating func take(_ answer: OutboundAnswer, from url: PublicURL) {
        for field in answer.headers where field.name.lowercased() == "set-cookie" {
            let parts = field.value.split(separator: ";", omittingEmptySubsequences: false)
            guard field.value.utf8.count <= Self.longest, let pair = parts.first, let sign = pair.firstIndex(of: "=")
            else { continue }
            let (name, value) = (Self.trimmed(pair[..<sign]), Self.trimmed(pair[pair.index(after: sign)...]))
            let origin = ByteString(url.origin)
            guard name != "", field.value.utf8.allSatisfy({ $0 >= 32 && $0 < 127 }) else { continue }
            let hasEnded = parts.dropFirst().contains { part in
                let words = part.split(separator: "=", maxSplits: 1).map(Self.trimmed)
                return words.count == 2 && words[0].string.lowercased() == "max-age" && (Int(words[1].string) ?? 1) <= 0
            }
            cookies.removeAll { $0.origin == origin && $0.name == name }
            if value != "", !hasEnded, cookies.count < Self.most {
                cookies.append(Cookie(origin: origin, name: name, value: value))
            }
        }
    }

    /// The value of the field Cookie for a request; nil without any.
    func field(for url: PublicURL) -> String? {
        let origin = ByteString(url.origin)
        let own = cookies.filter { $0.origin == origin }.map { "\($0.name.string)=\($0.value.string)" }
        return own.isEmpty ? nil : own.joined(separator: "; ")
    }

    private static func trimmed(_ text: Substring) -> ByteString {
        var text = text.drop { $0.is(" ") }
        while text.last?.is(" ") == true { text.removeLast() }
        return ByteString(String(text))
    }
}
