// SPDX-License-Identifier: Apache-2.0

extension Entry {
    /// The maximum size in bytes of an event that is kept in step: everything about it is stored at once, while others wait.
    static let mostWeight = 1 << 20

    /// About how many bytes the stored form has.
    var weight: Int {
        var bytes = 256 + title.utf8.count + notes.utf8.count + location.utf8.count
        if let repetition { bytes += 12 * (repetition.exdates.count + repetition.rdates.count) }
        for (_, occurrence) in occurrences {
            switch occurrence {
            case .cancelled: bytes += 12
            case .changed(let own):
                bytes += 192 + own.title.utf8.count + own.notes.utf8.count + own.location.utf8.count
            }
        }
        return bytes
    }

    var isTooHeavy: Bool { weight > Self.mostWeight }

    /// Why an event that is too heavy is held back, in a sentence for people.
    static let tooHeavy = "The event and its changed occurrences have more than 1 MiB of text."

    /// The entry without what may make it heavy, to recognize it by.
    var outline: Entry {
        Entry(title: String(title.prefix(200)), span: span, reminders: reminders)
    }
}

extension SyncBatch {
    /// About how many bytes are stored at once, unless a single event has more.
    static let mostWeight = 512 << 10
}

extension Step {
    /// The approximate number of bytes that are stored for it, not counting its writes.
    var weight: Int {
        [link?.agreed?.ours, link?.agreed?.theirs, link?.refused].weight
            + conflicts.reduce(0) { $0 + [$1.ours, $1.theirs].weight }
    }
}

extension Step.Draft {
    var weight: Int { [ours, wanted, before].weight }
}

extension Operation {
    var weight: Int { [ours, wanted, before].weight }
}

extension [Entry?] {
    var weight: Int { reduce(0) { $0 + ($1?.weight ?? 0) } }
}
