// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import ICalBridge

/// What a representation can be told from others by (RFC 9110 section 8.8).
struct Validators: Hashable, Sendable {
    /// A strong entity tag with its quotes.
    var etag: String
    var lastModified: Instant?

    var fields: HTTPFields {
        var fields = HTTPFields()
        fields[.eTag] = etag
        if let lastModified { fields[.lastModified] = lastModified.httpDate }
        return fields
    }
}

/// The one place that decides about conditions of a request (RFC 9110 section 13).
enum ConditionalGet {
    /// Whether a reader has the representation already, so that 304 is the answer.
    ///
    /// If-None-Match rules alone when it is there; a date that cannot be read counts as not sent.
    static func isNotModified(_ headers: HTTPFields, _ validators: Validators) -> Bool {
        isNotModified(
            ifNoneMatch: headers[values: .ifNoneMatch], ifModifiedSince: headers[.ifModifiedSince], validators)
    }

    /// The same by the values of the two header fields.
    static func isNotModified(ifNoneMatch tags: [String], ifModifiedSince: String?, _ validators: Validators) -> Bool {
        if !tags.isEmpty { return matches(tags, validators.etag) }
        guard let text = ifModifiedSince, let since = Instant(httpDate: text),
            let lastModified = validators.lastModified
        else { return false }
        return lastModified <= since
    }

    /// Throws 412 when the request names a state that is not the present one; `etag` is nil when there is nothing yet.
    static func checkPreconditions(_ headers: HTTPFields, etag: String?) throws {
        let stale = Refusal(status: .preconditionFailed, detail: "The resource has changed since; get it anew.")
        let required = headers[values: .ifMatch]
        if !required.isEmpty {
            // Strong comparison: a weak tag never matches.
            guard let etag, required.contains(where: { list($0).contains { $0 == "*" || $0 == etag } }) else {
                throw stale
            }
        }
        let excluded = headers[values: .ifNoneMatch]
        if !excluded.isEmpty, let etag, matches(excluded, etag) { throw stale }
    }

    /// Weak comparison with each tag of the lists; `*` matches whatever there is.
    private static func matches(_ values: [String], _ etag: String) -> Bool {
        values.contains { value in
            // What nearly every reader sends: the one tag that it was given.
            value == etag
                || list(value).contains { $0 == "*" || ($0.hasPrefix("W/") ? String($0.dropFirst(2)) : $0) == etag }
        }
    }

    /// The entity tags of a list; a comma may stand within the quotes of one.
    private static func list(_ value: String) -> [String] {
        var tags: [String] = []
        var current = ""
        var inQuotes = false
        for character in value {
            if character == "\"" { inQuotes.toggle() }
            if character == ",", !inQuotes {
                tags.append(current)
                current = ""
            } else if inQuotes || !character.isWhitespace {
                current.append(character)
            }
        }
        tags.append(current)
        return tags.filter { !$0.isEmpty }
    }
}
