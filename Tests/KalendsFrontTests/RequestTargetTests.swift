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

    @Test("A character that nobody sees does not part a run of marks")
    func hidden() throws {
        let marks = String(repeating: "%CC%81", count: 30)
        let hidden = "%E2%80%8B"
        let bounded = try #require(
            RequestTarget.withBoundedMarks("/x?" + String(repeating: marks + hidden, count: 9)))
        #expect(bounded == "/x?" + marks + String(repeating: hidden, count: 9))
        #expect(RequestTarget.withBoundedMarks(bounded) == nil)
    }

    @Test("A form's fields and names are bounded, so that the field is refused by name")
    func forms() throws {
        let marks = String(repeating: "%CC%81%CC%96", count: 5_000)
        let form = try #require(PageForm(Array("user=a\(marks)&b=c".utf8)))
        #expect(form["user"]?.unicodeScalars.count == 32)
        #expect(form["user"]?.hasLongRunOfMarks == true)
        #expect(form["b"] == "c")
    }
}
