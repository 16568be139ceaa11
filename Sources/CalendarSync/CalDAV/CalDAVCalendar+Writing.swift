// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge
internal import Synchronization

/// Remembers the failure that ends a batch, after which nothing more is sent.
private final class BatchStop: Sendable {
    private let failure = Mutex<ProviderFailure?>(nil)

    var reason: ProviderFailure? { failure.withLock { $0 } }

    func note(_ answer: WriteAnswer) {
        guard case .failed(let reason) = answer else { return }
        switch reason.kind {
        case .unauthorized, .throttled, .unavailable, .unreachable, .busy, .calendarMissing, .quotaExceeded:
            failure.withLock { $0 = $0 ?? reason }
        default: break
        }
    }
}

extension CalDAVCalendar {
    public func write(_ requests: [WriteRequest], in calendar: String) async -> [WriteAnswer] {
        let collection: DAVAddress
        do throws(ProviderFailure) {
            collection = try self.collection(calendar)
        } catch {
            return requests.map { _ in .failed(error) }
        }
        let stop = BatchStop()
        return await inParallel(requests, width: width) { request in
            // A refused password is not tried again, and a request to wait is respected.
            if let reason = stop.reason { return .failed(reason) }
            let answer = await write(request, in: collection)
            stop.note(answer)
            return answer
        }
    }

    private func write(_ request: WriteRequest, in collection: DAVAddress) async -> WriteAnswer {
        do throws(ProviderFailure) {
            switch request.kind {
            case .create(let entry): return try await create(entry, request.mark, in: collection)
            case .update(let id, let etag, let from, let to):
                let address = try member(id, of: collection)
                return try await update(address, etag: etag, from: from, to: to, request.mark, in: collection)
            case .delete(let id, let etag):
                let address = try member(id, of: collection)
                return try await delete(address, etag: etag, request.mark, in: collection)
            }
        } catch {
            return .failed(error)
        }
    }

    // MARK: Create

    private func create(
        _ entry: Entry, _ mark: EventMark, in collection: DAVAddress
    ) async throws(ProviderFailure) -> WriteAnswer {
        guard let address = collection.with(path: collection.path + CalDAVIdentity.resource(mark)) else {
            throw ProviderFailure(.refused, "The calendar's address is too long.")
        }
        let stamp = ObjectStamp(uid: CalDAVIdentity.uid(mark), mark: mark, now: now(), sequence: 0)
        let text = entry.calendar(stamp).serialized()
        let answer = try await put(text, at: address, condition: ("If-None-Match", "*"))
        let condition = DAVCondition(answer.body)
        switch (answer.status, condition?.name) {
        case (200..<300, _): return try await written(text, at: address, answer, in: collection)
        case (_, "no-uid-conflict"?), (_, "unique-scheduling-object-resource"?):
            return .taken(try await holder(condition, mark, at: address, in: collection))
        case (409, nil), (404, _):
            throw ProviderFailure(.calendarMissing, "The server has no such calendar.")
        case (412, nil):
            guard case .event(let event, _) = try await get(address) else { return .taken(nil) }
            return .taken(event)
        case (405, _):
            // DAViCal's answer where the calendar is missing.
            try await requireCalendar(collection)
            throw refusal(answer, condition)
        default: throw refusal(answer, condition)
        }
    }

    /// Returns the event that has our UID; nil when it is in another calendar or in the server's trash.
    private func holder(
        _ condition: DAVCondition?, _ mark: EventMark, at address: DAVAddress, in collection: DAVAddress
    ) async throws(ProviderFailure) -> RemoteEvent? {
        for href in condition?.hrefs ?? [] {
            guard let holder = DAVAddress(href, relativeTo: address), holder.isMember(of: collection) else { continue }
            if case .event(let event, _) = try await get(holder) { return event }
        }
        return try await find([mark], in: collection.text).first
    }

    // MARK: Update

