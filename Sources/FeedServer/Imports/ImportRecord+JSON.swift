// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Storage

extension ImportRecord {
    /// What a list shows: the import without its zones, problems and items.
    ///
    /// - Parameter progress: how far it is when it is under way in this process.
    func listed(_ progress: ImportDesk.Progress?) throws -> JSONValue {
        var members: [String: JSONValue] = ["counts": .null, "span": .null]
        if let outline {
            members.merge(try JSONValue(parsing: Array(outline.utf8)).object ?? [:]) { $1 }
        } else if !report.isEmpty, case .object(let report) = try JSONValue(parsing: Array(report.utf8)) {
            members["counts"] = report["counts"] ?? .null
            members["span"] = report["span"] ?? .null
        }
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
        case .readFailed, .commitFailed:
            members["state"] = "failed"
            members["progress"] = .null
            members["problem"] = try problem.map { try JSONValue(parsing: Array($0.utf8)) } ?? .null
        }
        return .object(members)
    }

    /// The report with its state, and one page of its items.
    func reported(
        _ progress: ImportDesk.Progress?, _ page: Page, in transaction: any ReadTransaction
    ) throws -> [String: JSONValue] {
        var members = try listed(progress).object ?? [:]
        var told: [String: JSONValue] = [:]
        if !report.isEmpty { told = try JSONValue(parsing: Array(report.utf8)).object ?? [:] }
        members["timeZones"] = told["timeZones"] ?? []
        members["problems"] = told["problems"] ?? []
        // A cursor is what somebody sends: no number of it may be too large to count on with.
        let start = min(max(0, try page.number ?? 0), 1 << 40)
        let shown: ArraySlice<JSONValue>
        let hasMore: Bool
        if let items = told["items"]?.array {
            // Earlier versions kept all items in the report.
            shown = items.dropFirst(start).prefix(page.limit)
            hasMore = start + shown.count < items.count
        } else if stage == .reading || stage == .readFailed {
            (shown, hasMore) = ([], false)
        } else {
            let first = start / ImportBlock.size
            let last = (start + page.limit) / ImportBlock.size
            let blocks = try transaction.importItems(ofImport: id, blocks: first...last)
            let items = try blocks.flatMap { try JSONValue(parsing: Array($0.utf8)).array ?? [] }
            let rest = items.dropFirst(start - first * ImportBlock.size)
            shown = rest.prefix(page.limit)
            hasMore = rest.count > shown.count
        }
        members["items"] = .array(Array(shown))
        members["nextCursor"] =
            hasMore ? .string(Base64URL.encode(Array(String(start + shown.count).utf8))) : .null
        return members
    }
}
