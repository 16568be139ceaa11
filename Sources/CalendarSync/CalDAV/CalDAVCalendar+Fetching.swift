// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// The object at an address.
enum FetchedObject: Sendable {
    case event(RemoteEvent, text: [UInt8])
    case gone

    /// The event by itself.
    fileprivate var withoutText: FetchedObject {
        if case .event(let event, _) = self { .event(event, text: []) } else { self }
    }

    /// The approximate bytes of memory that it takes.
    var weight: Int { if case .event(let event, let text) = self { event.weight + text.count } else { 64 } }
}

extension CalDAVCalendar {
    /// The number of addresses in one multiget, which every server accepts.
    static let chunk = 50

    /// Returns the object at each of some addresses, by path. Each address has a result, or the call fails.
    func fetch(
        _ addresses: [DAVAddress], in collection: DAVAddress
    ) async throws(ProviderFailure) -> [ByteString: FetchedObject] {
        let chunks = stride(from: 0, to: addresses.count, by: Self.chunk).map {
            Array(addresses[$0..<min($0 + Self.chunk, addresses.count)])
        }
        let results = await inParallel(chunks, width: width) { chunk in
            await result { () async throws(ProviderFailure) in try await multiget(chunk, in: collection) }
        }
        var found: [ByteString: FetchedObject] = [:]
        for result in results { found.merge(try result.get()) { first, _ in first } }
        // A server may silently cut its answer short: objects that are missing are requested one by one.
        let missing = addresses.filter { found[$0.path] == nil }
        let singles = await inParallel(missing, width: width) { address in
            await result { () async throws(ProviderFailure) in try await get(address) }
        }
        for (address, result) in zip(missing, singles) { found[address.path] = try result.get() }
        return found
    }

    /// Sends one multiget, which is halved when its answer cannot be read, so that one bad object hides no other.
    private func multiget(
        _ addresses: [DAVAddress], in collection: DAVAddress
    ) async throws(ProviderFailure) -> [ByteString: FetchedObject] {
        let request = DAVSession.Request.report("1", DAVBody.multiget(addresses.map(\.path)))
        do throws(ProviderFailure) {
            let (answer, finalAddress) = try await session.send(request, to: collection)
            switch answer.status {
            case 207:
                // Its texts have the answer's room until they have been read.
                defer { withExtendedLifetime(answer) {} }
                let listed = try await session.http.read(answer) { answer throws(ProviderFailure) in
                    objects(try Multistatus(answer), asked: addresses, at: finalAddress)
                }
                // The text is needed only after a GET, to change the event in place.
                let read = try await read(listed.present).mapValues(\.withoutText)
                let found = listed.gone.merging(read) { first, _ in first }
                try await session.http.keep(found.values.reduce(0) { $0 + $1.weight })
                return found
            // The server does not have this report: each object is requested separately.
            case 400, 405, 501: return [:]
            case 403 where DAVCondition(answer.body)?.name == "supported-report": return [:]
            default: throw session.failure(answer)
            }
        } catch {
            guard error.kind == .malformed, addresses.count > 1 else {
                if error.kind == .malformed { return [:] }
                throw error
            }
            let middle = addresses.count / 2
            let first = try await multiget(Array(addresses[..<middle]), in: collection)
            let second = try await multiget(Array(addresses[middle...]), in: collection)
            return first.merging(second) { first, _ in first }
        }
    }

