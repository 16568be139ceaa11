// SPDX-License-Identifier: Apache-2.0

/// Values by key within a limit of bytes; the least recently used make room, at a cost of a few steps each.
package struct LeastRecentlyUsed<Key: Hashable, Value> {
    private struct Node {
        var key: Key
        var value: Value?
        var cost: Int
        /// Positions of the neighbours in order of use; -1 where there is no neighbour.
        var newer: Int
        var older: Int
    }

    private let limit: Int
    private var nodes: [Node] = []
    private var places: [Key: Int] = [:]
    private var free: [Int] = []
    /// The positions of the most and the least recently used value; -1 if there are no values.
    private var newest = -1
    private var oldest = -1
    /// The sum of the costs of all values, in bytes.
    package private(set) var cost = 0

    package var count: Int { places.count }

    package init(limit: Int) { self.limit = limit }

    /// Returns the value of a key, which becomes the most recently used.
    package mutating func find(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        if newest != place {
            unlink(place)
            link(place)
        }
        return nodes[place].value
    }

    /// Stores a value, replacing the key's old one; a value larger than the whole limit is not stored.
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
