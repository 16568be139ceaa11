// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Storage

extension ImportRecord {
    /// What a list shows: the import without its zones, problems and items.
    ///
    /// - Parameter progress: how far it is when it is under way in this process.
    func listed(_ progress: ImportDesk.Progress?, to caller: Identity) throws -> JSONValue {
        let shown = ImportShown(self, to: caller)
        var members: [ByteString: JSONValue] = ["counts": .null, "span": .null]
        if let outline {
            members.merge(try JSONValue(parsing: Array(outline.utf8)).object ?? [:]) { $1 }
        } else if !report.isEmpty, case .object(let report) = try JSONValue(parsing: Array(report.utf8)) {
            members["counts"] = report["counts"] ?? .null
            members["span"] = report["span"] ?? .null
        }
        if !shown.showsSpan(members) { members["span"] = .null }
        members[ImportShown.mark] = nil
        members["id"] = .string(id)
        members["circleId"] = .string(circleID)
        members["userId"] = JSONValue(importedBy)
        members["createdAt"] = JSONValue(milliseconds: createdAt)
        members["committedAt"] = JSONValue(milliseconds: committedAt)
        members["undoneAt"] = JSONValue(milliseconds: undoneAt)
        switch stage {
        case nil:
            members["state"] = .string(state.rawValue)
            members["progress"] = 1
        case .reading, .committing:
            let phase = progress?.phase.rawValue ?? stage?.rawValue ?? ""
            members["state"] = .string(phase)
            members["progress"] = .number(((progress?.part ?? 0) * 1000).rounded() / 1000)
        case .readFailed, .commitFailed, .forgotten:
            members["state"] = "failed"
            members["progress"] = .null
            // It may name lines of the file.
            let isTold = shown.part == .all
            members["problem"] = try isTold ? problem.map { try JSONValue(parsing: Array($0.utf8)) } ?? .null : .null
        }
        return .object(members)
    }

    /// The most bytes of problems that a report lists, and of items on one page of it.
    private static let mostProblemBytes = 1 << 20
    private static let mostItemBytes = 3 << 20

    /// The report with its state, and one page of its items.
    func reported(
        _ progress: ImportDesk.Progress?, _ page: Page, to caller: Identity, in transaction: any ReadTransaction
    ) throws -> [ByteString: JSONValue] {
        var members = try listed(progress, to: caller).object ?? [:]
        var view = ImportShown(self, to: caller)
        members["shown"] = .string(view.part.rawValue)
        var told: [ByteString: JSONValue] = [:]
        if !report.isEmpty { told = try JSONValue(parsing: Array(report.utf8)).object ?? [:] }
        members["timeZones"] = view.part == .all ? told["timeZones"] ?? [] : []
        let problems = try view.shown(told["problems"]?.array ?? [], of: self, in: transaction)
        let listed = try problems[...].prefix(bytes: Self.mostProblemBytes)
        members["problems"] = .array(listed)
        if listed.count < problems.count { members["problemsLeftOut"] = .integer(problems.count - listed.count) }
        // A cursor is what somebody sends: no number of it may be too large to count on with.
        let start = min(max(0, try page.number ?? 0), 1 << 40)
        var shown: ArraySlice<JSONValue>
        var hasMore: Bool
        if let items = told["items"]?.array {
            // Earlier versions kept all items in the report.
            shown = items.dropFirst(start).prefix(page.limit)
            hasMore = start + shown.count < items.count
        } else if stage == .reading || stage == .readFailed {
            (shown, hasMore) = ([], false)
        } else {
            let first = start / ImportBlock.size
            let last = (start + page.limit) / ImportBlock.size
            let blocks = try transaction.importItems(of: self, blocks: first...last)
            let items = try blocks.flatMap { try JSONValue(parsing: Array($0.utf8)).array ?? [] }
            let rest = items.dropFirst(start - first * ImportBlock.size)
            shown = rest.prefix(page.limit)
            hasMore = rest.count > shown.count
        }
        let fitting = try shown.prefix(bytes: Self.mostItemBytes)
        if fitting.count < shown.count { (shown, hasMore) = (fitting[...], true) }
        members["items"] = .array(try view.shown(Array(shown), of: self, in: transaction))
        // Whoever sees nothing of it has no page to turn.
        members["nextCursor"] =
            hasMore && view.part != .counts ? .string(Base64URL.encode(Array(String(start + shown.count).utf8))) : .null
        return members
    }
}

extension ArraySlice<JSONValue> {
    /// The first elements that take no more than so many bytes of text, and one at least.
    fileprivate func prefix(bytes most: Int) throws -> [JSONValue] {
        var (kept, bytes): ([JSONValue], Int) = ([], 0)
        for element in self {
            bytes += try element.serialized().count + 1
            guard bytes <= most || kept.isEmpty else { break }
            kept.append(element)
        }
        return kept
    }
}
