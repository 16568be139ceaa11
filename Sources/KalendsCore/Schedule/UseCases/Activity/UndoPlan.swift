// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// What has to be stored so that a change is undone, worked out from what is stored.
struct UndoPlan: Sendable {
    let place: ItemPlace
    /// What the item or the occurrence will hold; nil when it will not exist.
    let content: String?
    /// The occurrences that come back with their series, by their original starts.
    let occurrences: [(start: Instant, content: String)]

    /// Throws 404 for a change that does not exist, 410 for one that is too old, and 409 for one that was undone, that
    /// cannot be undone by itself, or after which somebody changed the same.
    ///
    /// - Parameter keptDays: for how many days what was there before a change is kept.
    init(_ number: Int, in circle: AuthorizedCircle, _ kinds: ItemKinds, keptDays: Int, now: Int) throws {
        let undoable = try UndoableChange(number, in: circle, kinds, keptDays: keptDays, now: now)
        let (change, history) = (undoable.change, undoable.history)
        guard let place = ItemPlace(change, kinds) else { throw UndoableChange.fault(of: change.subject) }
        let kept = try history.kept(of: change, place)
        guard change.kind == .created || kept?.content != nil else { throw Refusal.notKept(keptDays) }
        if let cause = kept?.cause, cause != number {
            throw Refusal.undoState("This came with another change of the series; undo that one.", .part(of: cause))
        }
        let look = Look(change: change, place: place, before: kept?.content, history: history, circle: circle)
        self.place = place
        content = try look.content()
        occurrences = try look.occurrences()
    }
}

/// A change for which enough is kept to undo it.
struct UndoableChange {
    let change: CircleChange
    let history: ActivityHistory

    /// Throws as `UndoPlan` does.
    init(_ number: Int, in circle: AuthorizedCircle, _ kinds: ItemKinds, keptDays: Int, now: Int) throws {
        let transaction = circle.transaction
        guard let change = try transaction.change(number, in: circle.id, seenBy: circle.user) else {
            let (oldest, _) = try transaction.changeNumbers(in: circle.id)
            throw number < oldest ? Refusal.notKept(keptDays) : Refusal.missing(.change)
        }
        guard change.subject == .event || ItemPlace(change, kinds) != nil else { throw Self.fault(of: change.subject) }
        if let undone = try transaction.undone(number...number, in: circle.id)[number] {
            throw Refusal.undoState("This change was undone already.", .undone(by: undone))
        }
        (self.change, history) = (change, try ActivityHistory(circle, kinds, keptDays: keptDays, now: now))
        guard history.isShown(change) else {
            throw Refusal(
                .forbidden, code: .roleInsufficient, detail: "This was changed before you belonged to the circle.")
        }
        guard history.isKept(change) else { throw Refusal.notKept(keptDays) }
    }

    static func fault(of subject: CircleChange.Subject) -> Refusal {
        switch subject {
        case .fileImport: .undoState("This was an import; undo the import itself.")
        default:
            .undoState("Only changes of items, of their occurrences and of single imported events can be undone.")
        }
    }
}

/// A change that may be undone, with what is known about it.
private struct Look {
    let change: CircleChange
    let place: ItemPlace
    let before: String?
    let history: ActivityHistory
    let circle: AuthorizedCircle

    /// Returns what will be stored; throws 409 if the item or the occurrence is not as the change left it.
    func content() throws -> String? {
        let (after, current) = (try history.after(change, place), try history.current(place))
        guard let before, let after else {
            // It came, or it went: it must be as it was then.
            guard current == after else { throw try changedSince(nil) }
            return before
        }
        guard let current else { throw try changedSince(nil) }
        let (old, new) = (try StoredFields(before), try StoredFields(after))
        var now = try StoredFields(current)
        let fields = old.changed(to: new)
        guard now.agrees(with: new, on: fields) else { throw try changedSince(fields) }
        now.take(fields, from: old)
        return try now.text()
    }

    /// Returns the occurrences that come back with their series; throws 409 if somebody changed one of those that came
    /// or went with it.
    func occurrences() throws -> [(start: Instant, content: String)] {
        guard place.part.isEmpty, place.kind.collection == .appointments else { return [] }
        let transaction = circle.transaction
        let known = Dictionary(
            uniqueKeysWithValues: try transaction.occurrences(of: place.id, in: circle.id).map {
                (ByteString($0.originalStart), $0.content)
            })
        let parts = try transaction.keptContents(
            of: place.id, place.kind.collection, causedBy: change.number, in: circle.id)
        var (found, expected): ([(Instant, String)], Set<ByteString>) = ([], [])
        for part in parts {
            let own = ItemPlace(place.kind, place.id, part: part.part)
            let current = known[ByteString(part.part)]
            if let content = part.content, let start = Instant(basic: part.part) {
                guard current == nil else { throw try changedSince(nil, own) }
                found.append((start, content))
            } else {
                guard try history.next(after: part.number, own).map(\.content) ?? history.current(own) == current
                else {
                    throw try changedSince(nil, own)
                }
                expected.insert(ByteString(part.part))
            }
        }
        // With an item that came, everything would go that was added to it.
        if change.kind == .created, let more = known.keys.first(where: { !expected.contains($0) }) {
            throw try changedSince(nil, ItemPlace(place.kind, place.id, part: more.string))
        }
        return found
    }

    private func changedSince(_ fields: Set<ByteString>?, _ own: ItemPlace? = nil) throws -> Refusal {
        .changedSince(
            by: try history.culprit(after: change.number, own ?? place, fields),
            try CircleNames(circle.id, in: circle.transaction))
    }
}

extension Refusal {
    static func notKept(_ days: Int) -> Refusal {
        Refusal(
            .gone, code: .changesForgotten,
            detail: "What was there before this change is no longer kept: changes can be undone for \(days) days.")
    }

    fileprivate static func undoState(_ detail: String, _ extra: Extra? = nil) -> Refusal {
        conflict(detail, code: .undoState, extra: extra)
    }

    /// - Parameter change: what is in the way; nil if that is no longer known.
    static func changedSince(by change: CircleChange?, _ names: CircleNames) -> Refusal {
        guard let change else {
            return conflict("This was changed since, so it cannot be undone.", code: .changedSince)
        }
        let when = Instant(milliseconds: change.at).rfc3339(offset: 0)
        return conflict(
            "\(names.author(change.author)) changed this since, at \(when), so it cannot be undone.",
            code: .changedSince, extra: .changed(by: change.author, at: change.at, number: change.number))
    }
}

extension CircleNames {
    /// Returns how an author of changes is called at the start of a sentence.
    fileprivate func author(_ author: String?) -> String {
        switch author.map({ ChangeAuthor.Who($0) }) {
        case .user(let id): member(id)
        case .key: "The host application"
        case .operatorAtHand: "The operator"
        case nil: "The server"
        }
    }
}
