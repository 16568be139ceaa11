// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import ICalBridge

@testable import CalendarSync
@testable import KalendsCore

/// What providers of calendars answer, and what is kept of it between two runs.
extension Reader {
    /// Properties in the body of a request are kept as they were written, and can be written elsewhere.
    private static func requestProperties(_ bytes: [UInt8]) throws {
        guard let root = try? XMLReader.read(bytes, limits: .request) else { return }
        // What an element takes from those around it becomes attributes of its own.
        var limits = XMLReader.Limits.request
        limits.attributes += limits.declarations + 1
        for property in root.children.flatMap(\.children).flatMap(\.children) {
            let alone = property.source?.alone ?? []
            let again = try? XMLReader.read(alone, limits: limits)
            try promise(
                again?.name == property.name && again?.namespace.text == property.namespace.text,
                "A property is read back: \(String(decoding: alone, as: UTF8.self))")
        }
    }

    static let providers = [
        Reader(name: "multistatus") { bytes in
            _ = DAVCondition(bytes)
            try requestProperties(bytes)
            guard let root = try? XMLReader.read(bytes) else {
                try promise((try? Multistatus(bytes)) == nil, "What is no XML is no multistatus.")
                return
            }
            try promise(!root.name.isEmpty, "An element has a name.")
            guard let status = try? Multistatus(bytes) else { return }
            for response in status.responses {
                guard let address = DAVAddress(response.href, relativeTo: base) else { continue }
                try promise(DAVAddress(address.text) == address, "An address is read back: \(address.text)")
            }
        },
        Reader(name: "calendar-object", check: object),
        Reader(name: "dav-address") { bytes in
            guard let address = DAVAddress(text(bytes), relativeTo: base) else { return }
            try promise(DAVAddress(address.text) == address, "An address is read back: \(address.text)")
            try promise(address.collection.path.hasSuffix("/"), "A collection ends with a slash.")
            try promise(!address.path.contains("/../") && !address.path.hasSuffix("/.."), "It does not climb.")
        },
        Reader(name: "sync-cursor") { bytes in
            let text = text(bytes)
            let version = CalDAVVersion(text)
            try promise(CalDAVVersion(version.text) == version, "A version is read back: \(version.text)")
            if let cursor = GraphCursor(text) {
                try promise(GraphCursor(cursor.text) == cursor, "Graph's cursor is read back.")
            }
            if let etag = GoogleETag(text) { try promise(etag.text == text, "Google's tag has one spelling.") }
            guard let collection = DAVAddress("https://dav.example/cal/"),
                let cursor = CalDAVCursor(text, collection), let written = cursor.text(collection)
            else { return }
            try promise(CalDAVCursor(written, collection)?.text(collection) == written, "CalDAV's cursor is read back.")
        },
        Reader(name: "google-event") { bytes in
            guard let value = try? JSONValue(parsing: bytes) else { return }
            let events = ([value] + (value["items"]?.array ?? [])).compactMap { GoogleEvent($0) }
            guard let master = events.first else { return }
            _ = (master.mark, master.updatedAt, master.isUnfinished)
            let remote = GoogleUnit(master: master, exceptions: Array(events.dropFirst())).event
            guard case .entry(let entry) = remote.content else { return }
            let settled = entry.atGoogle().entry
            try promise(settled.atGoogle().entry == settled, "What Google holds is held unchanged.")
        },
        Reader(name: "google-batch") { bytes in
            let types = ["multipart/mixed; boundary=b", "multipart/mixed; boundary=\"batch_1\"", "application/json"]
            for type in types {
                let answer = ProviderAnswer(status: 200, headers: [("Content-Type", type)], body: bytes)
                if let answers = GoogleBatch.answers(answer, count: 3) {
                    try promise(answers.count == 3, "Each call has its answer, or none.")
                }
            }
            let failure = GoogleAnswer(ProviderAnswer(status: 403, body: bytes))
            _ = (failure.reason, failure.failure)
        },
        Reader(name: "graph-event") { bytes in
            guard let value = try? JSONValue(parsing: bytes) else { return }
            for json in [value] + (value["value"]?.array ?? []) {
                guard let event = GraphEvent(json), case .entry(let entry) = event.remote().content else { continue }
                _ = GraphExpression(entry)
            }
        },
        Reader(name: "oauth") { bytes in
            let now = Instant(seconds: 1_772_452_800)
            let answer = ProviderAnswer(status: 200, body: bytes)
            if let grant = try? TokenAnswer.grant(answer, wanted: ["a"], before: nil, now: now) {
                try promise(OAuthGrant(unsealedBytes: grant.unsealedBytes()) == grant, "A grant is read back.")
                try promise(grant.expiresAt > now, "A grant does not end at once.")
            }
            _ = TokenAnswer.failure(ProviderAnswer(status: 400, body: bytes))
            if let grant = OAuthGrant(unsealedBytes: bytes) {
                try promise(OAuthGrant(unsealedBytes: grant.unsealedBytes()) == grant, "A grant is read back.")
            }
        },
        Reader(name: "percent") { bytes in
            let text = text(bytes)
            try promise(PercentEncoding.decode(PercentEncoding.encode(text)) == text, "What is encoded is decoded.")
            guard let decoded = PercentEncoding.decode(text) else { return }
            // Foundation leaves out a byte order mark at the beginning.
            try promise("/\(text)".removingPercentEncoding == "/\(decoded)", "Foundation decodes the same.")
        },
        Reader(name: "notes") { bytes in
            let text = text(bytes)
            let kept = GoogleText.kept(text)
            try promise(
                GoogleText.read(GoogleText.written(kept)).utf8.count <= max(64, text.utf8.count * 6),
                "It stays bounded.")
            _ = (GraphText.line(text), GraphText.body(text), GraphZones.identifier(of: text))
        },
        Reader(name: "openid", check: openID),
    ]

