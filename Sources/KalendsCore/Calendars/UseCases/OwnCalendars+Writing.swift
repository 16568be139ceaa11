// SPDX-License-Identifier: Apache-2.0

import Calendar
import Crypto
import FeedTokens
import Storage

extension OwnCalendars {
    package func put(
        _ text: [UInt8], as name: String, in collection: CalendarCollection, if conditions: WriteConditions,
        for caller: CalDAVCaller, room: MemoryShare?
    ) async throws -> PutOutcome {
        try Self.checkName(name)
        let most = CalendarCollection.maxResourceSize
        guard text.count <= most else { throw CollectionFault.tooLarge(most) }
        // Nothing is read for those who may not write.
        let before = try await acts.store.read { transaction in
            (
                try Self.calendar(collection, of: caller, in: transaction).components,
                try transaction.ownMember(name, of: collection.ownID)?.etag
            )
        }
        guard conditions.allow(before.1) else { throw CollectionFault.preconditionFailed }
        // A mark of UTF-8 is not part of what it marks.
        let hasMark = text.starts(with: Self.byteOrderMark)
        let text = hasMark ? Array(text.dropFirst(Self.byteOrderMark.count)) : text
        guard !text.contains(0), let kept = String(validating: text, as: UTF8.self) else {
            throw CollectionFault.invalidData(.objectUnreadable)
        }
        let found = try await OwnObject.read(text, for: caller.userID)
        guard before.0.contains(found.component) else { throw CollectionFault.unsupportedComponent }
        let etag = ContentHash(of: SHA256.hash(data: text)).text
        return try await change(collection, for: caller) { calendar, act in
            let transaction = act.transaction
            let old = try transaction.ownMember(name, of: calendar.id)
            guard conditions.allow(old?.etag) else { throw CollectionFault.preconditionFailed }
            try Self.checkUID(found.uid, as: name, replacing: old, in: calendar, transaction)
            // The same text again is reported as a change, and is not read again, since its tag is the same.
            let outcome = PutOutcome(isNew: old == nil, etag: hasMark ? nil : etag)
            let resource = OwnResource(
                name: name, uid: found.uid, etag: etag, component: found.component, span: found.span,
                shown: found.shown, text: kept, now: act.now)
            try quotas.checkOwn(
                adding: Usage(count: old == nil ? 1 : 0, bytes: resource.size - (old?.size ?? 0)), of: caller.userID,
                in: transaction)
            try transaction.putOwnResource(resource, replacing: old, in: &calendar)
            return (outcome, hasChanged: true)
        }
    }

    package func delete(
        _ name: String, from collection: CalendarCollection, if conditions: WriteConditions, for caller: CalDAVCaller,
        room: MemoryShare?
    ) async throws {
        try await change(collection, for: caller) { calendar, act in
            let old = try act.transaction.ownMember(name, of: calendar.id)
            guard conditions.allow(old?.etag) else { throw CollectionFault.preconditionFailed }
            guard let old else { throw CollectionFault.missing }
            try act.transaction.removeOwnResource(old, from: &calendar, now: act.now)
            return ((), hasChanged: true)
        }
    }

