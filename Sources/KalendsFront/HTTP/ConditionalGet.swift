// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes
import Hummingbird
package import ICalBridge
import KalendsCore

/// The validators of a representation (RFC 9110 section 8.8).
package struct Validators: Hashable, Sendable {
    /// A strong entity tag with its quotes.
    package var etag: String
    package var lastModified: Instant?

    package init(etag: String, lastModified: Instant?) { (self.etag, self.lastModified) = (etag, lastModified) }

    package var fields: HTTPFields {
        var fields = HTTPFields()
        fields[.eTag] = etag
        if let lastModified { fields[.lastModified] = lastModified.httpDate }
        return fields
    }
}

extension Request {
    /// The condition that the header fields set on the current state (RFC 9110 section 13.1).
    ///
    /// - Parameter etag: computes the entity tag of a state as the route shows it.
    func condition<Record>(_ etag: @escaping @Sendable (Record) throws -> String) -> Precondition<Record> {
        // A tag costs a hash of everything that is shown, so it is computed only for a request with a condition.
        guard headers.contains(.ifMatch) || headers.contains(.ifNoneMatch) else { return .none }
        let headers = headers
        return Precondition { record in
            try ConditionalGet.checkPreconditions(headers, etag: try record.map(etag))
        }
    }
}

/// The only place that evaluates the conditions of a request (RFC 9110 section 13).
package enum ConditionalGet {
    /// Whether the reader already has the representation, so that the answer is 304.
    ///
    /// Only If-None-Match counts when it is present; a date that cannot be read is ignored.
    package static func isNotModified(_ headers: HTTPFields, _ validators: Validators) -> Bool {
        isNotModified(
            ifNoneMatch: headers[values: .ifNoneMatch], ifModifiedSince: headers[.ifModifiedSince], validators)
    }

    /// The same, from the values of the two header fields.
    static func isNotModified(ifNoneMatch tags: [String], ifModifiedSince: String?, _ validators: Validators) -> Bool {
        if !tags.isEmpty { return matches(tags, validators.etag) }
        guard let text = ifModifiedSince, let since = Instant(httpDate: text),
            let lastModified = validators.lastModified
        else { return false }
        return lastModified <= since
    }

    /// Whether the current state is one that the request is meant for, so that the answer is not 412; `current` is nil
    /// when nothing exists yet.
    ///
    /// Only If-Match counts when it is present; a date that cannot be read is ignored, and so is one where the state has
    /// none.
    package static func isMeant(_ headers: HTTPFields, for current: Validators?) -> Bool {
        let required = headers[values: .ifMatch]
        if !required.isEmpty {
            // Strong comparison: a weak tag never matches.
            return current.map { current in required.contains { names($0, current.etag, isWeak: false) } } ?? false
        }
        guard let text = headers[.ifUnmodifiedSince], let date = Instant(httpDate: text),
            let lastModified = current?.lastModified
        else { return true }
        return lastModified <= date
    }

    /// Throws 412 when the request names a state other than the current one; `etag` is nil when nothing exists yet.
    static func checkPreconditions(_ headers: HTTPFields, etag: String?) throws {
        let stale = Refusal(.preconditionFailed, detail: "The resource has changed since you read it. Read it again.")
        guard isMeant(headers, for: etag.map { Validators(etag: $0, lastModified: nil) }) else { throw stale }
        let excluded = headers[values: .ifNoneMatch]
        if !excluded.isEmpty, let etag, matches(excluded, etag) { throw stale }
    }

    /// Compares weakly with each tag of the lists; `*` matches any existing state.
    private static func matches(_ values: [String], _ etag: String) -> Bool {
        // Nearly every reader sends exactly the one tag that it was given.
        values.contains { $0.isSameText(as: etag) || names($0, etag, isWeak: true) }
    }

    /// Whether a list names a tag; a comma may be within a tag's quotes.
    ///
    /// It compares bytes in place: it runs on the event loop, where all connections wait for it.
    private static func names(_ list: String, _ etag: String, isWeak: Bool) -> Bool {
        let (list, etag) = (list.utf8, etag.utf8)
        var (start, inQuotes) = (list.startIndex, false)
        var index = start
        while index < list.endIndex {
            let byte = list[index]
            if byte == UInt8(ascii: "\"") { inQuotes.toggle() }
            if byte == UInt8(ascii: ","), !inQuotes {
                if isTag(list[start..<index], etag, isWeak: isWeak) { return true }
                start = list.index(after: index)
            }
            list.formIndex(after: &index)
        }
        return isTag(list[start...], etag, isWeak: isWeak)
    }

    private static func isTag(_ element: Substring.UTF8View, _ etag: String.UTF8View, isWeak: Bool) -> Bool {
        var element = element
        while let first = element.first, first == 32 || first == 9 { element.removeFirst() }
        while let last = element.last, last == 32 || last == 9 { element.removeLast() }
        if element.elementsEqual(CollectionOfOne(UInt8(ascii: "*"))) { return true }
        if isWeak, element.starts(with: "W/".utf8) { element.removeFirst(2) }
        return element.elementsEqual(etag)
    }
}
