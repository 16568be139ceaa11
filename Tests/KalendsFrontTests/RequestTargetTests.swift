// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import KalendsFront

/// The bound on marks in a request's target, where bytes need not be text.
@Suite("Marks in a request's target")
struct RequestTargetTests {
    @Test("A byte that begins no character hides no mark behind it", arguments: ["%CC", "%E0", "%F0", "%F4%90", "%80"])
    func behindDamage(damage: String) throws {
        let mark = "%CC%81"
        for count in 29...40 {
            let target = "/x?" + damage + String(repeating: mark, count: count)
            let bounded = RequestTarget.withBoundedMarks(target) ?? target
            #expect(bounded == "/x?" + damage + String(repeating: mark, count: min(30, count)))
        }
    }
}
