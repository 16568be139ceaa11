// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// One account of a CalDAV server (RFC 4791, 6578).
///
/// A calendar's id is its absolute address, an event's id is the path of its resource. No answer of the server leads to
/// a host that is not the account's, and guests never get messages.
public struct CalDAVCalendar: CalendarProvider {
    let session: DAVSession
    let homes: [DAVAddress]
    /// The key by which a calendar that is created here is found again.
    let calendarKey: String
    let floatingZone: String
    /// The reader of the server's objects.
    let objects: any ObjectReading
    /// The maximum number of requests at once.
    let width: Int

    /// - Parameters:
    ///   - calendarKey: names the calendar that `createCalendar` creates: the same key means the same calendar, so it
    ///     contains the installation and the circle.
    ///   - floatingZone: the IANA name of the zone for times without a zone.
    ///   - objects: reads what the server returns.
    ///   - clock: milliseconds since 1970.
    /// - Throws: `refused` for an account whose addresses do not belong to one server, or that does not use TLS.
    public init(
        account: CalDAVAccount, username: String, password: String, calendarKey: String, floatingZone: String = "UTC",
        objects: any ObjectReading, http: any ProviderHTTP, clock: @escaping @Sendable () -> Int
    ) throws(ProviderFailure) {
        let homes = account.homes.compactMap { DAVAddress($0)?.collection }
        guard let entrance = DAVAddress(account.entrance), homes.count == account.homes.count, !homes.isEmpty else {
            throw ProviderFailure(.refused, "That is not the address of a calendar server.", code: "not-an-address")
        }
        var realm = DAVRealm(entrance)
        for home in homes {
            guard realm.allows(home), home.isSecure || home.isLoopback else {
                throw ProviderFailure(
                    .refused, "A calendar's address does not belong to the account.", code: "other-host")
            }
            realm.add(home)
        }
        session = try DAVSession(realm: realm, username: username, password: password, http: http, clock: clock)
        self.homes = homes
        self.calendarKey = calendarKey
        self.floatingZone = floatingZone
        self.objects = objects
        width = homes.contains(where: DAVRealm.isICloud) ? 1 : 8
    }

    /// Returns the address of a calendar from its id.
    func collection(_ calendar: String) throws(ProviderFailure) -> DAVAddress {
        guard let address = DAVAddress(calendar)?.collection, session.realm.allows(address) else {
            throw ProviderFailure(.refused, "The calendar does not belong to this account.", code: "not-an-address")
        }
        return address
    }

    /// Returns the address of an event from its id.
    func member(_ id: String, of collection: DAVAddress) throws(ProviderFailure) -> DAVAddress {
        guard let address = collection.with(path: id), address.isMember(of: collection) else {
            throw ProviderFailure(.refused, "The event does not belong to this calendar.", code: "not-a-member")
        }
        return address
    }

    /// True, because a listing has only names and etags, and contents are read after it.
    public var readsEvents: Bool { true }

    func now() -> Instant { Instant(seconds: session.clock().floorDivided(by: 1000)) }

    public var http: (any ProviderHTTP)? { session.http }

    public func expressible(_ entry: Entry) -> (entry: Entry, limitations: [Limitation]) {
        if entry.isKeptByCalDAV { return (entry, []) }
        var limitations: [Limitation] = []
        if case .timed(_, _, let zone) = entry.span, !SyncZone.isKnown(zone) {
            limitations.append(
                Limitation(field: .times, message: "The time zone \(zone) is not known; UTC is written instead."))
        }
        if case .days = entry.span, entry.repetition != nil {
            limitations.append(
                Limitation(field: .recurrence, message: "Whole days that repeat are not written; only the first is."))
        }
        let mark = EventMark(
            installation: "", connection: "", circle: "", item: ItemKey(.appointments, ""), generation: 0)
        let stamp = ObjectStamp(uid: "x", mark: mark, now: Instant(seconds: 0), sequence: 0)
        // The entry that is read back from the written text is the one that a server which keeps everything has.
        let written = entry.calendar(stamp).serialized()
        guard let object = try? CalendarObject(written, floatingZone: floatingZone),
            case .success(let kept) = object.entry
        else {
            limitations.append(
                Limitation(
                    field: .recurrence, message: "The event's recurrence cannot be written.",
                    preventsWriting: entry.repetition != nil, isOfSeries: true))
            var single = entry
            single.repetition = nil
            single.occurrences = [:]
            return entry.repetition == nil ? (entry, limitations) : (expressible(single).entry, limitations)
        }
        if kept.reminders != entry.reminders {
            limitations.append(Limitation(field: .reminders, message: "Reminders after the start are not written."))
        }
        return (kept, limitations)
    }

    /// Returns nil, because CalDAV servers have no common push protocol.
    public func watch(
        _ calendar: String, address: String, secret: String
    ) async throws(ProviderFailure) -> WatchChannel? { nil }

    public func unwatch(_ channel: WatchChannel) async throws(ProviderFailure) {}
}

/// Runs work for each input, at most `width` at once; the results are in the order of the inputs.
func inParallel<Input: Sendable, Output: Sendable>(
    _ inputs: [Input], width: Int, _ work: @escaping @Sendable (Input) async -> Output
) async -> [Output] {
    await withTaskGroup(of: (Int, Output).self) { group in
        var results: [Output?] = Array(repeating: nil, count: inputs.count)
        var next = 0
        while next < min(max(width, 1), inputs.count) {
            let index = next
            group.addTask { (index, await work(inputs[index])) }
            next += 1
        }
        while let (index, output) = await group.next() {
            results[index] = output
            guard next < inputs.count else { continue }
            let following = next
            group.addTask { (following, await work(inputs[following])) }
            next += 1
        }
        return results.compactMap(\.self)
    }
}
