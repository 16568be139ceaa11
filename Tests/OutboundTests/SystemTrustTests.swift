// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOSSL
import Testing

@testable import Outbound

@Suite("What the machine trusts")
struct SystemTrustTests {
    private static let file = "/etc/ssl/certs/ca-certificates.crt"

    @Test(
        "Every authority of the machine's list is trusted, and the list is read once",
        .enabled(if: FileManager.default.fileExists(atPath: file)))
    func roots() throws {
        let text = try String(contentsOfFile: Self.file, encoding: .utf8)
        guard case .certificates(let first) = SystemTrust.roots, case .certificates(let second) = SystemTrust.roots
        else {
            Issue.record("the list was not read")
            return
        }
        #expect(first.count == text.components(separatedBy: "-----BEGIN CERTIFICATE-----").count - 1)
        // The list itself, and not another with the same content.
        #expect(
            unsafe first.withUnsafeBufferPointer { one in
                unsafe second.withUnsafeBufferPointer { unsafe one.baseAddress == $0.baseAddress }
            })
    }
}
