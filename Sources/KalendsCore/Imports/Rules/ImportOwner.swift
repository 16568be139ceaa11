// SPDX-License-Identifier: Apache-2.0

import Storage

/// Who imports events into a circle, a person with a file or a followed calendar: the events go to the importer's own
/// sources (for a person also the shared one), and events of other sources stay as they are.
struct ImportOwner: Sendable {
    enum Kind: Hashable, Sendable {
        /// A file imported by this user; nil for the host application.
        case person(String?)
        /// A followed calendar, whose private events belong to this user.
        case subscription(String, of: String?)
    }

    /// The source that an event of a file belongs to.
    struct Home: Sendable {
        var source: EventSource
        /// The same person's other source, from which the event is removed.
        var former: EventSource?
        /// The user who sees the event; nil for everybody, empty for nobody.
        var visibleTo: String?
    }

    let kind: Kind
    let todos: ToDoChoice
    let index: ImportIndex
    /// The circle in the state on which the decisions are based.
    let circle: Circle
    let sources: [EventSource: EventSourceState]
    /// Whether a followed calendar belongs to a person who has left the circle, so that nobody sees its private events.
    let hasLeft: Bool
    private var homes: [ByteString: Home] = [:]
    private var taken: Set<ByteString> = []
    /// The private events of a person's file that stay visible to everybody from an earlier import.
    private var stillShared: Set<ByteString> = []
    private var asked: Set<ImportIndex.Key> = []

    init(
        _ kind: Kind, _ index: ImportIndex, _ circle: Circle, todos: ToDoChoice = .keep,
        in transaction: any ReadTransaction
    ) throws {
        (self.kind, self.index, self.circle, self.todos) = (kind, index, circle, todos)
        sources = try transaction.eventSources(in: circle.id)
        hasLeft =
            if case .subscription(_, let user?) = kind {
                try transaction.member(user, in: circle.id) == nil
            } else {
                false
            }
    }

    var user: String? {
        switch kind {
        case .person(let user), .subscription(_, let user): user
        }
    }

    var isSubscription: Bool {
        switch kind {
        case .person: false
        case .subscription: true
        }
    }

    /// The sources in which events are looked up: this owner's, and those whose events a calendar must not add again.
    var known: [EventSource] {
        switch kind {
        case .person(let user): [.shared, .own(user)] + (todos == .tasks ? [.tasks] : [])
        case .subscription(let id, _): [.subscription(id), .shared]
        }
    }

    func home(of uid: String) -> Home { homes[ByteString(uid)] ?? usualHome(uid) }

    /// Whether feeds already show another event under this UID to everybody who would see this one.
    func isTaken(_ uid: String) -> Bool { taken.contains(ByteString(uid)) }

    /// Whether a private event of a person's file stays visible to everybody under this UID from an earlier import.
    func isStillShared(_ uid: String) -> Bool { stillShared.contains(ByteString(uid)) }

    private func usualHome(_ uid: String) -> Home {
        let audience = index.isPrivate(uid) ? user ?? "" : nil
        return switch kind {
        case .person(let user): Home(source: audience == nil ? .shared : .own(user), visibleTo: audience)
        case .subscription(let id, _): Home(source: .subscription(id), visibleTo: audience)
        }
    }

    /// Looks up what decides the places of some events, except for those looked up before.
    mutating func look(_ all: [String], _ store: any Store) async throws {
        // Nothing that is stored could decide anything.
        guard sources.contains(where: { $0.value.events > 0 }) else { return }
        let uids = all.filter { asked.insert(ImportIndex.Key(uid: $0, recurrenceID: "")).inserted }
        if case .person(let user) = kind { try await lookForFormer(uids, user, store) }
        for (audience, group) in Dictionary(grouping: uids, by: { home(of: $0).visibleTo == nil }) {
            try await lookForSameUIDEvents(group, isPublic: audience, store)
        }
    }

    /// Decides which events move from their importer's private source to the shared one or back, and which tasks become
    /// private to-dos; an event moves with all of its components.
    private mutating func lookForFormer(
        _ uids: [String], _ user: String?, _ store: any Store
    ) async throws {
        let own = EventSource.own(user)
        if (sources[own]?.events ?? 0) > 0 {
            for found in try await counts(uids, of: own, store)
            where !index.privateUIDs.contains(found.uid) {
                // A component of a private series stays with the series.
                let isWhole = try await has(found.uid, own, store)
                homes[found.uid] =
                    isWhole ? Home(source: .shared, former: own) : Home(source: own, visibleTo: user ?? "")
            }
        }
        let hidden = uids.filter { index.isPrivate($0) }
        guard !hidden.isEmpty else { return }
        for source in known where source != own && (sources[source]?.events ?? 0) > 0 {
            for found in try await counts(hidden, of: source, store) {
                // Nobody may hide an event that somebody else imported too.
                guard found.importers == 1, found.importer == user, try await has(found.uid, source, store) else {
                    stillShared.insert(found.uid)
                    continue
                }
                homes[found.uid] = Home(source: own, former: source, visibleTo: user ?? "")
            }
        }
    }

    /// Returns how many components of some events are stored, and who imported them.
    func counts(
        _ uids: [String], of source: EventSource, _ store: any Store
    ) async throws -> [(uid: ByteString, count: Int, importers: Int, importer: String?)] {
        try await store.read { [circle] in try $0.componentCounts(uids, of: source, in: circle) }
    }

    /// Whether the file contains all components of a stored event.
    private func has(_ uid: ByteString, _ source: EventSource, _ store: any Store) async throws -> Bool {
        var last = ImportedEventRecord.Key(source, uid: uid.string, recurrenceID: "")
        // This is the series itself, which the search for further components does not find.
        let whole = last
        let first = try await store.read { [circle] in
            try $0.importedVersions([(uid.string, "")], of: [source], in: circle)[whole]
        }
        if first?.isLive == true, !index.contains(last) { return false }
        while true {
            let position = last
            let page = try await store.read { [circle] in
                try $0.importedKeys(of: source, in: circle, after: position, limit: 200)
            }
            for key in page {
                guard key.uid == uid else { return true }
                guard index.contains(key) else { return false }
                last = key
            }
            if page.count < 200 { return true }
        }
    }

    private mutating func lookForSameUIDEvents(
        _ uids: [String], isPublic: Bool, _ store: any Store
    ) async throws {
        guard let source = uids.first.map({ home(of: $0).source }),
            sources.contains(where: { $0.key != source && $0.value.events > 0 })
        else { return }
        let viewer = isPublic ? nil : user
        let others = try await store.read { [circle] in
            try $0.sameUIDEvents(uids, of: source, visibleTo: viewer, in: circle)
        }
        for other in others {
            guard other.shownUID == nil, homes[other.uid]?.former != other.source else { continue }
            if isPublic, other.visibleTo != nil { continue }
            taken.insert(other.uid)
        }
    }
}
