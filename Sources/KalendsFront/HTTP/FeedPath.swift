// SPDX-License-Identifier: Apache-2.0

import FeedTokens

/// The addresses of feeds.
enum FeedPath {
    /// The raw value is the router's pattern, and the name in logs and metrics.
    enum Route: String, CaseIterable, Sendable {
        case named = "/feeds/{token}/{name}"
        case short = "/feeds/{token}"
        case function = "/functions/v1/ical-feed/{token}"
    }

    private static let feeds = Array("/feeds/".utf8)
    private static let function = Array("/functions/v1/ical-feed/".utf8)
    private static let ending = Array(".ics".utf8)

    /// Reads a path in its plain spelling; nil for any other path, which the router handles.
    static func parse(_ path: String) -> (route: Route, token: Secret)? { parse(Array(path.utf8)) }

    static func parse(_ path: [UInt8]) -> (route: Route, token: Secret)? {
        var rest = path[...]
        let isFunction: Bool
        if rest.starts(with: feeds) {
            isFunction = false
            rest = rest.dropFirst(feeds.count)
        } else if rest.starts(with: function) {
            isFunction = true
            rest = rest.dropFirst(function.count)
        } else {
            return nil
        }
        let text = rest.prefix(43)
        rest = rest.dropFirst(43)
        let route: Route
        if rest.isEmpty || rest.elementsEqual(ending) {
            route = isFunction ? .function : .short
        } else if !isFunction, rest.first == UInt8(ascii: "/"), isPlainName(rest.dropFirst()) {
            route = .named
        } else {
            return nil
        }
        return Secret(.feed, utf8: text).map { (route, $0) }
    }

    private static func isPlainName(_ name: ArraySlice<UInt8>) -> Bool {
        guard name.count > ending.count, name.suffix(ending.count).elementsEqual(ending) else { return false }
        return name.allSatisfy { byte in
            switch byte {
            // Letters, digits, and the other characters of issued addresses.
            case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
            default: false
            }
        }
    }
}
