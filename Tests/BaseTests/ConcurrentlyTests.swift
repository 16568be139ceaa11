// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing

@testable import Base

@Suite("Calls on several threads at once")
struct ConcurrentlyTests {
    @Test("Every number is called once before the call returns", arguments: [0, 1, 2, 5, 64])
    func once(_ count: Int) {
        let numbers = Mutex<[Int]>([])
        concurrently(count) { number in numbers.withLock { $0.append(number) } }
        #expect(numbers.withLock { $0.sorted() } == Array(0..<count))
    }

    @Test("Each call has a thread of its own: all of them can wait for each other")
    func together() {
        let count = 6
        let here = Mutex(0)
        concurrently(count) { _ in
            here.withLock { $0 += 1 }
            while here.withLock({ $0 }) < count { Thread.sleep(forTimeInterval: 0.001) }
        }
        #expect(here.withLock { $0 } == count)
    }
}
