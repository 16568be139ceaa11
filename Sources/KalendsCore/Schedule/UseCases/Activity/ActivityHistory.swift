// SPDX-License-Identifier: Apache-2.0

import Storage

/// What is kept about a circle's changes, within one transaction and as far as a caller may see it.
struct ActivityHistory {
    private let circle: AuthorizedCircle
    private let kinds: ItemKinds
    private let keptDays: Int
    private let now: Int
    /// The number of the last change for which nothing is kept any more.
    private let floor: Int
    /// Since when the caller could see the circle; 0 for its owners and the installation.
    private let since: Int
    private static let day = 86_400_000

    /// - Parameter keptDays: for how many days what was there before a change is kept.
    init(_ circle: AuthorizedCircle, _ kinds: ItemKinds, keptDays: Int, now: Int) throws {
        (self.circle, self.kinds, self.keptDays, self.now) = (circle, kinds, keptDays, now)
        floor = try circle.transaction.keptFloor(in: circle.id)
        since = circle.member.map { $0.role == .owner ? 0 : $0.createdAt } ?? 0
    }

    private var transaction: any ReadTransaction { circle.transaction }

    /// Until when what was before a change is kept.
    private func end(of change: CircleChange) -> Int { change.at + keptDays * Self.day }

    func isKept(_ change: CircleChange) -> Bool { now < end(of: change) && change.number > floor }

    /// Whether the caller belonged to the circle then: nobody learns what was there before they came.
    func isShown(_ change: CircleChange) -> Bool { change.at >= since }

    func entries(_ changes: [CircleChange]) throws -> [Activity.Entry] {
        let numbers = changes.map(\.number)
        guard let first = numbers.min(), let last = numbers.max() else { return [] }
        let undone = try transaction.undone(first...last, in: circle.id)
        return try changes.map { try entry($0, undoneBy: undone[$0.number]) }
    }

    private func entry(_ change: CircleChange, undoneBy: Int?) throws -> Activity.Entry {
        var entry = Activity.Entry(change: change, undoneBy: undoneBy)
        if change.subject == .event, isKept(change), isShown(change), let kept = try keptEvent(of: change) {
            entry.before = try kept.past()
            entry.after = try eventAfter(change, kept).flatMap { try $0.past() }
            if undoneBy == nil { entry.undoableUntil = end(of: change) }
        }
        guard let place = ItemPlace(change, kinds) else { return entry }
        if isShown(change) {
            let item = try transaction.itemEverKnown(place.id, place.kind.collection, in: circle.id)
            entry.item = try item.flatMap { $0.isEmptied ? nil : try place.kind.init(stored: $0.content) }
            entry.isThere = item.map { $0.deletedAt == nil } ?? false
        }
        guard isKept(change), isShown(change) else { return entry }
        let kept = try kept(of: change, place)
        entry.partOf = kept.flatMap { $0.cause == change.number ? nil : $0.cause }
        entry.before = try kept?.content.map { try place.content($0) }
        entry.after = try after(change, place).map { try place.content($0) }
        let isWhole = change.kind == .created || kept?.content != nil
        if isWhole, entry.partOf == nil, undoneBy == nil { entry.undoableUntil = end(of: change) }
        return entry
    }

    /// Returns what was kept from a change of an imported event; nil for what is not kept any more.
    func keptEvent(of change: CircleChange) throws -> KeptEvent? {
        guard let uid = change.id,
            let found = try transaction.keptEvents(of: uid, in: circle.id, after: change.number - 1, limit: 1).first
        else { return nil }
        return found.number == change.number ? found.kept : nil
    }

