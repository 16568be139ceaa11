// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("A whole server in a network where every packet is seen")
struct FetchNamespaceTests {
    private static var isPossible: Bool {
        geteuid() == 0
            && ["/usr/bin/unshare", "/usr/sbin/ip", "/usr/bin/python3"].allSatisfy {
                FileManager.default.isExecutableFile(atPath: $0)
            }
    }

    private struct Findings: Codable {
        var cases: Int
        var refused: Int
        var others: [String]
        var turned: [Int]
        var turnedLater: [Int]
        var good: [Int]
        var packetsToHost: Int
        var leaks: [String]
        /// How many of the script's own three stray packets were seen.
        var probesSeen: Int
    }

    @Test(
        "No packet goes to an address that is not public: by spelling, name, redirect or a name that turns",
        .enabled(if: isPossible, "needs root, unshare, ip and python3"))
    func packets() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "net-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var urls = ForbiddenAddresses.urls.filter { !$0.contains("cal.example") }
        for host in ForbiddenAddresses.hosts { urls += ["http://\(host)/x", "https://\(host):8443/x"] }
        let list = folder.appending(path: "urls.json")
        try JSONEncoder().encode(urls).write(to: list)
        let script = packageRoot.appending(path: "Tests/ImportsTests/Oracles/ssrf_namespace.py").path
        let result = try await runProgram(
            "/usr/bin/unshare",
            ["-n", "-m", "/usr/bin/python3", script, Programs.kalends, folder.path, list.path])
        if result.status == 77 { try Test.cancel("A network of one's own cannot be made here: \(result.error)") }
        let found = try JSONDecoder().decode(Findings.self, from: Data(result.output.utf8))
        #expect(found.cases > 1500 && found.refused == found.cases, "\(found.others)")
        // The watch sees packets, the good host is reached, and a name is good as long as it leads there.
        #expect(found.good == [201, 201, 201] && found.packetsToHost > 500)
        #expect(Set(found.turned) == [201] && Set(found.turnedLater) == [422])
        #expect(found.leaks == [] && found.probesSeen == 3)
    }
}
