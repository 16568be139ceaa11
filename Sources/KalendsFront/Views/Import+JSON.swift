// SPDX-License-Identifier: Apache-2.0

import Base
import KalendsCore
import Storage

extension Imports.Listed {
    /// The import as a list shows it, without its zones, problems and items.
    var json: JSONValue {
        get throws { .object(try members) }
    }

    fileprivate var members: [ByteString: JSONValue] {
        get throws {
            var members: [ByteString: JSONValue] = ["counts": .null, "span": .null]
            if let outline = record.outline {
                members.merge(try JSONValue(parsing: Array(outline.utf8)).object ?? [:]) { $1 }
            }
            if !shown.showsSpan(members) { members["span"] = .null }
            members[ImportShown.mark] = nil
            members["id"] = .string(record.id)
            members["circleId"] = .string(record.circleID)
            members["userId"] = JSONValue(record.importedBy)
            members["createdAt"] = JSONValue(milliseconds: record.createdAt)
            members["committedAt"] = JSONValue(milliseconds: record.committedAt)
            members["undoneAt"] = JSONValue(milliseconds: record.undoneAt)
            switch record.stage {
            case nil:
                members["state"] = .string(record.state.rawValue)
                members["progress"] = 1
            case .reading, .committing:
                let phase = progress?.phase.rawValue ?? record.stage?.rawValue ?? ""
                members["state"] = .string(phase)
                members["progress"] = .number(((progress?.part ?? 0) * 1000).rounded() / 1000)
            case .readFailed, .commitFailed, .forgotten:
                members["state"] = "failed"
                members["progress"] = .null
                members["problem"] = try problem
            }
            return members
        }
    }

    /// The reason why the import failed, which may name lines of the file.
    private var problem: JSONValue {
        get throws {
            guard shown.part == .all, let text = record.problem else { return .null }
            return try JSONValue(parsing: Array(text.utf8))
        }
    }
}

extension Imports.Report {
    /// The report with its state, and one page of its items.
    var json: [ByteString: JSONValue] {
        get throws {
            var members = try listed.members
            members["shown"] = .string(listed.shown.part.rawValue)
            members["timeZones"] = timeZones
            members["dropped"] = dropped
            members["keep"] = keep
            members["problems"] = .array(problems)
            if problemsLeftOut > 0 { members["problemsLeftOut"] = .integer(problemsLeftOut) }
            members["items"] = .array(items)
            members["nextCursor"] = next.map { .string(Page.cursor(String($0))) } ?? .null
            return members
        }
    }
}

extension ImportUndo.Kept.Item {
    var json: JSONValue {
        [
            "uid": .string(uid), "summary": JSONValue(summary),
            "reason": "It has been changed since, so it stays as it is.",
        ]
    }
}
