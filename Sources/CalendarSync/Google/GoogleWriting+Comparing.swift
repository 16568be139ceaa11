// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

extension GoogleWriting {
    /// Returns a series as it was last read, or as our writes left it when somebody has edited it since.
    ///
    /// The returned value becomes what both sides agree on. An edit has to differ from it, and its version too, so that
    /// the next run reads the series and merges the edit.
    func agreed(_ read: RemoteEvent, _ index: Int) -> RemoteEvent {
        // Contents that only differ from what was sent may be Google's own form of them, and a version by itself says
        // nothing: an edit has both a version that is not ours and contents that no answer had.
        guard case .entry(let there) = read.content, let etag = read.etag.flatMap(GoogleETag.init),
            let left = left(index), !left.etag.has(allOf: etag), left.entry.canonical != there.canonical
        else { return read }
        var event = read
        event.content = .entry(left.entry)
        event.etag = left.etag.text
        event.updatedAt = left.updatedAt
        return event
    }

    /// Returns a series by the answers to our writes, and what was known about it before them; nil when its version is
    /// not known.
    private func left(_ index: Int) -> (entry: Entry, etag: GoogleETag, updatedAt: Instant?)? {
        let to: Entry
        var known: GoogleETag?
        switch requests[index].kind {
        case .create(let entry): to = entry.atGoogle().entry
        case .update(_, let etag, _, let entry): (to, known) = (entry.atGoogle().entry, etag.flatMap(GoogleETag.init))
        case .delete: return nil
        }
        let master = masters[index]
        guard let version = master.map(\.etag) ?? known?.own else { return nil }
        var etag = GoogleETag(own: version)
        etag.occurrences = known?.occurrences ?? [:]
        var entry = to
        if let master {
            guard let answer = try? master.entry() else { return nil }
            entry = answer
            // Deleted occurrences are not all in the series itself.
            entry.repetition?.exdates = to.repetition?.exdates ?? []
            entry.occurrences = to.occurrences
        }
        let id = eventID(index)
        let ours = written.filter { $0.seriesID == id }
        for event in ours {
            guard let original = try? event.originalStart(), let occurrence = try? event.occurrence() else {
                return nil
            }
            etag.occurrences[original] = event.etag
            entry.occurrences[original] = occurrence
        }
        let stamps = [master?.updatedAt] + ours.map(\.updatedAt)
        return (entry.settled().entry, etag, stamps.compactMap(\.self).max())
    }
}

extension GoogleETag {
    /// Reports whether all versions of another state of the unit are among those of this one.
    fileprivate func has(allOf other: GoogleETag) -> Bool {
        own == other.own && other.occurrences.allSatisfy { occurrences[$0.key] == $0.value }
    }
}
