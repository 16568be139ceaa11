// SPDX-License-Identifier: Apache-2.0

import Crypto
import FoundationEssentials
import ICalBridge
import Storage

/// What must be known about a whole file before anything is decided about one of its events.
struct ImportIndex: Sendable {
    /// Twelve bytes of a hash of UID and occurrence, which are the same for the same event in every import.
    struct Key: Hashable, Sendable {
        // Three numbers of the same size leave no gaps in a table of many keys.
        private let first: UInt32
        private let second: UInt32
        private let third: UInt32

        init(uid: String, recurrenceID: String) {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(uid.utf8.count + 1 + recurrenceID.utf8.count)
            bytes += uid.utf8
            bytes.append(0)
            bytes += recurrenceID.utf8
            // The numbers lie within the digest's 32 bytes.
            (first, second, third) = unsafe SHA256.hash(data: bytes).withUnsafeBytes { digest in
                unsafe (
                    UInt32(bigEndian: digest.loadUnaligned(as: UInt32.self)),
                    UInt32(bigEndian: digest.loadUnaligned(fromByteOffset: 4, as: UInt32.self)),
                    UInt32(bigEndian: digest.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
                )
            }
        }

        // A part of a digest is as good a hash as any.
        func hash(into hasher: inout Hasher) { hasher.combine(UInt64(first) << 32 | UInt64(second)) }

        /// The id of the item in the import's report.
        var text: String {
            Base64URL.encode(
                [first, second, third].flatMap { part in
                    (0..<4).map { UInt8(truncatingIfNeeded: part >> (24 - 8 * $0)) }
                })
        }
    }

    private struct Version {
        var sequence: Int32
        var modified: Int
    }

    /// The keys of the events, in the order of the file.
    private(set) var keys: [Key] = []
    /// The versions of the events, in the same order.
    private var versions: [Version] = []
    /// The keys of the UIDs, whatever the occurrence.
    private var uids: Set<Key> = []
    /// Those of events with any component that is marked private.
    private var privateUIDs: Set<Key> = []
    /// The place of the newest version of each event; a small number, because followed calendars have many events.
    private var newest: [Key: Int32] = [:]
    /// The numbers of components of the events that have more than one.
    private var several: [Key: Int] = [:]
    /// The zone of times that name none.
    let zone: TimeZoneReference

    /// - Parameter expected: about how many events there will be, because a table that grows is made again each time.
    init(floatingIn zone: TimeZoneReference, expecting expected: Int = 0) {
        self.zone = zone
        keys.reserveCapacity(expected)
        versions.reserveCapacity(expected)
        uids.reserveCapacity(expected)
        newest.reserveCapacity(expected)
    }

    init(_ events: ImportEvents, floatingIn zone: TimeZoneReference, _ store: any Store) async throws {
        self.zone = zone
        while keys.count < events.count { try add(try await events.packed(from: keys.count, store)) }
    }

    /// Adds the events of the next block; throws `PackError` if its bytes are not a block.
    mutating func add(_ block: [UInt8]) throws {
        for event in try ImportBlock.identities(block) { add(event) }
    }

    private mutating func add(_ event: Event) {
        let uid = Key(uid: event.uid, recurrenceID: "")
        let key =
            event.recurrenceID == nil
            ? uid : Key(uid: event.uid, recurrenceID: event.recurrenceKey(floatingIn: zone.rules))
        let version = Version(
            sequence: Int32(clamping: event.sequence), modified: event.lastModified?.seconds ?? 0)
        let position = Int32(clamping: keys.count)
        keys.append(key)
        versions.append(version)
        let isNew = uids.insert(uid).inserted
        if !isNew, newest[key] == nil { several[uid, default: 1] += 1 }
        if event.isPublishedAsPrivate { privateUIDs.insert(uid) }
        // A file may contain an event twice; the newest counts, and among equals the last.
        if let other = newest[key].map({ versions[Int($0)] }),
            (other.sequence, other.modified) > (version.sequence, version.modified)
        {
            return
        }
        newest[key] = position
    }

    func isNewest(_ index: Int) -> Bool { newest[keys[index]].map { Int($0) } == index }

    /// Whether the file contains this component of an event.
    func contains(_ key: ImportedEventRecord.Key) -> Bool {
        newest[Key(uid: key.uid.string, recurrenceID: key.recurrenceID.string)] != nil
    }

    /// The position in the file of the newest version of a series, without its exceptions; nil if the file has only
    /// exceptions.
    func position(ofSeries uid: String) -> Int? { newest[Key(uid: uid, recurrenceID: "")].map { Int($0) } }

    /// How many components of an event the file contains, each counted once however many versions of it there are.
    func components(of uid: String) -> Int {
        let key = Key(uid: uid, recurrenceID: "")
        return several[key] ?? (uids.contains(key) ? 1 : 0)
    }

    /// Whether the file contains any component of an event.
    func contains(_ uid: String) -> Bool { uids.contains(Key(uid: uid, recurrenceID: "")) }

    /// Whether any event has more than one component.
    var hasExceptions: Bool { !several.isEmpty }

    func isPrivate(_ uid: String) -> Bool { privateUIDs.contains(Key(uid: uid, recurrenceID: "")) }
}
