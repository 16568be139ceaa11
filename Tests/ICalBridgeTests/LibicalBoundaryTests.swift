// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import ICalBridge

@Suite("libical stays behind one door", .ownThread)
struct LibicalBoundaryTests {
    @Test("Only Sources/ICalBridge/Libical imports CLibical")
    func imports() throws {
        let root = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let sources = root.appending(path: "Sources").path
        var seen = 0
        for path in try FileManager.default.subpathsOfDirectory(atPath: sources) where path.hasSuffix(".swift") {
            let text = try String(contentsOf: URL(filePath: sources + "/" + path), encoding: .utf8)
            let imports = text.split(separator: "\n").contains { $0.hasSuffix("import CLibical") }
            if path.contains("ICalBridge/Libical/") { seen += 1 } else { #expect(!imports, "\(path)") }
            for name in [
                "icalcomponent_normalize", "icalcomponent_merge_component", "truncate_vtimezone", "foreach_recurrence",
            ] {
                #expect(!text.contains(name), "\(path) calls \(name)")
            }
        }
        #expect(seen > 0)
    }

    @Test("A slice with nothing libical knows gives nothing, and no crash")
    func refusedSlices() {
        #expect(DecodedSlice([0]) == nil)
        #expect(DecodedSlice([]) == nil)
        #expect(DecodedSlice(Array("BEGIN:VEVENT\n".utf8) + [0]) == nil)
        #expect(DecodedSlice(Array("BEGIN:VEVENT\nEND:VEVENT\n".utf8)) == nil, "a slice has to end with a NUL")
        let broken = DecodedSlice(Array("BEGIN:VEVENT\nDTSTART:rubbish\nSUMMARY:a\nEND:VEVENT\n".utf8) + [0])
        #expect(broken?.properties.count == 1)
        #expect(broken?.errors.isEmpty == false)
    }
}
