// SPDX-License-Identifier: Apache-2.0

/// The results of a batch: every line is counted, and the first rejected ones are listed.
struct BatchCounts: Sendable {
    /// The maximum number of rejected lines that the answer lists, and the maximum number of bytes that they may take in it.
    static let mostRejected = 1000
    static let mostBytes = 1 << 20

    private struct Rejected: Sendable {
        var line: Int
        var json: JSONValue
        var count: Int
    }

    var applied = 0
    var unchanged = 0
    /// The rejected lines, in the order of their numbers.
    private var rejected: [Rejected] = []
    private var bytes = 0
    private var leftOut = 0

    /// Records a rejected line. Lines arrive in any order; those with the lowest numbers are listed.
    mutating func reject(_ line: Int, _ id: String?, _ faults: FaultList) {
        if leftOut > 0, let last = rejected.last, last.line < line {
            leftOut += 1
            return
        }
        var members = faults.members
        // An invalid id may be of any length.
        members["id"] = JSONValue(id.map { String($0.unicodeScalars.prefix(128)) })
        members["line"] = .integer(line)
        let json = JSONValue.object(members)
        let count = (try? json.serialized().count) ?? 0
        let index = rejected.lastIndex { $0.line < line }.map { $0 + 1 } ?? 0
        rejected.insert(Rejected(line: line, json: json, count: count), at: index)
        bytes += count
        while rejected.count > Self.mostRejected || (bytes > Self.mostBytes && rejected.count > 1) {
            bytes -= rejected.removeLast().count
            leftOut += 1
        }
    }

    var json: JSONValue {
        var members: [ByteString: JSONValue] = [
            "applied": .integer(applied), "unchanged": .integer(unchanged), "rejected": .array(rejected.map(\.json)),
        ]
        if leftOut > 0 { members["rejectedLeftOut"] = .integer(leftOut) }
        return .object(members)
    }
}
