// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import KalendsFront

extension Exchange {
    /// RFC 4791 section 5.3.2. Only a text that is stored as it came is answered with its tag.
    func put(for caller: CalDAVCaller) async throws -> Response {
        guard case .member(_, _, let name) = address else {
            // The text of a collection is nobody's to write.
            guard place == nil, case .collection = address else {
                throw DAVFault.needsPrivileges(href, "write-content")
            }
            throw DAVFault(.conflict, nil, "There is no calendar at this address; MKCALENDAR makes one.")
        }
        guard let place else { throw DAVFault(.conflict, nil, "There is no calendar to put this into.") }
        guard place.collection.mayWrite else { throw DAVFault.needsPrivileges(href, "write-content") }
        guard request.headers[.contentRange] == nil else {
            throw DAVFault.badRequest("A part of a resource cannot be put.")
        }
        if let type = request.headers[.contentType], !type.isEmpty {
            let essence = (type.pieces(separatedBy: ";").first ?? "").withoutOuterBlanks.asciiLowercased
            guard essence == "text/calendar" else {
                throw DAVFault.forbidden(.caldav("supported-calendar-data"), "Only text/calendar is kept here.")
            }
        }
        let text = try await text()
        let outcome: PutOutcome
        do {
            let conditions = WriteConditions(request.headers)
            let presence = Presence(on: context.channel)
            // Thousands of occurrences are worked out in the sender's turn.
            outcome = try await LongWork.run(for: context.sender) {
                try presence.check()
                return try await place.source.put(
                    text, as: name.string, in: place.collection, if: conditions, for: caller,
                    room: roomOfChange)
            }
        } catch CollectionFault.preconditionFailed {
            // With the present resource in the answer, the client can try again at once.
            if prefers("return=representation"),
                let response = try await representation(of: name.string, status: .preconditionFailed)
            {
                return response
            }
            throw CollectionFault.preconditionFailed
        }
        if prefers("return=representation"),
            let response = try await representation(of: name.string, status: outcome.isNew ? .created : .ok)
        {
            return response
        }
        var headers = HTTPFields()
        if let etag = outcome.etag { headers[.eTag] = "\"\(etag)\"" }
        headers[.cacheControl] = "no-store"
        return Response(status: outcome.isNew ? .created : .noContent, headers: headers)
    }

    /// The body, which is what will be kept.
    private func text() async throws -> [UInt8] {
        let limit = CalendarCollection.maxResourceSize
        do {
            // Its parts are read while it is judged.
            return try await request.bytes(limit: limit, times: 10, context)
        } catch let refusal as Refusal where refusal.kind == .tooLarge {
            throw DAVFault.tooLarge(limit)
        }
    }
}

extension WriteConditions {
    /// The fields of RFC 9110 section 13.1.
    init(_ headers: HTTPFields) {
        self.init()
        let (required, excluded) = (headers[values: .ifMatch], headers[values: .ifNoneMatch])
        if !required.isEmpty {
            let tags = required.flatMap(Self.tags)
            needsExisting = tags.contains { $0.isStar }
            // Strong comparison: a weak tag never matches.
            ifMatch = needsExisting ? nil : tags.filter { !$0.isWeak }.map(\.text)
        }
        let tags = excluded.flatMap(Self.tags)
        needsAbsence = tags.contains { $0.isStar }
        ifNoneMatch = tags.filter { !$0.isStar }.map(\.text)
    }

    private struct Tag {
        var text: String
        var isWeak = false
        var isStar: Bool { !isQuoted && text == "*" }
        var isQuoted = false
    }

    /// The tags of a list; a comma may be within a tag's quotation marks, and some clients send tags without these.
    private static func tags(_ list: String) -> [Tag] {
        var tags: [Tag] = []
        var (word, inQuotes): ([UInt8], Bool) = ([], false)
        func end() {
            var text = String(fromOutside: word).withoutOuterBlanks
            word = []
            guard !text.isEmpty else { return }
            var tag = Tag(text: "")
            if text.hasPrefix("W/") { (tag.isWeak, text) = (true, text.dropFirst(2)) }
            if text.hasPrefix("\""), text.hasSuffix("\""), text.utf8.count >= 2 {
                (tag.isQuoted, text) = (true, text.dropFirst().dropLast())
            }
            tag.text = String(text)
            tags.append(tag)
        }
        for byte in list.utf8 {
            if byte == UInt8(ascii: "\"") { inQuotes.toggle() }
            if byte == UInt8(ascii: ","), !inQuotes { end() } else { word.append(byte) }
        }
        end()
        return tags
    }
}
