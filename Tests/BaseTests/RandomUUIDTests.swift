// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import Testing

@Suite("Random UUIDs")
struct RandomUUIDTests {
    @Test("Each is a lower-case UUID of version 4, and no two are the same")
    func form() throws {
        var seen: Set<String> = []
        var digits: Set<Character> = []
        for _ in 0..<2000 {
            let text = RandomUUID.text()
            let uuid = try #require(UUID(uuidString: text))
            #expect(uuid.uuidString.lowercased() == text)
            #expect(uuid.uuid.6 >> 4 == 4 && uuid.uuid.8 >> 6 == 2)
            #expect(seen.insert(text).inserted)
            digits.formUnion(text)
        }
        #expect(digits.count == 17)
    }
}
