// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import ICalBridge
import KalendsCore

/// Writes a multistatus (RFC 4918 section 13) response by response.
struct MultistatusWriter: Sendable {
    /// The bytes that are written and not taken yet.
    private(set) var bytes: [UInt8] = []
    /// The token of RFC 6578 that ends the answer.
    var syncToken: String?
    private let propertyContext: PropertyContext
    /// The names of the properties that the resource of the present response does not have.
    private var missing: [UInt8] = []

    init(_ propertyContext: PropertyContext) {
        self.propertyContext = propertyContext
        bytes += "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:multistatus\(PropertyName.declarations)>".utf8
    }

    // MARK: Responses

    /// Writes a response that is a status.
    ///
    /// - Parameters:
    ///   - href: an absolute path, percent-encoded.
    ///   - condition: the reason, an empty element such as `D:number-of-matches-within-limits`.
    ///   - sentence: for people.
    mutating func response(_ href: String, status: Int, condition: PropertyName? = nil, sentence: String? = nil) {
        begin(href)
        self.status(status)
        if let condition {
            bytes += "<D:error>".utf8
            bytes += condition.tags.empty
            bytes += "</D:error>".utf8
        }
        if let sentence { element("D:responsedescription", sentence) }
        end()
    }

    /// Writes a response with the properties that are asked for.
    ///
    /// - Parameter more: returns by its name the whole element of a property that is made only for this answer, such as
    ///   `C:calendar-data`; nil if the resource does not have it.
    mutating func response(
        _ href: String, _ request: PropertyRequest, of subject: Subject, more: (PropertyName) -> [UInt8]? = { _ in nil }
    ) {
        begin(href)
        let start = bytes.count
        bytes += "<D:propstat><D:prop>".utf8
        let first = bytes.count
        missing.removeAll(keepingCapacity: true)
        switch request.choice {
        case .listed: for asked in request.asked { write(asked, of: subject, more) }
        case .names: names(of: subject)
        case .all:
            for live in LiveProperty.all where live.isInAllprop { write(live, live.name.tags, of: subject) }
            for stored in propertyContext.stored(of: subject)
            where LiveProperty.named[PropertyName(stored)]?.isInAllprop != true { bytes += stored.xml }
            for asked in request.asked where asked.live?.isInAllprop != true { write(asked, of: subject, more) }
        }
        let showsMissing = !missing.isEmpty && !request.isMinimal
        if bytes.count == first, showsMissing {
            // There is nothing to show with 200.
            bytes.removeLast(bytes.count - start)
        } else {
            bytes += "</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>".utf8
        }
        if showsMissing {
            bytes += "<D:propstat><D:prop>".utf8
            bytes += missing
            bytes += "</D:prop><D:status>HTTP/1.1 404 Not Found</D:status></D:propstat>".utf8
        }
        end()
    }

    /// Writes a response in which groups of properties have statuses of their own.
    mutating func response(_ href: String, _ groups: [PropertyStatus]) {
        begin(href)
        for group in groups { propstat(group) }
        end()
    }

    /// Writes a response that was made before.
    mutating func written(_ response: [UInt8]) { bytes += response }

    mutating func propstat(_ group: PropertyStatus) {
        bytes += "<D:propstat><D:prop>".utf8
        for name in group.names { bytes += name.tags.empty }
        bytes += "</D:prop>".utf8
        status(group.status)
        if let condition = group.condition {
            bytes += "<D:error>".utf8
            bytes += condition.tags.empty
            bytes += "</D:error>".utf8
        }
        if let sentence = group.sentence { element("D:responsedescription", sentence) }
        bytes += "</D:propstat>".utf8
    }

    private mutating func begin(_ href: String) {
        bytes += "<D:response><D:href>".utf8
        XMLElement.write(href, to: &bytes)
        bytes += "</D:href>".utf8
    }

    private mutating func end() { bytes += "</D:response>\n".utf8 }

    /// The statuses that resources and properties have in an answer; for them the bare code would have no phrase.
    private static let statuses: [HTTPResponse.Status] = [
        .ok, .forbidden, .notFound, .conflict, .failedDependency, .internalServerError, .insufficientSpace,
    ]

    private mutating func status(_ code: Int) {
        let reason = Self.statuses.first { $0.code == code }?.reasonPhrase ?? ""
        bytes += "<D:status>HTTP/1.1 \(code) \(reason)</D:status>".utf8
    }

    private mutating func element(_ name: String, _ text: String) {
        bytes += "<\(name)>".utf8
        XMLElement.write(text, to: &bytes)
        bytes += "</\(name)>".utf8
    }

    // MARK: Properties

    private mutating func write(
        _ asked: PropertyRequest.Asked, of subject: Subject, _ more: (PropertyName) -> [UInt8]?
    ) {
        if let live = asked.live { return write(live, asked.tags, of: subject) }
        if let stored = propertyContext.stored(of: subject)[asked.name] ?? more(asked.name) {
            bytes += stored
        } else {
            missing += asked.tags.empty
        }
    }

    private mutating func write(
        _ live: LiveProperty, _ tags: (start: [UInt8], end: [UInt8], empty: [UInt8]), of subject: Subject
    ) {
        // The name that its person set takes precedence over the server's name for it.
        if !live.isProtected, let stored = propertyContext.stored(of: subject)[live.name] {
            bytes += stored
            return
        }
        let start = bytes.count
        bytes += tags.start
        if live.write(subject, propertyContext, &bytes) {
            bytes += tags.end
        } else {
            bytes.removeLast(bytes.count - start)
            missing += tags.empty
        }
    }

    private mutating func names(of subject: Subject) {
        var scratch: [UInt8] = []
        for live in LiveProperty.all {
            let isStored = !live.isProtected && propertyContext.stored(of: subject)[live.name] != nil
            if isStored || live.write(subject, propertyContext, &scratch) { bytes += live.name.tags.empty }
        }
        for stored in propertyContext.stored(of: subject) where LiveProperty.named[PropertyName(stored)] == nil {
            bytes += PropertyName(stored).tags.empty
        }
    }

    // MARK: Pieces

    /// Writes the end of the answer.
    mutating func finish() {
        if let syncToken { element("D:sync-token", syncToken) }
        bytes += "</D:multistatus>\n".utf8
    }

    /// Returns what is written since the last call.
    mutating func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }
}

/// Properties that share a status in a propstat.
struct PropertyStatus: Sendable {
    var status: Int
    var names: [PropertyName]
    var condition: PropertyName?
    var sentence: String?
}
