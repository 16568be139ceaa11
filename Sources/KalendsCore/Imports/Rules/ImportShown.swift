// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// The part of an import's report that somebody may see now.
///
/// The importer and the host application see everything. Others see an import once it is committed, without the events
/// that are private to the importer.
package struct ImportShown: Sendable {
    package enum Part: String, CaseIterable, JSONPart {
        case all
        case shared
    }

    let part: Part
    /// The UIDs under which the importer now has private events.
    private var hidden: Set<ByteString> = []

    init(_ record: ImportRecord, to caller: Identity) {
        part = caller.userID == nil || caller.userID == record.importedBy ? .all : .shared
    }

    /// Returns those of some stored items or problems that are shown, in their order.
    mutating func shown<Value: Markable>(
        _ stored: [Marked<Value>], of record: ImportRecord, in transaction: any ReadTransaction
    ) throws -> [Value] {
        if part == .all { return stored.map(\.value) }
        if let circle = try transaction.circle(record.circleID) {
            let uids = stored.filter(\.isShared).flatMap(\.uids)
            let own = try transaction.componentCounts(uids, of: .own(record.importedBy), in: circle)
            hidden.formUnion(own.map(\.uid))
        }
        // An event without a UID cannot be compared with the ones that are private now.
        return stored.filter { marked in
            marked.isShared && !marked.uids.isEmpty && !marked.uids.contains { hidden.contains(ByteString($0)) }
        }.map(\.value)
    }
}

/// An item or a problem of a report as it is stored: with whether everybody in the circle may see it.
struct Marked<Value: Markable>: JSONFormed {
    var value = Value()
    var isShared = false
    /// The UID under which the event is stored, if that is not the file's.
    var storedUID: String?

    static var form: JSONForm<Self> { Value.marked }

    /// The UIDs under which the event may be stored.
    fileprivate var uids: [String] { [value.ownUID, storedUID].compactMap { $0 } }

    fileprivate static func joined(_ more: [JSONForm<Self>.Member] = []) -> JSONForm<Self> {
        JSONForm(
            Value.form.within(\.value) + [.init("shared", \.isShared), .optional("stored", \.storedUID)] + more)
    }
}

/// A value that is stored with a mark.
protocol Markable: JSONFormed {
    /// The UID of the event in the file; nil for a problem of no event.
    var ownUID: String? { get }
    /// The form with the mark, which is made once.
    static var marked: JSONForm<Marked<Self>> { get }
}

extension Imports.Item: Markable {
    var ownUID: String? { uid }
    static let marked = Marked<Self>.joined()
}

extension Problem: Markable {
    var ownUID: String? { uid }
    static let marked = Marked<Self>.joined([.init("sentence", \.value.sentence)])
}