    private func update(
        _ address: DAVAddress, etag: String?, from: Entry, to: Entry, _ mark: EventMark, in collection: DAVAddress
    ) async throws(ProviderFailure) -> WriteAnswer {
        let version = etag.map { CalDAVVersion($0) }
        let text: [UInt8]
        let known: CalDAVVersion
        if let version, let sequence = version.ownSequence,
            address.name.isSameText(as: CalDAVIdentity.resource(mark))
        {
            // The object has nothing that we would not write ourselves, so it need not be read first. An event of a
            // former connection has another UID, which no server allows to be changed in place (RFC 4791 section
            // 5.3.2.1).
            let stamp = ObjectStamp(uid: CalDAVIdentity.uid(mark), mark: mark, now: now(), sequence: sequence + 1)
            text = to.calendar(stamp).serialized()
            known = version
        } else {
            guard case .event(let event, let theirs) = try await get(address) else { return .gone }
            let now = event.etag.map { CalDAVVersion($0) }
            guard let now else {
                throw ProviderFailure(.refused, "The server returns no ETag for the event.", code: "no-etag")
            }
            // A fresh etag with an old text would overwrite someone's edit.
            if let version {
                guard version.tag == now.tag else { return .mismatch }
            } else {
                guard event.content == .entry(from) else { return .mismatch }
            }
            try await guardGuests(now, in: collection)
            // An event that was adopted keeps the mark with which it was created, which its UID and its name confirm.
            guard let changed = try await edited(theirs, from: from, to: to, event.mark ?? mark) else {
                throw ProviderFailure(.refused, "The event holds something that cannot be changed in place.")
            }
            text = changed
            known = now
        }
        let answer = try await answer(at: address, if: known) { condition throws(ProviderFailure) in
            try await put(text, at: address, condition: ("If-Match", condition))
        }
        let reason = DAVCondition(answer.body)
        switch (answer.status, reason?.name) {
        case (200..<300, _): return try await written(text, at: address, answer, in: collection)
        case (412, nil): return .mismatch
        case (404, _), (410, _): return .gone
        default: throw refusal(answer, reason)
        }
    }

    private func edited(
        _ theirs: [UInt8], from: Entry, to: Entry, _ mark: EventMark
    ) async throws(ProviderFailure) -> [UInt8]? {
        let change = ObjectQuestion.Change(from: from, to: to, mark: mark, now: now())
        let question = ObjectQuestion(text: theirs, floatingZone: floatingZone, change: change)
        return try await objects.answers(to: [question]).first?.text
    }

    /// Refuses a write for which a scheduling server would send messages to guests (RFC 6638 section 3.2).
    private func guardGuests(_ version: CalDAVVersion, in collection: DAVAddress) async throws(ProviderFailure) {
        guard version.seen == .guests else { return }
        let (answer, _) = try await session.send(.propfind("0", ["D:resourcetype"]), to: collection)
        let classes = (answer.field("DAV") ?? "calendar-auto-schedule").lowercased()
        guard classes.contains("schedule") else { return }
        throw ProviderFailure(
            .refused, "Somebody invited guests to the event: the server would write to them.", code: "has-guests")
    }

    // MARK: Delete

    private func delete(
        _ address: DAVAddress, etag: String?, _ mark: EventMark, in collection: DAVAddress
    ) async throws(ProviderFailure) -> WriteAnswer {
        var version = etag.map { CalDAVVersion($0) }
        if version == nil || version?.seen == .unknown {
            guard case .event(let event, _) = try await get(address) else { return .deleted }
            let now = event.etag.map { CalDAVVersion($0) }
            if let version, version.tag != now?.tag { return .mismatch }
            guard event.mark?.isSameItem(as: mark) == true else { return .mismatch }
            version = now
        }
        guard let version else {
            throw ProviderFailure(.refused, "The server returns no ETag for the event.", code: "no-etag")
        }
        try await guardGuests(version, in: collection)
        let answer = try await answer(at: address, if: version) { condition throws(ProviderFailure) in
            var request = DAVSession.Request(method: "DELETE")
            request.headers = [("If-Match", condition), ("Schedule-Reply", "F")]
            return try await session.send(request, to: address).answer
        }
        switch answer.status {
        case 207:
            let inner = try await session.multistatus(answer) { $0.responses.first?.status ?? 200 }
            guard inner >= 300, inner != 404 else { return .deleted }
            throw refusal(ProviderAnswer(status: inner), nil)
        case 200..<300, 404, 410: return .deleted
        case 412:
            // Some servers report a mismatch for an event that is gone.
            if case .gone = try await get(address) { return .deleted }
            return .mismatch
        default: throw refusal(answer, DAVCondition(answer.body))
        }
    }

