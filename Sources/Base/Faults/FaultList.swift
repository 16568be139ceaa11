// SPDX-License-Identifier: Apache-2.0

/// The faults of one request: the first hundred, and the number of the others.
package struct FaultList: Hashable, Sendable {
    /// The maximum number of faults that an answer names.
    package static let most = 100

    package private(set) var named: [Fault] = []
    /// The number of faults beyond those that are named.
    package private(set) var leftOut = 0

    package init() {}
    package init(_ faults: some Sequence<Fault>) { self += faults }

    package mutating func append(_ fault: Fault) {
        if named.count < Self.most { named.append(fault) } else { leftOut += 1 }
    }

    /// Counts faults that will not be named because the maximum has been reached.
    package mutating func leaveOut(_ count: Int) { leftOut += count }

    package static func += (list: inout FaultList, faults: some Sequence<Fault>) {
        for fault in faults { list.append(fault) }
    }

    package static func += (list: inout FaultList, others: FaultList) {
        for fault in others.named { list.append(fault) }
        list.leftOut += others.leftOut
    }

    package static func + (list: FaultList, others: some Sequence<Fault>) -> FaultList {
        var all = list
        all += others
        return all
    }

    /// Returns the same faults, each changed by `change`.
    package func mapped(_ change: (Fault) -> Fault) -> FaultList {
        var changed = self
        changed.named = named.map(change)
        return changed
    }

    /// The members that name the faults in a problem document, or in a rejected line of a batch.
    package var members: [ByteString: JSONValue] {
        var members: [ByteString: JSONValue] = ["errors": .array(named.map(\.json))]
        if leftOut > 0 { members["errorsLeftOut"] = .integer(leftOut) }
        return members
    }

    /// The number of all faults, including those that are not named.
    package var total: Int { named.count + leftOut }
}

extension FaultList: RandomAccessCollection {
    package var startIndex: Int { named.startIndex }
    package var endIndex: Int { named.endIndex }
    package subscript(index: Int) -> Fault { named[index] }
}

extension FaultList: ExpressibleByArrayLiteral {
    package init(arrayLiteral faults: Fault...) { self.init(faults) }
}
