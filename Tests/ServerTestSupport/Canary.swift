// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// A secret in the forms in which it might leak: in plain text, as bytes, in hex and in base64.
struct Canary {
    let name: String
    let spellings: [Data]

    init(_ name: String, _ text: String) throws {
        self.name = name
        let prefixes = ["kal_sk_", "kal_ss_", "kal_dv_", "kal_sl_", "kal_os_", "kal_cc_", "kal_pf_", "kal_al_"]
        let bits = prefixes.reduce(text) { $0.replacing($1, with: "") }.trimmingCharacters(in: ["=", "\n"])
        let standard = bits.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        let raw = try #require(Data(base64Encoded: standard + padding))
        #expect(raw.count == 32)
        let hex = Self.hex(raw)
        let texts = [bits, bits.replacing("-", with: "+").replacing("_", with: "/"), hex, hex.uppercased()]
        spellings = [raw] + Set(texts + Self.nested(bits)).map { Data($0.utf8) }
    }

    /// A secret that somebody chose, such as a password.
    init(_ name: String, chosen text: String) {
        self.name = name
        let hex = Self.hex(Data(text.utf8))
        spellings = ([text, hex, hex.uppercased()] + Self.nested(text)).map { Data($0.utf8) }
    }

    private static func hex(_ data: Data) -> String {
        data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The text's own base64, at each of the three positions that it can have in a longer text.
    private static func nested(_ text: String) -> [String] {
        (0..<3).map { shift -> String in
            let whole = (Data(repeating: 0, count: shift) + Data(text.utf8)).base64EncodedString()
            return String(whole.dropFirst(4).dropLast(4))
        }
    }

    func stands(in data: Data) -> Bool { spellings.contains { data.holds($0) } }
}
