// SPDX-License-Identifier: Apache-2.0

/// The tokens of RFC 6578: URIs of a collection, the number of its latest change, and the mark of the database, which a
/// restore changes. They are stored in no table.
///
/// The text that a program makes from a circle or a feed also has the version of its renderer: another one may give an
/// unchanged resource another text, so it answers no token of this one, and lists all tags.
package struct SyncTokens: Sendable {
    /// The scheme and the mark, with which each of them begins: no address, which may change.
    private let start: String
    private let renderer: Int

    package init(databaseID: String, renderer: Int = FeedRenderer.version) {
        (start, self.renderer) = ("data:,\(databaseID)", renderer)
    }

    /// - Parameter number: of the last change that the client knows; the collection's latest unless one is given.
    package func token(of collection: CalendarCollection, at number: Int? = nil) -> String {
        "\(start)/\(text(of: collection.kind))/\(number ?? collection.number)"
    }

    private func text(of kind: CalendarCollection.Kind) -> String {
        if case .own = kind { kind.identity } else { "\(renderer)-\(kind.identity)" }
    }

    /// Returns the number in a token; nil for an empty one, with which a client begins.
    ///
    /// - Throws: `CollectionFault.invalidSyncToken` for a token of another collection, of another database, or from
    ///   before a restore.
    package func number(in token: String, of collection: CalendarCollection) throws(CollectionFault) -> Int? {
        let token = token.withoutOuterBlanks
        if token.isEmpty { return nil }
        let parts = token.pieces(separatedBy: "/").map { String($0) }
        guard parts.count == 3, parts[0] == start, parts[1] == text(of: collection.kind), let number = Int(parts[2]),
            number >= 0
        else { throw .invalidSyncToken }
        return number
    }
}

extension CalendarCollection.Kind {
    /// A text without slashes that no other collection has.
    var identity: String {
        switch self {
        case .events(let circle): "events-" + PercentEncoding.encode(circle)
        case .tasks(let circle): "tasks-" + PercentEncoding.encode(circle)
        case .own(let id): "own-" + PercentEncoding.encode(id)
        case .feed(let id): "feed-" + PercentEncoding.encode(id)
        }
    }
}
