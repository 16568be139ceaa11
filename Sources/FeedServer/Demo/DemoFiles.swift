// SPDX-License-Identifier: Apache-2.0

/// The samples of the demo, embedded in the program so that it runs wherever the program is.
enum DemoFiles {
    /// Another calendar program's export, by the name of its file.
    static func export(_ name: String) -> [UInt8]? {
        let text: String? =
            switch name {
            case "apple-export.ics": appleExport
            case "google-export.ics": googleExport
            case "outlook-export.ics": outlookExport
            default: nil
            }
        return text.map { Array(($0 + "\n").replacing("\n", with: "\r\n").utf8) }
    }
}
