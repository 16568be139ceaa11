// SPDX-License-Identifier: Apache-2.0

import Storage

/// The end of an audit trail as somebody noted it down: `NUMBER:HASH`.
package struct AuditHead: Hashable, Sendable {
    var number: Int
    var hash: String

    init(_ entry: AuditEntry) { (number, hash) = (entry.number, entry.hash) }

    /// Returns nil if the text does not have this form.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = Int(parts[0]), number > 0, parts[1].utf8.count == 64,
            parts[1].utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
        else { return nil }
        (self.number, hash) = (number, String(parts[1]))
    }

    package var text: String { "\(number):\(hash)" }
}

/// The result of verifying the whole audit trail.
package struct AuditVerdict: Hashable, Sendable {
    /// The first place at which something is wrong.
    package struct Fault: Hashable, Sendable {
        package var number: Int
        package var reason: String
    }

    /// The number of entries that are unchanged, up to the fault if there is one.
    package var count = 0
    /// How many of them have no names any more, because a person was erased.
    package var anonymous = 0
    /// The last unchanged entry.
    package var head: AuditHead?
    package var fault: Fault?
}

extension AuditTrail {
    private static let page = 1000

    /// Recomputes every hash, and checks that the numbers and links have no gap.
    ///
    /// - Parameter known: a head that was noted down earlier, which the trail must still contain unchanged.
    static func verify(in transaction: any ReadTransaction, known: AuditHead? = nil) throws -> AuditVerdict {
        var verdict = AuditVerdict()
        // An erasure notes how many entries lost their names.
        var (noted, lastAnonymous) = (0, 0)
        var next = Int.min
        reading: while true {
            let entries = try transaction.auditEntries(from: next, limit: page)
            for entry in entries {
                let number = verdict.count + 1
                if let reason = try fault(entry, number, after: verdict.head, known) {
                    verdict.fault = AuditVerdict.Fault(number: number, reason: reason)
                    break reading
                }
                verdict.count = number
                verdict.head = entry.map(AuditHead.init)
                if entry?.isAnonymous == true {
                    verdict.anonymous += 1
                    lastAnonymous = number
                }
                noted += entry?.anonymized ?? 0
            }
            guard entries.count == page else { break }
            next = verdict.count + 1
        }
        if verdict.fault == nil, verdict.anonymous > noted {
            verdict.fault = AuditVerdict.Fault(
                number: lastAnonymous,
                reason: "\(verdict.anonymous) entries have no names, and erasures took them out of \(noted)")
        }
        if verdict.fault == nil, let known, known.number > verdict.count {
            verdict.fault = AuditVerdict.Fault(
                number: verdict.count + 1,
                reason: "it is missing: the trail ends before entry \(known.number), which was there once")
        }
        return verdict
    }

    private static func fault(
        _ entry: AuditEntry?, _ number: Int, after last: AuditHead?, _ known: AuditHead?
    ) throws -> String? {
        guard let entry else { return "what is stored in its place is not an entry" }
        guard entry.number == number else {
            return entry.number > number
                ? "it is missing: entry \(entry.number) comes next" : "entry \(entry.number) is stored before it"
        }
        guard entry.previousHash == last?.hash ?? origin else { return "it does not follow from the entry before it" }
        guard try entry.hash == hash(of: entry), try entry.isAnonymous || entry.namesHash == namesHash(of: entry) else {
            return "its content does not match its hash"
        }
        if let known, known.number == number, known.hash != entry.hash {
            return "it is not the entry that was noted down"
        }
        return nil
    }
}

extension AuditEntry {
    /// The detail of an entry about names that were taken out.
    struct Anonymized: JSONFormed {
        var entries = 0

        static let form = JSONForm<Self>([.init("entries", \.entries)])
    }

    /// The number of entries whose names were taken out, if this entry notes that.
    fileprivate var anonymized: Int {
        guard action.isSameText(as: AuditAction.auditAnonymized.rawValue) else { return 0 }
        return (try? Anonymized(stored: detail))?.entries ?? 0
    }
}
