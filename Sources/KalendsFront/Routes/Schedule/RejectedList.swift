// SPDX-License-Identifier: Apache-2.0

/// The rejected parts of a body: all are counted, and the first ones are listed, within the limits of a batch.
struct RejectedList {
    private(set) var listed: [JSONValue] = []
    private(set) var leftOut = 0
    private var bytes = 0

    /// Adds the next rejected part in the order of the body.
    mutating func add(_ rejected: @autoclosure () -> JSONValue) {
        guard leftOut == 0, listed.count < BatchCounts.mostRejected else {
            leftOut += 1
            return
        }
        let one = rejected()
        let count = (try? one.serialized().count) ?? 0
        guard listed.isEmpty || bytes + count <= BatchCounts.mostBytes else {
            leftOut += 1
            return
        }
        bytes += count
        listed.append(one)
    }

    /// Members of an answer: the list under this name, and the number of parts that are not listed, if any.
    func members(_ name: String) -> [ByteString: JSONValue] {
        var members: [ByteString: JSONValue] = [ByteString(name): .array(listed)]
        if leftOut > 0 { members[ByteString(name + "LeftOut")] = .integer(leftOut) }
        return members
    }
}
