// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Programs that tests use when the machine has them; `make test` installs them all.
package enum Programs {
    /// A Python with the readers of `Tests/requirements.txt`.
    package static let python = ProcessInfo.processInfo.environment["KALENDS_PYTHON"]
    package static let environment = plainEnvironment
    package static let node = find("node")
    /// The folder of the npm package ical.js.
    package static let icaljs = [
        ProcessInfo.processInfo.environment["KALENDS_ICALJS"],
        packageRoot.appending(path: ".tools/node_modules/ical.js").path,
    ].compactMap { $0 }.first { FileManager.default.fileExists(atPath: $0) }
    package static let vdirsyncer = find("vdirsyncer")
    package static let khal = find("khal")
    /// Whether a sanitizer watches these tests: its own notes need more addresses than any limit leaves.
    package static let isSanitized = ProcessInfo.processInfo.environment["KALENDS_SANITIZED"] != nil

    /// The executable that was built with these tests.
    package static let kalends: String = {
        let beside = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        let candidates = [
            beside.appending(path: "kalends").path, packageRoot.appending(path: ".build/debug/kalends").path,
        ]
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0) } ?? candidates[1]
    }()

    private static func find(_ name: String) -> String? {
        ["/usr/bin", "/usr/local/bin"].map { "\($0)/\(name)" }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }
}
