// SPDX-License-Identifier: Apache-2.0

package import Base
import Storage

/// The part of an import's report that somebody may see now.
///
/// The importer and the host application see everything. Others see an import once it is committed, without the events
/// that are private to the importer.
package struct ImportShown: Sendable {
    package enum Part: String, CaseIterable, Sendable {
        case all
        case shared
    }

    /// The member of stored items and problems that says whether everybody in the circle may see them.
    package static let mark = "shared"
    /// The member that has the UID under which the event is stored, if that is not the file's.
    static let stored = "stored"

    package let part: Part
    /// The UIDs under which the importer now has private events.
    private var hidden: Set<ByteString> = []

    init(_ record: ImportRecord, to caller: Identity) {
        part = caller.userID == nil || caller.userID == record.importedBy ? .all : .shared
    }

    /// Returns those of some stored items or problems that are shown, in their order.
    mutating func shown(
        _ stored: [JSONValue], of record: ImportRecord, in transaction: any ReadTransaction
    ) throws -> [JSONValue] {
        if part == .shared {
            let uids = stored.filter { $0[Self.mark] == true }.flatMap { Self.uids($0) }
            if let circle = try transaction.circle(record.circleID) {
                let own = try transaction.componentCounts(uids, of: .own(record.importedBy), in: circle)
                hidden.formUnion(own.map(\.uid))
            }
        }
        return stored.compactMap { value in
            if part == .shared {
                // What has no UID cannot be compared with what is private now.
                let uids = Self.uids(value)
                guard value[Self.mark] == true, !uids.isEmpty,
                    !uids.contains(where: { hidden.contains(ByteString($0)) })
                else { return nil }
            }
            return Self.unmarked(value)
        }
    }

    /// Whether the span of an import's events is shown.
    package func showsSpan(_ outline: [ByteString: JSONValue]) -> Bool {
        part == .all || (part == .shared && outline[Self.mark] == true)
    }

    /// The UIDs under which the event of an item or a problem may be stored.
    private static func uids(_ value: JSONValue) -> [String] {
        [value["uid"]?.string, value[stored]?.string].compactMap { $0 }
    }

    private static func unmarked(_ value: JSONValue) -> JSONValue {
        guard case .object(var members) = value else { return value }
        members[mark] = nil
        members[ByteString(stored)] = nil
        return .object(members)
    }
}
