// SPDX-License-Identifier: Apache-2.0

import Base
import Testing

@Suite("Base32")
struct Base32Tests {
    @Test(
        "Bytes are written as RFC 4648 section 10 says, without padding, and read again in any case",
        arguments: [
            ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI"),
        ])
    func standard(text: String, encoded: String) {
        #expect(Base32.encode(Array(text.utf8)) == encoded)
        #expect(Base32.decode(encoded.utf8) == Array(text.utf8))
        #expect(Base32.decode(encoded.lowercased().utf8) == Array(text.utf8))
    }

    @Test("Every length comes back")
    func lengths() {
        for count in 0..<50 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
            #expect(Base32.decode(Base32.encode(bytes).utf8) == bytes)
        }
    }

    @Test(
        "A text that no bytes have is refused",
        arguments: ["M", "MZX", "MZXW6Y", "MZ", "MZXW7", "M0", "M1", "M8", "MY======", "M Y", "MÝ"])
    func refused(text: String) { #expect(Base32.decode(text.utf8) == nil) }
}
