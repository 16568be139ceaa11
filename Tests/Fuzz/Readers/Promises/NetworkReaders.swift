// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import Foundation

@testable import KalendsCore
@testable import Outbound

/// Addresses, and what the DNS answers.
extension Reader {
    static let network = [
        Reader(name: "ip-address") { bytes in
            let text = text(bytes)
            _ = AddressRange(text)
            guard let address = IPAddress(text) else { return }
            try promise(IPAddress(address.text) == address, "An address is read back: \(address.text)")
            let range = AddressRange(address.text)
            try promise(range?.contains(address) == true, "An address is in its own range.")
        },
        Reader(name: "public-url", check: publicURL),
        Reader(name: "dns") { bytes in
            guard let message = DNSMessage(bytes) else { return }
            try promise(message.services.allSatisfy { $0.target.utf8.count <= 253 }, "A name has a limit.")
            try promise(message.texts.allSatisfy { $0.utf8.count <= 255 }, "A text has a limit.")
        },
        Reader(name: "host") { bytes in
            let text = text(bytes)
            if let label = Punycode.label(text) { try promise(label.utf8.allSatisfy { $0 < 128 }, "It is ASCII.") }
            guard let host = try? InternetHost(Substring(text)) else { return }
            try promise((try? InternetHost(Substring(host.text))) == host, "A host is read back: \(host.text)")
        },
        Reader(name: "webhook-address") { bytes in
            let text = text(bytes)
            guard let address = WebhookAddress(text) else { return }
            try promise(URL(string: address.text)?.host() != nil, "Foundation finds a host: \(address.text)")
        },
        Reader(name: "return-address") { bytes in
            let text = text(bytes)
            let origin = WebOrigin(text)
            if let origin { try promise(WebOrigin(origin.text) == origin, "An origin is read back.") }
            let known = Set(["https://app.example", "http://localhost:3000"].map { ByteString($0) })
            guard let address = ReturnAddress(text, known) else { return }
            let whole = address.with(.pending, code: .make(.connectionCode), connection: "c1", base: "/base")
            let root = URL(string: "https://kalends.example/")
            guard let url = URL(string: whole, relativeTo: root)?.absoluteURL.standardized else { return }
            // Capital letters of a host are no others to a browser.
            let host = url.host()?.lowercased() ?? ""
            let isOwn = host == "kalends.example" && url.path().hasPrefix("/base/app/")
            let isKnown = ["app.example", "localhost"].contains(host)
            try promise(isOwn || isKnown, "A browser is sent elsewhere: \(url)")
        },
        Reader(name: "page-path") { bytes in
            guard let path = PagePath(text(bytes)) else { return }
            let root = URL(string: "https://kalends.example/")
            guard let url = URL(string: path.text, relativeTo: root)?.absoluteURL.standardized else {
                throw BrokenPromise(description: "Foundation reads no address: \(path.text)")
            }
            try promise(url.host() == "kalends.example", "It leads to another host: \(path.text)")
            try promise(url.path().hasPrefix("/app/"), "It leads out of the pages: \(path.text)")
        },
    ]

    private static func publicURL(_ bytes: [UInt8]) throws {
        let parts = bytes.split(separator: 10, maxSplits: 1, omittingEmptySubsequences: false)
        guard let url = try? PublicURL(text(Array(parts[0])), allowsHTTP: true) else { return }
        let again = try? PublicURL(url.reveal(), allowsHTTP: true)
        try promise(again == url, "An address is read back: \(url.reveal())")
        guard let foundation = URL(string: url.reveal()) else {
            throw BrokenPromise(description: "Foundation reads no address: \(url.reveal())")
        }
        let host = foundation.host(percentEncoded: false)?.lowercased() ?? ""
        try promise("[\(host)]" == url.host.text || host == url.host.text, "Foundation finds another host: \(host)")
        try promise((foundation.port ?? (url.isSecure ? 443 : 80)) == url.port, "Foundation finds another port.")
        guard parts.count == 2, let next = try? url.following(text(Array(parts[1])), allowsHTTP: true) else { return }
        try promise(next.isSecure || !url.isSecure, "It never leads from https to http.")
        try promise((try? PublicURL(next.reveal(), allowsHTTP: true)) == next, "The next address is read back.")
    }
}