    /// Returns the answer to a write that is conditional on the version that is known.
    ///
    /// RFC 9110 section 8.8.3 demands quotes around an etag, but some servers know only the text that they gave. A
    /// condition that fails while the server still shows that version is sent in the other form.
    private func answer(
        at address: DAVAddress, if known: CalDAVVersion,
        _ send: (String) async throws(ProviderFailure) -> ProviderAnswer
    ) async throws(ProviderFailure) -> ProviderAnswer {
        let answer = try await send(known.condition)
        guard answer.status == 412, DAVCondition(answer.body) == nil,
            case .event(let event, _) = try await get(address),
            let now = event.etag.map({ CalDAVVersion($0) }), now.tag == known.tag
        else { return answer }
        return try await send(now.condition == known.condition ? known.otherCondition : now.condition)
    }

    // MARK: PUT

    private func put(
        _ text: [UInt8], at address: DAVAddress, condition: (name: String, value: String)
    ) async throws(ProviderFailure) -> ProviderAnswer {
        var request = DAVSession.Request(method: "PUT", body: text)
        request.headers = [
            condition, ("Content-Type", "text/calendar; charset=utf-8"), ("Prefer", "return=representation"),
        ]
        request.longestAnswer = 4 << 20
        return try await session.send(request, to: address).answer
    }

    /// Returns the event after a PUT: with a strong etag, as the server shows it or as it was sent; otherwise, or if
    /// that is not an entry, as a look finds it. Throws `unanswered` when the look finds no event.
    private func written(
        _ text: [UInt8], at address: DAVAddress, _ answer: ProviderAnswer, in collection: DAVAddress
    ) async throws(ProviderFailure) -> WriteAnswer {
        let stamp = answer.field("Last-Modified").flatMap(Instant.init(httpDate:))
        let etag = CalDAVVersion.etag(answer.field("ETag"))
        // Without an etag, or with a weak one, the server has changed what it received (RFC 4791 section 5.3.4).
        if let etag, !etag.hasPrefix("W/") {
            let isShown =
                answer.field("Preference-Applied")?.contains("representation") == true
                && answer.body.starts(with: "BEGIN:VCALENDAR".utf8)
            let known = try await read(
                UnreadObject(text: isShown ? answer.body : text, address: address, etag: etag, updatedAt: stamp))
            if case .event(var event, _) = known, case .entry = event.content {
                if !isShown, let version = event.etag.map({ CalDAVVersion($0) }), let sequence = version.ownSequence {
                    event.etag = CalDAVVersion(etag: version.etag, seen: .written(sequence: sequence)).text
                }
                return .written(event)
            }
        }
        guard case .event(let event, _)? = try await fetch([address], in: collection)[address.path] else {
            throw ProviderFailure(.unanswered, "The event is not there after it was written.")
        }
        return .written(event)
    }

    /// Returns a refusal of only this event, where the answer means one; otherwise the failure of the session.
    private func refusal(_ answer: ProviderAnswer, _ condition: DAVCondition?) -> ProviderFailure {
        switch (answer.status, condition?.name) {
        case (413, _), (_, "max-resource-size"?):
            ProviderFailure(.refused, "The event is too large for the server.", code: condition?.name ?? "http-413")
        case (400, _), (412, _), (415, _), (422, _), (_, "valid-calendar-data"?),
            (_, "valid-calendar-object-resource"?), (_, "supported-calendar-component"?):
            ProviderFailure(
                .refused, "The server does not take the event.", code: condition?.name ?? "http-\(answer.status)")
        default: session.failure(answer)
        }
    }
}
