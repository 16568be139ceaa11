// SPDX-License-Identifier: Apache-2.0

import Crypto
import FeedTokens
import ICalBridge
import Storage

/// What an imported event was before somebody changed it by itself, kept so that the change can be shown and undone.
struct KeptEvent: JSONFormed {
    /// The series itself, or one of its occurrences, as its row has it.
    struct Component: JSONFormed {
        /// Empty for the series itself.
        var recurrenceID = ""
        var content = ""
        var shownUID: String?
        var fileSequence = 0
        var fileModifiedAt: Int?
        var createdAt = 0

        static let form = JSONForm<Self>([
            .init("recurrenceId", \.recurrenceID), .init("content", \.content), .optional("shownUid", \.shownUID),
            .init("fileSequence", \.fileSequence), .optional("fileModifiedAt", \.fileModifiedAt),
            .init("createdAt", \.createdAt),
        ])

        init() {}

        init(_ record: ImportedEventRecord) {
            (recurrenceID, content, shownUID) = (record.recurrenceID, record.content, record.shownUID)
            (fileSequence, fileModifiedAt, createdAt) = (record.fileSequence, record.fileModifiedAt, record.createdAt)
        }

        func event() throws -> Event {
            var reader = PackReader(Array(content.utf8))
            return try reader.event()
        }
    }

    /// Who brought it in; an erasure finds the name by which other kept contents have an owner, too.
    var ownerID: String?
    /// Whether only that person sees it.
    var isPrivate = false
    /// Empty if it was not there.
    var components: [Component] = []
    /// A digest of what was there afterwards; nil for nothing.
    var after: String?

    static let form = JSONForm<Self>([
        .optional("ownerId", \.ownerID), .init("isPrivate", \.isPrivate), .init("components", \.components),
        .optional("after", \.after),
    ])

    init() {}

    /// - Parameters:
    ///   - old: the rows before, and `new` those afterwards, at least one of them with a row.
    init(_ old: [ImportedEventRecord], replacedBy new: [ImportedEventRecord]) {
        ownerID = (old + new).first?.importedBy
        isPrivate = (old + new).first.map { $0.source == .own($0.importedBy) } ?? false
        components = old.map(Component.init)
        after = Self.digest(new.map(Component.init))
    }

    var source: EventSource { isPrivate ? .own(ownerID) : .shared }

    /// Whether it was there before the change, and not afterwards.
    var isRemoval: Bool { !components.isEmpty && after == nil }

    /// Nil if it was not there.
    func past() throws -> PastContent? {
        components.isEmpty ? nil : .event(try components.map { try $0.event() })
    }

    /// Whether these components are those that a change left.
    func isAsLeft(by change: KeptEvent) -> Bool {
        switch (Self.digest(components), change.after) {
        case (nil, nil): true
        case (let own?, let left?): own.isSameText(as: left)
        default: false
        }
    }

    /// Returns a digest that tells whether an event is still as a change left it; nil for one that is not there.
    private static func digest(_ components: [Component]) -> String? {
        guard !components.isEmpty else { return nil }
        let parts = components.sorted { $0.recurrenceID.isTextBefore($1.recurrenceID) }
            .map { "\($0.recurrenceID)\u{0}\($0.content)" }
        return ContentHash(of: SHA256.hash(data: Array(parts.joined(separator: "\u{0}").utf8))).text
    }
}

extension ReadTransaction {
    /// Returns the rows of an imported event of one source as the circle shows them.
    func components(of uid: String, from source: EventSource, in circle: Circle) throws -> [ImportedEventRecord] {
        try importedEvents(uids: [uid], in: circle).filter { $0.source == source }
    }

    /// Returns what was kept from changes of an imported event after a number, in order; nil for what an erasure took.
    func keptEvents(
        of uid: String, in circle: String, after number: Int, limit: Int
    ) throws -> [(number: Int, kept: KeptEvent?)] {
        try keptContents(of: uid, KeptContent.events, part: "", in: circle, after: number, limit: limit).map {
            ($0.number, try $0.content.map { try KeptEvent(stored: $0) })
        }
    }
}
