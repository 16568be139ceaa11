// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What Scripts/fuzz.sh found to reach a branch, once more: each input keeps its reader's promises.
@Suite("Inputs that the fuzzer kept")
struct ReplayTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "corpus/readers")

    private static func inputs(of number: UInt8) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasPrefix(String(number, radix: 16) + "-") }
    }

    @Test("Each reader keeps its promises for the inputs that are kept", arguments: Reader.numbers)
    func replay(number: UInt8) throws {
        let name = Reader.numbered(number)?.name ?? ""
        let inputs = try Self.inputs(of: number)
        #expect(!inputs.isEmpty, "no input of the reader \(name) is kept")
        for file in inputs {
            let input = Array(try Data(contentsOf: file))
            #expect(throws: Never.self, "\(name): \(file.lastPathComponent)") { _ = try Reader.check(input) }
        }
    }
}
