// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Testing

/// Files that other projects wrote, below the folder that `KALENDS_CORPORA` names; none without it.
package enum Corpora {
    /// Where a name is looked for: in the folder itself, then in each folder within it.
    private static let folders: [URL] = {
        guard let path = ProcessInfo.processInfo.environment["KALENDS_CORPORA"], !path.isEmpty else { return [] }
        let root = URL(filePath: path, directoryHint: .isDirectory, relativeTo: packageRoot).standardizedFileURL
        // A misspelt path would leave tests out, and nobody would see it.
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: root.path) else {
            fatalError("KALENDS_CORPORA names no folder: \(root.path)")
        }
        return [root] + names.sorted().map { root.appending(path: $0) }
    }()

    /// Returns the file or folder of a name such as `ical4j/valid`; nil where there is none.
    package static func find(_ name: String) -> URL? {
        folders.map { $0.appending(path: name) }.first { FileManager.default.fileExists(atPath: $0.path) }
    }

    /// The environment of a program that looks for such files too.
    package static let environment = plainEnvironment.merging(
        ["KALENDS_CORPORA": ProcessInfo.processInfo.environment["KALENDS_CORPORA"] ?? ""]) { $1 }

    /// The folder in which each project's calendar files have a folder.
    package static let calendars = find("ical4j")?.deletingLastPathComponent()
}

/// A calendar file that tests read: one of the samples, or one that another project wrote.
package struct CalendarFile: Sendable, CustomStringConvertible {
    /// The path within the repository (`Samples/…`) or within the corpora.
    package var path: String
    package var url: URL

    package init(path: String, url: URL) { (self.path, self.url) = (path, url) }

    package var description: String { path }
    package var bytes: [UInt8] { get throws { [UInt8](try Data(contentsOf: url)) } }

    /// The samples, which every clone has.
    package static let samples = files(in: packageRoot, below: "Samples")
    /// What other projects wrote; empty unless `KALENDS_CORPORA` names their files.
    package static let foreign = Corpora.calendars.map { files(in: $0) } ?? []
    package static let all = samples + foreign

    /// Returns the files below a path: of the samples, or of what other projects wrote.
    package static func files(under path: String) -> [CalendarFile] {
        all.filter { $0.path.hasPrefix("\(path)/") && $0.path.hasSuffix(".ics") }
    }

    /// Returns the calendar files of a folder, by path.
    package static func files(in root: URL, below folder: String = "") -> [CalendarFile] {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)) ?? []
        return paths.filter { $0.hasSuffix(".ics") || $0.hasSuffix(".vcs") }.sorted().map { path in
            let path = folder.isEmpty ? path : "\(folder)/\(path)"
            return CalendarFile(path: path, url: root.appending(path: path))
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// The trait of tests that mean something only with files of other projects.
    package static func needsCorpora(_ name: String) -> Self {
        .enabled(if: Corpora.find(name) != nil, "KALENDS_CORPORA names no folder with \(name)")
    }
}
