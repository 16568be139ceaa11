// SPDX-License-Identifier: Apache-2.0

package import Base
import Storage

/// How much of an import's report somebody may see at this moment.
///
/// The person who made it and the host application see everything. Others see the counts, and once it was committed
/// those events that are not private to the person who made it.
package struct ImportShown: Sendable {
    package enum Part: String, CaseIterable, Sendable {
        case all
        case shared
        case counts
    }

    /// The member of stored items and problems that says whether everybody in the circle may see them.
    package static let mark = "shared"

    package let part: Part
    /// UIDs under which who made it has private events by now.
    private var hidden: Set<ByteString> = []

    init(_ record: ImportRecord, to caller: Identity) {
        if caller.userID == nil || caller.userID == record.importedBy {
            part = .all
        } else {
            part = record.state == .previewed ? .counts : .shared
        }
    }

    /// What is shown of some stored items or problems, in their order.
    mutating func shown(
        _ stored: [JSONValue], of record: ImportRecord, in transaction: any ReadTransaction
    ) throws -> [JSONValue] {
        if part == .counts { return [] }
        if part == .shared {
            let uids = stored.compactMap { $0[Self.mark] == true ? $0["uid"]?.string : nil }
            if let circle = try transaction.circle(record.circleID) {
                let own = try transaction.componentCounts(uids, of: .own(record.importedBy), in: circle)
                hidden.formUnion(own.map(\.uid))
            }
        }
        return stored.compactMap { value in
            if part == .shared {
                // What an earlier version stored does not say who may see it.
                guard value[Self.mark] == true, let uid = value["uid"]?.string, !hidden.contains(ByteString(uid)) else {
                    return nil
                }
            }
            return Self.unmarked(value)
        }
    }

    /// Whether the days are shown that all of an import's events lie in.
    package func showsSpan(_ outline: [ByteString: JSONValue]) -> Bool {
        part == .all || (part == .shared && outline[Self.mark] == true)
    }

    private static func unmarked(_ value: JSONValue) -> JSONValue {
        guard case .object(var members) = value else { return value }
        members[mark] = nil
        return .object(members)
    }
}