    package func transfer(
        _ name: String, of collection: CalendarCollection, to newName: String, in target: CalendarCollection,
        isMove: Bool, overwrites: Bool, if conditions: WriteConditions, for caller: CalDAVCaller
    ) async throws -> Bool {
        guard case .own(let id) = collection.kind, case .own(let targetID) = target.kind else {
            throw CollectionFault.forbidden(
                Sentence(
                    .transferElsewhere, "Entries can be moved or copied only between your own calendars."))
        }
        try Self.checkName(newName)
        let isWithin = id.isSameText(as: targetID)
        return try await change(collection, for: caller) { source, act in
            let transaction = act.transaction
            guard let resource = try transaction.ownResource(name, of: source.id),
                let old = try transaction.ownMember(name, of: source.id)
            else { throw conditions.allow(nil) ? CollectionFault.missing : CollectionFault.preconditionFailed }
            guard conditions.allow(old.etag) else { throw CollectionFault.preconditionFailed }
            if isWithin, name.isSameText(as: newName) {
                throw CollectionFault.forbidden(
                    Sentence(.transferToItself, "An entry cannot be moved or copied to itself."))
            }
            var place = isWithin ? source : try Self.calendar(target, of: caller, in: transaction)
            guard place.components.contains(resource.component) else { throw CollectionFault.unsupportedComponent }
            let replaced = try transaction.ownMember(newName, of: place.id)
            if replaced != nil, !overwrites { throw CollectionFault.preconditionFailed }
            let isRenamed = isMove && isWithin
            if !isRenamed || replaced != nil {
                try Self.checkUID(resource.uid, as: newName, replacing: replaced, in: place, transaction)
            }
            if !isMove {
                try quotas.checkOwn(
                    adding: Usage(
                        count: replaced == nil ? 1 : 0, bytes: resource.size - (replaced?.size ?? 0)),
                    of: caller.userID, in: transaction)
            }
            if isMove {
                try transaction.removeOwnResource(old, from: &source, now: act.now)
                if isWithin { place = source }
            }
            var copy = resource
            (copy.name, copy.changedAt) = (newName, act.now)
            try transaction.putOwnResource(copy, replacing: replaced, in: &place)
            return (replaced != nil, hasChanged: true)
        }
    }

    /// Changes a calendar; all of the changes are stored when this returns, and none when it throws.
    private func change<Value: Sendable>(
        _ collection: CalendarCollection, for caller: CalDAVCaller,
        _ body: @escaping @Sendable (inout OwnCalendar, Act<Void>) throws -> (Value, hasChanged: Bool)
    ) async throws -> Value {
        try await acts.act(on: .ownCalendar(of: caller.userID), for: caller.caller) { act in
            var calendar = try Self.calendar(collection, of: caller, in: act.transaction)
            let (value, hasChanged) = try body(&calendar, act)
            guard hasChanged else { return .unchanged(value) }
            try act.transaction.touchOwnFeeds(of: caller.userID, now: act.now)
            return .unnoted("What is in people's own calendars is their own concern.", value)
        }
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    static func checkName(_ name: String) throws {
        guard (1...longestName).contains(name.utf8.count), !name.utf8.contains(where: { $0 == 0 || $0 == 47 }) else {
            throw CollectionFault.forbidden(
                Sentence(.resourceName, "The name of an entry must have 1 to \(longestName, .most) bytes."))
        }
    }

    /// Throws `uidConflict` if another resource of the calendar has the UID, or the one that is replaced has another
    /// (RFC 4791 section 5.3.2.1).
    private static func checkUID(
        _ uid: String, as name: String, replacing old: OwnMember?, in calendar: OwnCalendar,
        _ transaction: any ReadTransaction
    ) throws {
        if let other = try transaction.ownMember(uid: uid, of: calendar.id), !other.name.isSameText(as: name) {
            throw CollectionFault.uidConflict(segment: calendar.segment, name: other.name)
        }
        if let old, !old.uid.isSameText(as: uid) {
            throw CollectionFault.uidConflict(segment: calendar.segment, name: name)
        }
    }
}

extension CalendarCollection {
    /// The id of an own calendar; empty for other collections.
    fileprivate var ownID: String { if case .own(let id) = kind { id } else { "" } }
}

extension Quotas {
    /// Throws `insufficientStorage` if a user's own calendars would hold too much.
    fileprivate func checkOwn(adding added: Usage, of user: String, in transaction: any ReadTransaction) throws {
        let usage = try transaction.ownCalendars(of: user).reduce(into: added) {
            $0.count += $1.usage.count
            $0.bytes += $1.usage.bytes
        }
        guard added.count <= 0 || usage.count <= ownResourcesPerUser else {
            throw CollectionFault.insufficientStorage(
                Sentence(
                    .ownResourcesFull,
                    "Your own calendars hold \(ownResourcesPerUser, .most) entries, the most that are possible here."))
        }
        guard added.bytes <= 0 || usage.bytes <= ownCalendarBytesPerUser else {
            throw CollectionFault.insufficientStorage(
                Sentence(
                    .ownBytesFull, "Your own calendars may have \(ownCalendarBytesPerUser, .most) bytes at most."))
        }
    }
}