    /// Returns an imported event as a change left it; nil if it was gone, or what it was then is not known.
    private func eventAfter(_ change: CircleChange, _ kept: KeptEvent) throws -> KeptEvent? {
        guard kept.after != nil, let uid = change.id else { return nil }
        var (number, next) = (change.number, KeptEvent?.none)
        // One at a time: each may have a mebibyte before and after.
        for _ in 0..<Self.mostLookedAt {
            guard let one = try transaction.keptEvents(of: uid, in: circle.id, after: number, limit: 1).first else {
                break
            }
            number = one.number
            if let own = one.kept, own.source == kept.source {
                next = own
                break
            }
        }
        let found =
            try next
            ?? KeptEvent(try transaction.components(of: uid, from: kept.source, in: circle.circle), replacedBy: [])
        return found.isAsLeft(by: kept) ? found : nil
    }

    /// Returns what the item or occurrence held after a change: what was there before the next one, or is there now.
    func after(_ change: CircleChange, _ place: ItemPlace) throws -> String? {
        guard change.kind != .deleted else { return nil }
        return try next(after: change.number, place).map(\.content) ?? current(place)
    }

    /// Returns what was kept from a change.
    func kept(of change: CircleChange, _ place: ItemPlace) throws -> KeptContent? {
        try next(after: change.number - 1, place).flatMap { $0.number == change.number ? $0 : nil }
    }

    /// Returns what was kept from the next change of an item or occurrence after a number.
    func next(after number: Int, _ place: ItemPlace) throws -> KeptContent? {
        try transaction.keptContents(
            of: place.id, place.kind.collection, part: place.part, in: circle.id, after: number, limit: 1
        ).first
    }

    /// Returns what the item or occurrence holds now; nil if it does not exist.
    func current(_ place: ItemPlace) throws -> String? {
        guard place.part.isEmpty else {
            return try transaction.occurrence(place.part, of: place.id, in: circle.id)?.content
        }
        return try transaction.item(place.id, place.kind.collection, in: circle.id)?.content
    }

    /// Returns the first change after another one that is in the way of undoing it.
    ///
    /// - Parameter fields: the fields that must not have changed; nil for any change.
    func culprit(after number: Int, _ place: ItemPlace, _ fields: Set<ByteString>?) throws -> CircleChange? {
        guard let fields else {
            return try transaction.firstChange(
                of: place.id, place.kind.collection, part: place.part.isEmpty ? nil : place.part, in: circle.id,
                after: number)
        }
        let later = try transaction.keptContents(
            of: place.id, place.kind.collection, part: place.part, in: circle.id, after: number,
            limit: Self.mostLookedAt)
        let found = try later.indices.first { index in
            let next = index + 1 < later.count ? later[index + 1].content : try current(place)
            guard let before = later[index].content, let next else { return true }
            return try !StoredFields(before).agrees(with: StoredFields(next), on: fields)
        }
        guard let found else { return try culprit(after: number, place, nil) }
        return try transaction.change(later[found].number, in: circle.id, seenBy: nil)
    }

    /// How many later changes of an item are looked at for one that is in the way.
    private static let mostLookedAt = 100
}

/// The item, or the occurrence of a series, that a change concerns.
struct ItemPlace: Sendable {
    let kind: any ItemContent.Type
    let id: String
    /// The original start of an occurrence; empty for the item itself.
    let part: String

    init(_ kind: any ItemContent.Type, _ id: String, part: String = "") {
        (self.kind, self.id, self.part) = (kind, id, part)
    }

    /// Nil for a change of something else, and of a kind of items that the server does not have.
    init?(_ change: CircleChange, _ kinds: ItemKinds) {
        guard change.subject == .item || change.subject == .occurrence, let id = change.id,
            let kind = change.collection.flatMap({ kinds[ScheduleItem.Collection(rawValue: $0)] })
        else { return nil }
        self.init(kind, id, part: change.part ?? "")
    }

    /// Reads what was stored; throws `StorageError` for what this version does not understand.
    func content(_ text: String) throws -> PastContent {
        part.isEmpty ? .item(try kind.init(stored: text)) : .occurrence(try OccurrenceContent(stored: text))
    }
}
