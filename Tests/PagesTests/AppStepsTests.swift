// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import Pages

@Suite("The steps of calendar apps")
struct AppStepsTests {
    /// The sections of docs/caldav-accounts.md, with the app of the pages that each is about.
    private static let sections: [(title: String, app: CalendarApp?)] = [
        ("iPhone and iPad", .apple), ("Mac", .apple), ("Thunderbird", .thunderbird), ("Android with DAVx5", .davx5),
        ("GNOME and Evolution", .evolution), ("KDE and KOrganizer", .korganizer),
        ("Outlook with CalDav Synchronizer", .outlook), ("vdirsyncer", nil), ("Home Assistant", nil),
    ]

    /// Returns the words between quotation marks.
    private static func quoted(_ text: String) -> [String] {
        text.split(separator: "“").dropFirst().compactMap { $0.split(separator: "”").first.map(String.init) }
    }

    @Test("The document has each app in five steps, which name what the page's steps name")
    func document() throws {
        let text = try String(
            contentsOf: packageRoot.appending(path: "docs/caldav-accounts.md"), encoding: .utf8)
        let parts = text.components(separatedBy: "\n## ").dropFirst()
        var shown: [CalendarApp: String] = [:]
        for (title, app) in Self.sections {
            let part = try #require(parts.first { $0.hasPrefix("\(title)\n") }, "\(title)")
            let steps = part.components(separatedBy: "\n").compactMap { line in
                line.dropFirst().hasPrefix(". ") ? line.first.map(String.init) : nil
            }
            #expect(steps == ["1", "2", "3", "4", "5"], "\(title)")
            guard let app else { continue }
            shown[app, default: ""] += part.split { $0.isWhitespace }.joined(separator: " ")
        }
        for app in CalendarApp.allCases where app != .other {
            let section = try #require(shown[app], "\(app)")
            let names = app.steps(.of(.english)).flatMap(Self.quoted)
            #expect(!names.isEmpty, "\(app)")
            for name in names { #expect(section.contains("\"\(name)\""), "\(app): \(name)") }
        }
    }
}
