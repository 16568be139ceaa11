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
    private var positions: [Key: Int] = [:]
    private var free: [Int] = []
    /// The positions of the most and the least recently used value; -1 if there are no values.
    private var newest = -1
    private var oldest = -1
    /// The sum of the costs of all values, in bytes.
    package private(set) var cost = 0

    package var count: Int { positions.count }

    package init(limit: Int) { self.limit = limit }

    /// Returns the value of a key, which becomes the most recently used.
    package mutating func find(_ key: Key) -> Value? {
        guard let position = positions[key] else { return nil }
        if newest != position {
            unlink(position)
            link(position)
        }
        return nodes[position].value
    }

    /// Stores a value, replacing the key's old one; a value larger than the whole limit is not stored.
    package mutating func keep(_ value: Value, for key: Key, cost: Int) {
        remove(key)
        guard cost <= limit else { return }
        while self.cost + cost > limit, oldest >= 0 { remove(nodes[oldest].key) }
        let node = Node(key: key, value: value, cost: cost, newer: -1, older: -1)
        let index: Int
        if let reused = free.popLast() {
            index = reused
            nodes[index] = node
        } else {
            index = nodes.count
            nodes.append(node)
        }
        positions[key] = index
        self.cost += cost
        link(index)
    }

    package mutating func remove(_ key: Key) {
        guard let index = positions.removeValue(forKey: key) else { return }
        unlink(index)
        cost -= nodes[index].cost
        nodes[index].value = nil
        free.append(index)
    }

    private mutating func link(_ index: Int) {
        nodes[index].older = newest
        nodes[index].newer = -1
        if newest >= 0 { nodes[newest].newer = index }
        newest = index
        if oldest < 0 { oldest = index }
    }

    private mutating func unlink(_ index: Int) {
        let (newer, older) = (nodes[index].newer, nodes[index].older)
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
