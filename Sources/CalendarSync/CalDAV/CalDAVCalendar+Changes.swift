// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

extension CalDAVCalendar {
    /// Lists the whole calendar, whatever the window: a listing by time does not prove anything.
    public func changes(
        in calendar: String, since text: String?, window: TimeRange, known: [ByteString: String]
    ) async throws(ProviderFailure) -> ChangeSet {
        let collection = try collection(calendar)
        let before = text.flatMap { CalDAVCursor($0, collection) }
        let listing = try await listing(of: collection, since: before)
        var changes: [RemoteChange] = listing.gone.sorted().map { .removed(id: $0.string) }
        let (addresses, asWritten) = try await work(on: listing.weight) {
            let (paths, asWritten) = wanted(listing, known)
            return (paths.compactMap { collection.with(path: $0.string) }, asWritten)
        }
        let found = try await fetch(addresses, in: collection)
        for address in addresses {
            switch found[address.path] {
            case .event(var event, _):
                // An event that changed after it was listed is not as it was written.
                let isSame = event.etag.flatMap { etag in
                    known[address.path].map { CalDAVVersion(etag).tag == CalDAVVersion($0).tag }
                }
                event.isAsWritten = isSame == true && asWritten.contains(address.path)
                changes.append(.event(event))
            // The event was deleted between the two requests.
            case .gone: changes.append(.removed(id: address.path))
            case nil: throw ProviderFailure(.malformed, "The server listed an event but did not return it.")
            }
        }
        let fullAt = listing.isFull ? now() : before?.fullAt ?? now()
        let cursor = listing.position.flatMap { CalDAVCursor($0, fullAt: fullAt).text(collection) }
        return ChangeSet(changes: changes, isFull: listing.isFull, cursor: cursor)
    }

    /// Returns the paths of a listing that have to be read, sorted, and those that still have the etag of our own
    /// write.
    ///
    /// An event that is known by its etag need not be read. One that we wrote and nobody has read since is read when
    /// that costs no further request, because the server may have changed it.
    private func wanted(
        _ listing: CalDAVListing, _ known: [ByteString: String]
    ) -> (paths: [ByteString], asWritten: Set<ByteString>) {
        var paths: [ByteString] = []
        var asWritten: [ByteString] = []
        for (path, etag) in listing.present {
            let version = known[path].map { CalDAVVersion($0) }
            let isSame = etag.map { CalDAVVersion(etag: $0, seen: .unknown).tag } == version?.tag
            if isSame, case .written = version?.seen { asWritten.append(path) }
            if listing.isFull || !isSame || version == nil { paths.append(path) }
        }
        if !listing.isFull, !paths.isEmpty {
            let room = (Self.chunk - paths.count % Self.chunk) % Self.chunk
            paths += asWritten.sorted().prefix(room)
        }
        return (paths.sorted(), Set(asWritten))
    }

    public func look(
        at ids: [String], in calendar: String
    ) async throws(ProviderFailure) -> [(id: String, look: RemoteLookup)] {
        let collection = try collection(calendar)
        var addresses: [DAVAddress] = []
        for id in ids { addresses.append(try member(id, of: collection)) }
        // The report is used even for one event: it fails where the whole calendar is missing, and a GET would not.
        let found = try await fetch(addresses, in: collection)
        let isAnyThere = found.values.contains { if case .event = $0 { true } else { false } }
        if !isAnyThere, !addresses.isEmpty { try await requireCalendar(collection) }
        var looks: [(id: String, look: RemoteLookup)] = []
        for (id, address) in zip(ids, addresses) {
            switch found[address.path] {
            case .event(let event, _): looks.append((id, .present(event)))
            case .gone: looks.append((id, .gone))
            case nil: throw ProviderFailure(.malformed, "The server has left out an event that was asked for.")
            }
        }
        return looks
    }

    /// Throws when the server has no such calendar: DAViCal answers a report on one that is gone as if it were empty.
    func requireCalendar(_ collection: DAVAddress) async throws(ProviderFailure) {
        let (answer, _) = try await session.send(.propfind("0", ["D:resourcetype"]), to: collection)
        guard answer.status == 207 else { throw session.failure(answer) }
    }

    /// Reads events by GET: Radicale leaves `getlastmodified` out of every report, but sends `Last-Modified` with a
    /// GET.
    public func stamped(_ ids: [String], in calendar: String) async throws(ProviderFailure) -> [RemoteEvent] {
        let collection = try collection(calendar)
        var addresses: [DAVAddress] = []
        for id in ids { addresses.append(try member(id, of: collection)) }
        let answers = await inParallel(addresses, width: width) { address in
            await result { () async throws(ProviderFailure) in try await get(address) }
        }
        var events: [RemoteEvent] = []
        for answer in answers {
            // An event that is gone or cannot be read does not matter here: the listing has reported what exists.
            if case .event(let event, _) = try answer.get(), event.updatedAt != nil { events.append(event) }
        }
        return events
    }

    /// The number of marks up to which each is searched with a query; for more, the calendar is listed.
    private static let queryLimit = 4
    /// The maximum number of answers to a query for one UID: more than any calendar has copies of one event.
    private static let mostFound = 100

    public func find(_ marks: [EventMark], in calendar: String) async throws(ProviderFailure) -> [RemoteEvent] {
        let collection = try collection(calendar)
        var events: [RemoteEvent] = []
        var missing: [EventMark] = []
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
        var needsListing = missing.count > Self.queryLimit
        for mark in missing where !needsListing {
            let query = DAVSession.Request.report("1", DAVBody.query(uid: CalDAVIdentity.uid(mark)))
            let (answer, finalAddress) = try await session.send(query, to: collection)
            guard answer.status == 207 else {
                let failure = session.failure(answer)
                if failure.isTransient { throw failure }
                // The server has no text search: the search by name was the only one.
                continue
            }
            let found = try await session.multistatus(answer) { found in
                Array(
                    found.responses.lazy.compactMap { DAVAddress($0.href, relativeTo: finalAddress) }
                        .filter { $0.isMember(of: collection) }.prefix(Self.mostFound + 1))
            }
            // A server that answers with more has ignored the UID.
            needsListing = found.count > Self.mostFound
            candidates += found
        }
        if needsListing {
            let listing = try await listing(of: collection, since: nil)
            candidates = try await work(on: listing.weight) {
                listing.present.keys.sorted().compactMap { collection.with(path: $0.string) }
            }
        }
        var known = Set(events.map { ByteString($0.id) })
        candidates = candidates.filter { $0.isMember(of: collection) && !known.contains($0.path) }
        let (found, wanted) = (try await fetch(candidates, in: collection), Set(missing))
        for address in candidates {
            guard case .event(let event, _)? = found[address.path], let mark = event.mark, wanted.contains(mark),
                known.insert(ByteString(event.id)).inserted
            else { continue }
            events.append(event)
        }
        return events
    }
}
