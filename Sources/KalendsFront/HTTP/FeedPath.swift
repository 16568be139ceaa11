// SPDX-License-Identifier: Apache-2.0

import FeedTokens

/// The addresses of feeds.
enum FeedPath {
    /// The raw value is the router's pattern, and the name in logs and metrics.
    enum Route: String, CaseIterable, Sendable {
        case named = "/feeds/{token}/{name}"
        case short = "/feeds/{token}"
        case function = "/functions/v1/ical-feed/{token}"

        /// The place among `allCases`.
        var ordinal: Int {
            switch self {
            case .named: 0
            case .short: 1
            case .function: 2
            }
        }
    }

    private static let feeds: StaticString = "/feeds/"
    private static let function: StaticString = "/functions/v1/ical-feed/"
    private static let ending: StaticString = ".ics"
    /// How many characters a token has.
    private static let tokenLength = 43

    /// Reads a path in its plain spelling; nil for any other path, which the router handles.
    static func parse(_ path: String) -> (route: Route, token: Secret)? {
        parse(unsafe path.utf8.span.bytes)
    }

    static func parse(_ path: RawSpan) -> (route: Route, token: Secret)? {
        let isFunction: Bool
        let start: Int
        if path.has(feeds, at: 0) {
            (isFunction, start) = (false, feeds.utf8CodeUnitCount)
        } else if path.has(function, at: 0) {
            (isFunction, start) = (true, function.utf8CodeUnitCount)
        } else {
            return nil
        }
        let end = start + tokenLength
        guard path.byteCount >= end else { return nil }
        let route: Route
        if path.byteCount == end || path.byteCount == end + ending.utf8CodeUnitCount && path.has(ending, at: end) {
            route = isFunction ? .function : .short
        } else if !isFunction, path[byte: end] == UInt8(ascii: "/"), hasPlainName(path, from: end + 1) {
            route = .named
        } else {
            return nil
        }
        return Secret(.feed, utf8: path.extracting(start..<end)).map { (route, $0) }
    }

    private static func hasPlainName(_ path: RawSpan, from start: Int) -> Bool {
        let last = path.byteCount - ending.utf8CodeUnitCount
        guard last > start, path.has(ending, at: last) else { return false }
        for index in start..<last {
            switch path[byte: index] {
            // Letters, digits, and the other characters of issued addresses.
            case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): continue
            default: return false
            }
        }
        return true
    }
}