    /// What a sign-in provider says about itself, its keys and a person.
    private static func openID(_ bytes: [UInt8]) throws {
        if let user = ProviderSignIn.userID(text(bytes)) {
            // Rows of colons tell what the claim was.
            let parts = user.replacing("::", with: "\0").replacing(":", with: "@").replacing("\0", with: ":")
            try promise(parts.utf8.elementsEqual(bytes), "A user is of one claim: \(user)")
        }
        guard let document = try? JSONValue(parsing: bytes), let members = document.object else { return }
        if let metadata = try? OpenIDMetadata(document, of: issuer) {
            let addresses = [metadata.authorizeURL, metadata.tokenURL, metadata.keysURL]
            for address in addresses + [metadata.userInfoURL, metadata.endSessionURL].compactMap(\.self) {
                try promise(
                    ["https://", "http://"].contains { address.hasPrefix($0) } && TokenSettings.isSafe(address),
                    "An address is one of the web: \(address)")
            }
        }
        if let key = VerifyingKey(jwk: document, leastBits: 2048) {
            try promise(key.algorithm != .hs256, "No published key is a secret.")
        }
        let now = 1_772_452_800_000
        let attempt = ProviderAttempt(.session, to: "/app", session: nil, now: now)
        // The rest of what a token has to say is for the input.
        let claims = JSONValue.object(members.merging(["nonce": .string(attempt.nonce.reveal())]) { $1 })
        let parts = [Array(#"{"alg":"RS256"}"#.utf8), try claims.serialized(), [1]].map { Base64URL.encode($0) }
        guard let token = SignedToken(Concealed(parts.joined(separator: ".")), longest: .max),
            let read = try? IDToken(
                token, by: OpenIDSettings(issuer: issuer, clientID: "kalends"), for: attempt,
                with: Concealed("access"), now: now)
        else { return }
        try promise((1...255).contains(read.subject.utf8.count), "A subject has a limit.")
        try promise((0...now).contains(read.provedAt), "Nobody proved who they are in the future: \(read.provedAt)")
    }

    private static let issuer = "https://login.example"

    private static let base = DAVAddress("https://dav.example/calendars/a/")

    /// An object is read, and an edit of it is an object again.
    private static func object(_ bytes: [UInt8]) throws {
        if let tree = ObjectTree(bytes) {
            let again = ObjectTree(tree.text)
            try promise(again?.text == tree.text, "A tree is read back.")
        }
        guard let object = try? CalendarObject(bytes, floatingZone: "Europe/Berlin") else { return }
        _ = object.seen
        guard case .success(let entry) = object.entry else { return }
        var other = entry
        other.title += " 2"
        let mark = EventMark(installation: "i", connection: "c", circle: "o", item: ItemKey(.tasks, "t"), generation: 0)
        let stamp = ObjectStamp(uid: object.uid, mark: mark, now: Instant(seconds: 1_772_452_800), sequence: 1)
        guard let text = ObjectEdit(theirs: object, from: entry, to: other, stamp: stamp).text() else { return }
        guard let edited = try? CalendarObject(text, floatingZone: "Europe/Berlin"), case .success = edited.entry else {
            throw BrokenPromise(description: "An edited object is not read:\n\(String(decoding: text, as: UTF8.self))")
        }
    }
}
