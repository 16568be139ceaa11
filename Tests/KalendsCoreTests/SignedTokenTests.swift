// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import Foundation
import TestSupport
import Testing

@testable import KalendsCore

@Suite("Signatures by the standards' own examples")
struct SignedTokenTests {
    private static let payload =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    /// RFC 7515, appendices A.1 to A.3.
    private static let examples = [
        "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.\(payload).dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
        "eyJhbGciOiJSUzI1NiJ9.\(payload)."
            + "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujG"
            + "bds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K"
            + "0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6"
            + "LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
        "eyJhbGciOiJFUzI1NiJ9.\(payload)."
            + "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
    ]

    private static func keys() throws -> [VerifyingKey] {
        let secret = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"
        let rsa: JSONValue = [
            "kty": "RSA", "e": "AQAB",
            "n": .string(
                "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yR"
                    + "T-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e"
                    + "-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NA"
                    + "co9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"),
        ]
        let elliptic: JSONValue = [
            "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
        ]
        return [
            VerifyingKey(secret: try #require(Base64URL.decode(Array(secret.utf8)))),
            try #require(VerifyingKey(jwk: rsa, leastBits: 2048)),
            try #require(VerifyingKey(jwk: elliptic, leastBits: 2048)),
        ]
    }

    @Test("Each example is verified by its own key and by no other, and by none once a character differs")
    func examples() throws {
        let keys = try Self.keys()
        for (index, example) in Self.examples.enumerated() {
            let token = try #require(SignedToken(Concealed(example)))
            #expect(token.claims["iss"] == "joe" && token.claims["exp"] == 1_300_819_380)
            #expect(keys.map { $0.verifies(token) } == (0..<3).map { $0 == index })
            var changed = Array(example.utf8)
            // In the middle of the payload, and of the signature.
            for position in [80, changed.count - 20] {
                changed[position] = changed[position] == 65 ? 66 : 65
                let other = SignedToken(Concealed(String(decoding: changed, as: UTF8.self)))
                #expect(other.map { token in keys.contains { $0.verifies(token) } } != true)
            }
        }
    }

    @Test("An RSA key whose signatures anybody can make is not accepted", arguments: ["AQ", "AAAB", "AA", "Ag", ""])
    func exponents(exponent: String) throws {
        let modulus = Base64URL.encode((0..<256).map { UInt8($0) | 1 | ($0 == 0 ? 0x80 : 0) })
        let key: [ByteString: JSONValue] = ["kty": "RSA", "n": .string(modulus), "e": "AQAB"]
        #expect(VerifyingKey(jwk: .object(key), leastBits: 2048) != nil)
        let other = JSONValue.object(key.merging(["e": .string(exponent)]) { _, new in new })
        #expect(VerifyingKey(jwk: other, leastBits: 2048) == nil)
    }

    @Test("The unsecured example of RFC 7515 appendix A.5 is not a valid token")
    func unsecured() {
        #expect(SignedToken(Concealed("eyJhbGciOiJub25lIn0.\(Self.payload).")) == nil)
    }

    @Test(
        "A public key counts only for signatures, and for only one algorithm",
        arguments: [
            ["use": "enc"], ["use": ""], ["key_ops": ["encrypt"]], ["key_ops": "verify"], ["alg": "ES384"],
            ["alg": "HS256"], ["alg": 7], ["crv": "P-384"], ["kty": "oct", "k": "AAAA"], ["kty": "RSA"], ["x": "AAAA"],
            ["y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5b0"], ["x": 7],
        ] as [JSONValue])
    func keys(change: JSONValue) throws {
        var jwk: [ByteString: JSONValue] = [
            "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0", "use": "sig", "alg": "ES256", "kid": "k",
            "key_ops": ["verify"],
        ]
        #expect(VerifyingKey(jwk: .object(jwk), leastBits: 2048)?.id == "k")
        jwk.merge(try #require(change.object)) { _, new in new }
        #expect(VerifyingKey(jwk: .object(jwk), leastBits: 2048) == nil)
    }

    @Test(
        "An RSA key counts by the length of its modulus, whatever zeros are before it", arguments: [2048, 3064, 3072])
    func bits(length: Int) async throws {
        let made = try await runProgram(
            "/bin/sh", ["-c", "openssl genrsa \(length) 2>/dev/null | openssl rsa -noout -modulus 2>/dev/null"])
        let digits = Array(try #require(made.output.split(separator: "=").last).trimmingCharacters(in: .newlines).utf8)
        let modulus = try stride(from: 0, to: digits.count, by: 2).map {
            try #require(UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16))
        }
        #expect(modulus.count == length / 8)
        for zeros in 0...1 {
            let text = Base64URL.encode([UInt8](repeating: 0, count: zeros) + modulus)
            let jwk: JSONValue = ["kty": "RSA", "e": "AQAB", "n": .string(text)]
            #expect(VerifyingKey(jwk: jwk, leastBits: 2048) != nil)
            #expect((VerifyingKey(jwk: jwk, leastBits: 3072) != nil) == (length >= 3072))
        }
    }
}
