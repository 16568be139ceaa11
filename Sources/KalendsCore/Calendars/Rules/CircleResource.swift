// SPDX-License-Identifier: Apache-2.0

import Crypto
import FeedTokens
import Storage

/// What a resource of a circle's collections shows.
enum CircleResource: Hashable, Sendable {
    case item(ScheduleItem.Collection, id: ByteString)
    /// The imported event or series with a UID, of one source.
    case imported(uid: ByteString, source: ByteString)

    init(_ item: ScheduleItem) { self = .item(item.collection, id: ByteString(item.id)) }

    /// Returns nil for a series without components.
    init?(_ series: ImportedSeries) {
        guard let source = series.events.first?.record.source else { return nil }
        self = .imported(uid: ByteString(series.uid), source: ByteString(source.text))
    }
}

extension ResourceName.List {
    /// The list in which items of a kind are.
    init(_ kind: any ItemContent.Type) { self = kind is any DueContent.Type ? .tasks : .events }

    /// The kind whose resources have the plainest names.
    fileprivate var plain: ScheduleItem.Collection {
        switch self {
        case .events: AppointmentContent.collection
        case .tasks: TaskContent.collection
        }
    }
}

/// The names of resources: the one that a calendar app gave, or else one made from an item's id, with which no app and
/// no other item interferes.
struct ResourceNames {
    private static let ending = ".ics"
    private static let separator = "+"
    private static let imported = "+imported.ics"

    private var given: [CircleResource: String] = [:]
    private var taken: Set<ByteString> = []

    /// Reads all names that apps gave in a circle.
    init(in circle: String, _ transaction: any ReadTransaction) throws {
        add(try transaction.resourceNames(in: circle))
    }

    /// Reads what decides the names of some items.
    init(of items: [ScheduleItem], in circle: String, _ transaction: any ReadTransaction) throws {
        guard !items.isEmpty else { return }
        add(try transaction.resourceNames(ofItems: items.map(\.id), in: circle))
        for list in [ResourceName.List.events, .tasks] {
            let plain = items.filter { $0.collection == list.plain }.map { $0.id + Self.ending }
            if !plain.isEmpty { add(try transaction.resourceNames(plain, list, in: circle)) }
        }
    }

    private mutating func add(_ names: [ResourceName]) {
        for name in names {
            given[.item(.init(rawValue: name.collection), id: ByteString(name.itemID))] = name.name
            taken.insert(Self.key(name.list, name.name))
        }
    }

    private static func key(_ list: ResourceName.List, _ name: String) -> ByteString {
        ByteString("\(list.rawValue)/\(name)")
    }

    func name(of resource: CircleResource) -> String {
        switch resource {
        case .imported(let uid, let source):
            let text = Array("\(source.string)\u{0}\(uid.string)".utf8)
            return ContentHash(of: SHA256.hash(data: text)).text + Self.imported
        case .item(let collection, let id):
            if let known = given[resource] { return known }
            let name = id.string + Self.ending
            for list in [ResourceName.List.events, .tasks]
            where collection == list.plain && !taken.contains(Self.key(list, name)) {
                return name
            }
            return id.string + Self.separator + collection.rawValue + Self.ending
        }
    }

    /// Whether only the index knows what has such a name.
    static func isImported(_ name: String) -> Bool { name.hasSuffix(imported) }

    /// Returns which item has a name that no app gave; nil for a name of another form.
    static func item(named name: String, in list: ResourceName.List) -> CircleResource? {
        guard name.hasSuffix(ending) else { return nil }
        let stem = String(name.dropLast(ending.count))
        guard let parts = stem.parted(at: separator) else {
            return Identifier.isValid(stem) ? .item(list.plain, id: ByteString(stem)) : nil
        }
        let (id, collection) = (String(parts.before), String(parts.after))
        guard Identifier.isValid(id), Identifier.isValid(collection) else { return nil }
        return .item(.init(rawValue: collection), id: ByteString(id))
    }
}

/// The state of a circle as one number, which rises with each change that a calendar app may see.
///
/// It holds the circle's version and the epoch of its imported events, so that what changed since is read from the
/// rows that changed, and nothing is stored for a token.
struct CircleNumber: Hashable, Sendable {
    private static let epochBits = 26

    let version: Int
    let epoch: Int

    init(version: Int, epoch: Int) { (self.version, self.epoch) = (version, epoch) }

    init(_ circle: Circle) { self.init(version: circle.version, epoch: circle.eventsEpoch) }

    init?(_ number: Int) {
        guard number >= 0 else { return nil }
        self.init(version: number >> Self.epochBits, epoch: number & (1 << Self.epochBits - 1))
    }

    var number: Int { version << Self.epochBits | epoch }
}
