// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// The fields that a write should have changed, but that are as before, at other times, or only partly written.
struct UnwrittenFields {
    var fields: Set<EntryField>
    /// Whether the calendar has taken some of it.
    var isCut = false

    var areTimes: Bool { !fields.isDisjoint(with: Self.ofTimes) }

    /// A sentence for people.
    var sentence: String {
        guard !areTimes else { return "The calendar shows other times than were written." }
        let names = inOrder.map(\.rawValue).joined(separator: ", ")
        return isCut
            ? "The calendar keeps less than was written: \(names)."
            : "The calendar keeps what it had, whatever is written: \(names)."
    }

    var inOrder: [EntryField] { EntryField.allCases.filter(fields.contains) }

    private static let ofTimes: Set<EntryField> = [.times, .recurrence, .existence]
}

extension Agreement {
    /// Makes the parts in which a write fell short differ from what both sides agree on, and returns their fields; nil
    /// where all was written. On our side those parts differ that are as they were before, on theirs those times that
    /// somebody has changed since.
    ///
    /// - Parameter inTexts: whether fields count that have nothing to do with when it takes place.
    mutating func takeDifferences(
        from before: Entry?, to wanted: Entry, there: Entry, inTexts: Bool
    ) -> UnwrittenFields? {
        let our = ours.canonical
        var missing: Set<EntryField> = []
        var changed = our
        if let before, inTexts {
            for field in there.unwritten(EntryField.ofEvents.filter { !$0.isOfTimes }, from: before, to: wanted) {
                changed.take(field, of: there)
                missing.insert(field)
            }
        }
        if there.repeats(like: wanted) {
            for start in Set(there.occurrences.keys).union(wanted.occurrences.keys)
                .union(before?.occurrences.keys.map { $0 } ?? [])
            {
                if there.takesPlace(like: wanted, at: start) {
                    guard inTexts, let before, let was = before.effective(at: start),
                        let now = there.effective(at: start),
                        let meant = wanted.effective(at: start)
                    else { continue }
                    // An occurrence that has its text from the series is not written by itself.
                    let (plain, meantPlain) = (there.plain(at: start), wanted.plain(at: start))
                    for field in now.unwritten(EntryField.ofOccurrences.filter { !$0.isOfTimes }, from: was, to: meant)
                    where now[field] != plain[field] || meant[field] != meantPlain[field] {
                        var occurrence = changed.effective(at: start) ?? meant
                        occurrence.take(field, of: now)
                        changed.occurrences[start] = .changed(occurrence)
                        missing.insert(field)
                    }
                } else {
                    missing.insert(.times)
                    if let before, there.takesPlace(like: before, at: start) {
                        changed.occurrences[start] = there.occurrences[start] ?? .changed(there.plain(at: start))
                    } else {
                        theirs.occurrences[start] = wanted.occurrences[start] ?? .changed(wanted.plain(at: start))
                    }
                }
            }
        } else {
            missing.insert(.times)
            if let before, there.repeats(like: before) {
                changed.take(.times, of: there)
                changed.take(.recurrence, of: there)
                changed.occurrences = there.occurrences
            } else {
                theirs.take(.times, of: wanted)
                theirs.take(.recurrence, of: wanted)
                theirs.occurrences = wanted.occurrences
            }
        }
        guard !missing.isEmpty else { return nil }
        ours = changed
        return UnwrittenFields(fields: missing)
    }
}

extension EntryField {
    fileprivate var isOfTimes: Bool { self == .times || self == .recurrence }
}

extension Entry {
    /// Returns those fields that are as they were before a write that was to change them. Different blanks are not a change:
    /// many servers have their own.
    fileprivate func unwritten(_ fields: [EntryField], from before: Entry, to wanted: Entry) -> [EntryField] {
        fields.filter {
            self[$0] == before[$0] && wanted[$0] != before[$0]
                && wanted[$0].withoutBlanks != before[$0].withoutBlanks
        }
    }
}

extension Entry {
    /// Returns the fields of which this entry, as it is after a write, has only the beginning or nothing; nil if no
    /// field was cut.
    ///
    /// - Parameter before: what was there before the write; nil for a new event.
    func cut(of wanted: Entry, from before: Entry?) -> UnwrittenFields? {
        var fields = Set(
            EntryField.ofEvents.filter { wanted[$0] != before?[$0] && self[$0].isLess(than: wanted[$0]) })
        if before == nil { fields.formUnion([.status, .availability].filter { self[$0] != wanted[$0] }) }
        for start in wanted.occurrences.keys {
            guard let meant = wanted.effective(at: start), let now = effective(at: start) else { continue }
            let (plain, was) = (wanted.plain(at: start), before?.effective(at: start))
            fields.formUnion(
                EntryField.ofOccurrences.filter {
                    meant[$0] != plain[$0] && meant[$0] != was?[$0] && now[$0].isLess(than: meant[$0])
                })
        }
        return fields.isEmpty ? nil : UnwrittenFields(fields: fields, isCut: true)
    }
}

extension Link {
    /// Notes what the calendar keeps as it was, or in part.
    mutating func note(_ unwritten: UnwrittenFields?) {
        (self.unwritten, unwrittenFields) = (unwritten?.sentence, unwritten?.inOrder)
    }

    /// Keeps what an earlier write could not write, where both sides still have what they had of all in which they differ.
    ///
    /// - Parameter former: the link before the write.
    mutating func keepUnwritten(of former: Link) {
        guard let unwritten = former.unwritten, let known = former.agreed, let agreed else { return }
        let differing = EntryField.ofEvents.filter { known.ours[$0] != known.theirs[$0] }
        let isAsItWas = differing.allSatisfy { field in
            agreed.ours[field] == known.ours[field] && agreed.theirs[field] == known.theirs[field]
        }
        guard isAsItWas, known.ours.canonical.occurrences == agreed.ours.canonical.occurrences else { return }
        let all = (former.unwrittenFields ?? []) + (unwrittenFields ?? [])
        unwrittenFields = EntryField.allCases.filter(all.contains)
        guard let now = self.unwritten, !unwritten.contains(now) else {
            self.unwritten = unwritten
            return
        }
        if !now.contains(unwritten) { self.unwritten = "\(unwritten) \(now)" }
    }
}

extension FieldValue {
    /// Whether a text is only the beginning of another one, but for blanks, or reminders are only some of others.
    fileprivate func isLess(than other: FieldValue) -> Bool {
        switch (self, other) {
        case (.text, .text):
            guard case .text(let own) = withoutBlanks, case .text(let whole) = other.withoutBlanks else { return false }
            return own.utf8.count < whole.utf8.count && whole.utf8.starts(with: own.utf8)
        case (.reminders(let own), .reminders(let all)): return own.count < all.count && own.allSatisfy(all.contains)
        default: return false
        }
    }

    fileprivate var withoutBlanks: FieldValue {
        guard case .text(let text) = self else { return self }
        return .text(text.filter { !$0.isWhitespace })
    }
}
