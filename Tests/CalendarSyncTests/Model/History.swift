// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// A flat list of moves, generated from a seed.
struct History: CustomStringConvertible {
    var moves: [World.Move]
    /// Features of the server, by bits: 1 rewrites texts, 2 has no cursor, 4 is one-way only, 8 cannot express some
    /// series, 16 gives events ids of its own.
    var server: Int

    init(moves: [World.Move], server: Int) {
        self.moves = moves
        self.server = server
    }

    init(seed: UInt64) {
        var random = SplitMix(seed: seed)
        server = random.below(32)
        let length = 6 + random.below(30)
        // Something to quarrel about, and a first run.
        moves = (0..<3).map { _ in World.Move(kind: 0, a: random.below(64), b: random.below(64)) }
        moves.append(World.Move(kind: 21, a: 0, b: 0))
        for _ in 0..<length {
            moves.append(World.Move(kind: random.below(World.kinds), a: random.below(64), b: random.below(64)))
        }
    }

    /// Returns the broken invariant; nil when all hold.
    func violation(isVerbose: Bool = false) async -> (violation: String?, trace: [String]) {
        let world = World()
        world.isVerbose = isVerbose
        world.configure(server)
        do {
            for move in moves { try await world.perform(move) }
            try await world.settle()
            return (nil, world.trace)
        } catch {
            return ("\(error)", world.trace)
        }
    }

    /// Returns a smaller history that still fails: halves are removed first, then single moves, then numbers shrink.
    func shrunk() async -> History {
        var best = self
        func isWrong(_ history: History) async -> Bool { await history.violation().violation != nil }
        var size = max(moves.count / 2, 1)
        while size >= 1 {
            var start = 0
            while start < best.moves.count {
                var smaller = best
                smaller.moves.removeSubrange(start..<min(start + size, best.moves.count))
                if await isWrong(smaller) { best = smaller } else { start += size }
            }
            size /= 2
        }
        for bits in [0, 1, 2, 4, 8, 16] where bits < best.server {
            var simpler = best
            simpler.server = bits
            if await isWrong(simpler) {
                best = simpler
                break
            }
        }
        for index in best.moves.indices {
            for number in [0, 1, 2, 3] {
                var smaller = best
                smaller.moves[index].a = number
                if number < best.moves[index].a, await isWrong(smaller) { best = smaller }
                smaller = best
                smaller.moves[index].b = number
                if number < best.moves[index].b, await isWrong(smaller) { best = smaller }
            }
        }
        return best
    }

    /// A test that can be pasted.
    var description: String {
        let list = moves.map { "(\($0.kind), \($0.a), \($0.b))" }.joined(separator: ", ")
        return "History(server: \(server), [\(list)])"
    }

    init(server: Int, _ moves: [(Int, Int, Int)]) {
        self.init(moves: moves.map { World.Move(kind: $0.0, a: $0.1, b: $0.2) }, server: server)
    }
}
