// SPDX-License-Identifier: Apache-2.0

/// The faults of one request: the first hundred of them, and how many more there are.
package struct FaultList: Hashable, Sendable {
    /// The most that an answer names.
    package static let most = 100

    package private(set) var named: [Fault] = []
    /// How many there are beyond those that are named.
    package private(set) var leftOut = 0

    package init() {}
    package init(_ faults: some Sequence<Fault>) { self += faults }

    package mutating func append(_ fault: Fault) {
        if named.count < Self.most { named.append(fault) } else { leftOut += 1 }
    }

    /// Counts faults that nobody will name, because as many as are named are there already.
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

    /// The same faults, each as `change` makes it.
    package func mapped(_ change: (Fault) -> Fault) -> FaultList {
        var changed = self
        changed.named = named.map(change)
        return changed
    }

    /// The members of a problem document, or of a batch's rejected line, that name them.
    package var members: [ByteString: JSONValue] {
        var members: [ByteString: JSONValue] = ["errors": .array(named.map(\.json))]
        if leftOut > 0 { members["errorsLeftOut"] = .integer(leftOut) }
        return members
    }

    /// All of them, those that are not named too.
    package var total: Int { named.count + leftOut }
}

extension FaultList: RandomAccessCollection {
    package var startIndex: Int { named.startIndex }
    package var endIndex: Int { named.endIndex }
    package subscript(place: Int) -> Fault { named[place] }
}

extension FaultList: ExpressibleByArrayLiteral {
    package init(arrayLiteral faults: Fault...) { self.init(faults) }
}
