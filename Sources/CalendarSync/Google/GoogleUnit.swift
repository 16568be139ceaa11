// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// A single event, or a series with all its changed and deleted occurrences: compared and written as a unit.
struct GoogleUnit {
    var master: GoogleEvent
    var exceptions: [GoogleEvent]

    /// The event in the engine's form.
    var event: RemoteEvent {
        let stamps = ([master] + exceptions).compactMap(\.updatedAt)
        return RemoteEvent(
            id: master.id, etag: etag?.text, mark: master.mark, content: content, updatedAt: stamps.max(),
            isUnfinished: master.isUnfinished, hasGuests: ([master] + exceptions).contains(where: \.hasGuests))
    }

    private var content: RemoteEvent.Content {
        do throws(GoogleNotExpressible) {
            if master.seriesID != nil {
                throw GoogleNotExpressible("It is one occurrence of a series that is not here.")
            }
            var entry = try master.entry()
            guard entry.repetition != nil else { return .entry(entry) }
            for exception in exceptions {
                let original = try exception.originalStart()
                entry.occurrences[original] = try exception.occurrence()
            }
            return .entry(entry.settled().entry)
        } catch {
            return .unreadable(error.sentence)
        }
    }

    private var etag: GoogleETag? {
        master.etag.map { own in
            var etag = GoogleETag(own: own)
            for exception in exceptions {
                guard let original = try? exception.originalStart(), let tag = exception.etag else { continue }
                etag.occurrences[original] = tag
            }
            return etag
        }
    }
}

/// The versions of a unit: Google gives a series, and each occurrence that differs, a version of its own.
struct GoogleETag {
    var own: String
    /// The occurrences' versions, by the instant at which the occurrence would have begun.
    var occurrences: [Instant: String] = [:]

    init(own: String) { self.own = own }

    /// One line for the series, and one for each occurrence.
    var text: String {
        let lines = occurrences.sorted { $0.key < $1.key }.map { "\($0.key.basic) \($0.value)" }
        return ([own] + lines).joined(separator: "\n")
    }

    /// Returns nil for anything that `text` does not write.
    init?(_ text: String) {
        let lines = text.pieces(separatedBy: "\n", omittingEmpty: false)
        own = lines.first.map(String.init) ?? ""
        for line in lines.dropFirst() {
            let sides = line.pieces(separatedBy: " ", maxSplits: 1)
            guard sides.count == 2, sides[0].hasSuffix("Z"), let wall = CivilDateTime(basic: sides[0].dropLast()) else {
                return nil
            }
            occurrences[Instant(utc: wall)] = String(sides[1])
        }
        guard !own.isEmpty, self.text == text else { return nil }
    }
}
