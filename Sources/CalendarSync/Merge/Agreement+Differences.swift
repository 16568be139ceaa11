// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// What a write was to change, and is there as it was before, or at other times.
struct UnwrittenFields {
    var fields: Set<EntryField>

    var areTimes: Bool { !fields.isDisjoint(with: Self.ofTimes) }

    /// A sentence for people.
    var sentence: String {
        guard !areTimes else { return "The calendar shows other times than were written." }
        let names = EntryField.allCases.filter(fields.contains).map(\.rawValue).joined(separator: ", ")
        return "The calendar keeps what it had, whatever is written: \(names)."
    }

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
    /// Returns those fields that are as they were before a write that was to change them. Other blanks are no change: many
    /// servers have their own.
    fileprivate func unwritten(_ fields: [EntryField], from before: Entry, to wanted: Entry) -> [EntryField] {
        fields.filter {
            self[$0] == before[$0] && wanted[$0] != before[$0]
                && wanted[$0].withoutBlanks != before[$0].withoutBlanks
        }
    }
}

extension FieldValue {
    fileprivate var withoutBlanks: FieldValue {
        guard case .text(let text) = self else { return self }
        return .text(text.filter { !$0.isWhitespace })
    }
}
