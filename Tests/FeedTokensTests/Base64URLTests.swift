// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import StorageSQLite
import Testing

@Suite("Base64 with the URL alphabet")
struct Base64URLTests {
    @Test(
        "The vectors of RFC 4648 section 10, without padding",
        arguments: [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ])
    func vectors(clear: String, encoded: String) {
        #expect(Base64URL.encode(Array(clear.utf8)) == encoded)
        #expect(Base64URL.decode(Array(encoded.utf8)) == Array(clear.utf8))
    }

    @Test("Every byte survives, in the URL's alphabet")
    func roundTrips() {
        let bytes = (0...255).map { UInt8($0) }
        let text = Base64URL.encode(bytes)
        #expect(!text.contains { "+/=".contains($0) })
        #expect(text.contains("-") && text.contains("_"))
        #expect(Base64URL.decode(Array(text.utf8)) == bytes)
    }

    @Test(
        "Padding, the other alphabet and white space are refused",
        arguments: [
            "Zg==", "Zm8=", "Zg=", "-_+A", "-_/A", "Zm 9v", "Zm9v\n", "A", "Zm9vY", "Zg\u{0}", "=", "====", "Zoë",
        ])
    func refuses(text: String) {
        #expect(Base64URL.decode(Array(text.utf8)) == nil)
    }
}
