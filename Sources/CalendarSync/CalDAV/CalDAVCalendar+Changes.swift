// SPDX-License-Identifier: Apache-2.0

extension CalDAVCalendar {
    public func changes(
        in calendar: String, since cursor: String?, window: SyncWindow
    ) async throws(ProviderFailure) -> ChangeSet {
        try await changes(in: calendar, since: cursor, window: window, known: [:])
    }

    /// The whole calendar, whatever the window: a listing by time is no proof of anything.
    public func changes(
        in calendar: String, since text: String?, window: SyncWindow, known: [ByteString: String]
    ) async throws(ProviderFailure) -> ChangeSet {
        let collection = try collection(calendar)
        let before = text.flatMap { CalDAVCursor($0, collection) }
        let listing = try await listing(of: collection, since: before)
        var changes: [RemoteChange] = listing.gone.sorted().map { .removed(id: $0.string) }
        let wanted = listing.present.filter { path, etag in
            guard !listing.isFull, let etag, let known = known[path] else { return true }
            let (new, old) = (CalDAVVersion(etag: etag, seen: .unknown), CalDAVVersion(known))
            return new.condition != old.condition
        }
        let addresses = wanted.keys.sorted().compactMap { collection.with(path: $0.string) }
        let found = try await fetch(addresses, in: collection)
        for address in addresses {
            switch found[address.path] {
            case .event(let event, _): changes.append(.event(event))
            // Gone between the two requests.
            case .gone: changes.append(.removed(id: address.path))
            case nil: throw ProviderFailure(.malformed, "The server has left out an event that it lists.")
            }
        }
        let fullAt = listing.isFull ? now() : before?.fullAt ?? now()
        let cursor = listing.place.flatMap { CalDAVCursor($0, fullAt: fullAt).text(collection) }
        return ChangeSet(changes: changes, isFull: listing.isFull, cursor: cursor)
    }

    public func look(
        at ids: [String], in calendar: String
    ) async throws(ProviderFailure) -> [(id: String, look: RemoteLook)] {
        let collection = try collection(calendar)
        var addresses: [DAVAddress] = []
        for id in ids { addresses.append(try member(id, of: collection)) }
        // By the report even for one event: it fails where the whole calendar is missing, and a GET would not.
        let found = try await fetch(addresses, in: collection)
        var looks: [(id: String, look: RemoteLook)] = []
        for (id, address) in zip(ids, addresses) {
            switch found[address.path] {
            case .event(let event, _): looks.append((id, .present(event)))
            case .gone: looks.append((id, .gone))
            case nil: throw ProviderFailure(.malformed, "The server has left out an event that was asked for.")
            }
        }
        return looks
    }

    /// Marks that are looked for by a query each; more are looked for in a listing.
    private static let queryLimit = 4

    public func find(_ marks: [Mark], in calendar: String) async throws(ProviderFailure) -> [RemoteEvent] {
        let collection = try collection(calendar)
        var events: [RemoteEvent] = []
        var missing: [Mark] = []
        let addresses = marks.compactMap { collection.with(path: collection.path + CalDAVIdentity.resource($0)) }
        let byName = try await fetch(addresses, in: collection)
        for (mark, address) in zip(marks, addresses) {
            if case .event(let event, _)? = byName[address.path], event.mark == mark {
                events.append(event)
            } else {
                missing.append(mark)
            }
        }
        guard !missing.isEmpty else { return events }
        var candidates: [DAVAddress] = []
        if missing.count <= Self.queryLimit {
            for mark in missing {
                let query = DAVSession.Request.report("1", DAVBody.query(uid: CalDAVIdentity.uid(mark)))
                let (answer, place) = try await session.send(query, to: collection)
                guard answer.status == 207 else {
                    let failure = session.failure(answer)
                    if failure.isTransient { throw failure }
                    // A server without text search: the name was the proof.
                    continue
                }
                candidates += try DAVSession.multistatus(answer.body).responses
                    .compactMap { DAVAddress($0.href, relativeTo: place) }
            }
        } else {
            candidates = try await listing(of: collection, since: nil).present.keys.sorted()
                .compactMap { collection.with(path: $0.string) }
        }
        candidates = candidates.filter { candidate in
            candidate.isMember(of: collection) && !events.contains { $0.id == candidate.path }
        }
        let found = try await fetch(candidates, in: collection)
        for address in candidates {
            guard case .event(let event, _)? = found[address.path], let mark = event.mark,
                missing.contains(where: { $0 == mark }), !events.contains(where: { $0.id == event.id })
            else { continue }
            events.append(event)
        }
        return events
    }
}
