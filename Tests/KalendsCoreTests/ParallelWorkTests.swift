// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import KalendsCore

@Suite("Work of several threads")
struct ParallelWorkTests {
    private struct Failed: Error, Equatable { let piece: Int }

    @Test("Results are in the order in which the pieces were added", arguments: [0, 1, 2, 1000])
    func order(pieces: Int) throws {
        let work = ParallelWork<Int>()
        for piece in 0..<pieces {
            work.add {
                // Earlier pieces take longer than later ones.
                (0..<(pieces - piece) * 10).reduce(0, &+) &* 0 &+ piece
            }
        }
        #expect(try work.results() == Array(0..<pieces))
    }

    @Test("The first piece that fails decides, and all others have ended")
    func failure() throws {
        let work = ParallelWork<Int>()
        let ended = Atomic(0)
        for piece in 0..<100 {
            work.add {
                defer { ended.add(1, ordering: .relaxed) }
                if piece % 40 == 7 { throw Failed(piece: piece) }
                return piece
            }
        }
        #expect(throws: Failed(piece: 7)) { try work.results() }
        #expect(ended.load(ordering: .relaxed) == 100)
    }
}
