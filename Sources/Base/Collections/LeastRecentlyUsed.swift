// SPDX-License-Identifier: Apache-2.0

/// Values by key within a limit of bytes; those not used for longest make room, each at the cost of a few steps.
package struct LeastRecentlyUsed<Key: Hashable, Value> {
    private struct Node {
        var key: Key
        var value: Value?
        var cost: Int
        /// Positions of the neighbours in order of use, -1 for none.
        var newer: Int
        var older: Int
    }

    private let limit: Int
    private var nodes: [Node] = []
    private var places: [Key: Int] = [:]
    private var free: [Int] = []
    /// The most recently used, and the longest unused; -1 for none.
    private var newest = -1
    private var oldest = -1
    /// Bytes in use, as they were given.
    package private(set) var cost = 0

    package var count: Int { places.count }

    package init(limit: Int) { self.limit = limit }

    /// The value of a key, which is then the most recently used.
    package mutating func find(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        if newest != place {
            unlink(place)
            link(place)
        }
        return nodes[place].value
    }

    /// Keeps a value in place of what the key had; one that is larger than the whole limit is not kept.
    package mutating func keep(_ value: Value, for key: Key, cost: Int) {
        remove(key)
        guard cost <= limit else { return }
        while self.cost + cost > limit, oldest >= 0 { remove(nodes[oldest].key) }
        let node = Node(key: key, value: value, cost: cost, newer: -1, older: -1)
        let place: Int
        if let reused = free.popLast() {
            place = reused
            nodes[place] = node
        } else {
            place = nodes.count
            nodes.append(node)
        }
        places[key] = place
        self.cost += cost
        link(place)
    }

    package mutating func remove(_ key: Key) {
        guard let place = places.removeValue(forKey: key) else { return }
        unlink(place)
        cost -= nodes[place].cost
        nodes[place].value = nil
        free.append(place)
    }

    private mutating func link(_ place: Int) {
        nodes[place].older = newest
        nodes[place].newer = -1
        if newest >= 0 { nodes[newest].newer = place }
        newest = place
        if oldest < 0 { oldest = place }
    }

    private mutating func unlink(_ place: Int) {
        let (newer, older) = (nodes[place].newer, nodes[place].older)
        if newer >= 0 { nodes[newer].older = older } else { newest = older }
        if older >= 0 { nodes[older].newer = newer } else { oldest = newer }
    }
}

extension LeastRecentlyUsed where Key == ByteString {
    @_disfavoredOverload
    package mutating func find(_ key: String) -> Value? { find(ByteString(key)) }

    @_disfavoredOverload
    package mutating func keep(_ value: Value, for key: String, cost: Int) {
        keep(value, for: ByteString(key), cost: cost)
    }

    @_disfavoredOverload
    package mutating func remove(_ key: String) { remove(ByteString(key)) }
}