    private func objects(
        _ multistatus: Multistatus, asked: [DAVAddress], at finalAddress: DAVAddress
    ) -> (present: [UnreadObject], gone: [ByteString: FetchedObject]) {
        // Each is answered once: if a server answers it a second time, that is not read.
        var wanted = Dictionary(asked.map { (ByteString($0.path), $0) }) { first, _ in first }
        var (present, gone): ([UnreadObject], [ByteString: FetchedObject]) = ([], [:])
        for response in multistatus.responses {
            guard let address = DAVAddress(response.href, relativeTo: finalAddress),
                address.origin == finalAddress.origin,
                let asked = wanted[address.path]
            else { continue }
            if let status = response.status, status >= 300 {
                // No other status proves that the event is gone.
                if status == 404 || status == 410 { gone[asked.path] = .gone }
                continue
            }
            guard let data = response.property(.caldav, "calendar-data") else { continue }
            wanted[asked.path] = nil
            present.append(
                UnreadObject(
                    text: data.bytes, address: asked, etag: response.text(.dav, "getetag"),
                    updatedAt: response.text(.dav, "getlastmodified").flatMap(Instant.init(httpDate:))))
        }
        return (present, gone)
    }

    /// Reads one object by GET.
    func get(_ address: DAVAddress) async throws(ProviderFailure) -> FetchedObject {
        var request = DAVSession.Request(method: "GET")
        request.headers.append(("Accept-Encoding", "identity"))
        request.longestAnswer = 4 << 20
        do throws(ProviderFailure) {
            let (answer, _) = try await session.send(request, to: address)
            switch answer.status {
            case 200:
                let found = try await read(
                    UnreadObject(
                        text: answer.body, address: address, etag: answer.field("ETag"),
                        updatedAt: answer.field("Last-Modified").flatMap(Instant.init(httpDate:))))
                try await session.http.keep(found.weight)
                return found
            case 404, 410: return .gone
            case 403, 500: return unreadable(address, "The server does not return the event.")
            default: throw session.failure(answer)
            }
        } catch {
            guard error.code == DAVSession.tooLong else { throw error }
            return unreadable(address, "The event is too large to be read.")
        }
    }

    private func unreadable(_ address: DAVAddress, _ message: String) -> FetchedObject {
        .event(RemoteEvent(id: address.path, etag: nil, mark: nil, content: .unreadable(message)), text: [])
    }

    /// Returns the events that objects' texts mean, by path.
    private func read(_ found: [UnreadObject]) async throws(ProviderFailure) -> [ByteString: FetchedObject] {
        guard !found.isEmpty else { return [:] }
        let answers = try await objects.answers(
            to: found.map { ObjectQuestion(text: $0.text, floatingZone: floatingZone) })
        return Dictionary(zip(found, answers).map { (ByteString($0.address.path), $0.meaning($1)) }) { _, last in last }
    }

    /// Returns the event that an object's text means.
    func read(_ found: UnreadObject) async throws(ProviderFailure) -> FetchedObject {
        try await read([found])[found.address.path] ?? unreadable(found.address, "The event cannot be read.")
    }
}

/// An object that the server returned, before anybody has read it.
struct UnreadObject: Sendable {
    let text: [UInt8]
    let address: DAVAddress
    let etag: String?
    let updatedAt: Instant?

    /// Returns the event that the object is according to an answer about it.
    fileprivate func meaning(_ answer: ObjectAnswer) -> FetchedObject {
        let etag = CalDAVVersion.etag(etag)
        guard let seen = answer.seen else {
            return .event(
                RemoteEvent(id: address.path, etag: etag, mark: nil, content: .unreadable(answer.fault)), text: text)
        }
        if answer.isCancelled { return .gone }
        let mark = CalDAVIdentity.mark(property: answer.property, uid: answer.uid, resource: address.name)
        let content = answer.entry.map(RemoteEvent.Content.entry) ?? .unreadable(answer.fault)
        let version = etag.map { CalDAVVersion(etag: $0, seen: seen).text }
        return .event(
            RemoteEvent(
                id: address.path, etag: version, mark: mark, content: content, updatedAt: updatedAt,
                hasGuests: seen == .guests), text: text)
    }
}

/// Returns a typed failure as a value, to carry it out of a group of tasks.
func result<Value: Sendable>(
    _ work: () async throws(ProviderFailure) -> Value
) async -> Result<Value, ProviderFailure> {
    do throws(ProviderFailure) {
        return .success(try await work())
    } catch {
        return .failure(error)
    }
}
