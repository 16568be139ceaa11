// SPDX-License-Identifier: Apache-2.0

/// The faults of one request: the first hundred of them, and how many more there are.
struct FaultList: Hashable, Sendable {
    /// The most that an answer names.
    static let most = 100

    private(set) var named: [Fault] = []
    /// How many there are beyond those that are named.
    private(set) var leftOut = 0

    init() {}
    init(_ faults: some Sequence<Fault>) { self += faults }

    mutating func append(_ fault: Fault) {
        if named.count < Self.most { named.append(fault) } else { leftOut += 1 }
    }

    /// Counts faults that nobody will name, because as many as are named are there already.
    mutating func leaveOut(_ count: Int) { leftOut += count }

    static func += (list: inout FaultList, faults: some Sequence<Fault>) {
        for fault in faults { list.append(fault) }
    }

    static func += (list: inout FaultList, others: FaultList) {
        for fault in others.named { list.append(fault) }
        list.leftOut += others.leftOut
    }

    static func + (list: FaultList, others: some Sequence<Fault>) -> FaultList {
        var all = list
        all += others
        return all
    }

    /// The same faults, each as `change` makes it.
    func mapped(_ change: (Fault) -> Fault) -> FaultList {
        var changed = self
        changed.named = named.map(change)
        return changed
    }

    /// The members of a problem document, or of a batch's rejected line, that name them.
    var members: [ByteString: JSONValue] {
        var members: [ByteString: JSONValue] = ["errors": .array(named.map(\.json))]
        if leftOut > 0 { members["errorsLeftOut"] = .integer(leftOut) }
        return members
    }

    /// All of them, those that are not named too.
    var total: Int { named.count + leftOut }
}

extension FaultList: RandomAccessCollection {
    var startIndex: Int { named.startIndex }
    var endIndex: Int { named.endIndex }
    subscript(place: Int) -> Fault { named[place] }
}

extension FaultList: ExpressibleByArrayLiteral {
    init(arrayLiteral faults: Fault...) { self.init(faults) }
}
