// SPDX-License-Identifier: Apache-2.0

import Crypto
import FeedTokens

/// The host application's name and look on the pages, and the origins that may frame them.
package struct BrandSettings: Sendable {
    /// A picture that pages show beside the name.
    package struct Logo: Sendable {
        package let bytes: [UInt8]
        package let mediaType: String

        /// The path changes with the picture, so browsers may cache it forever.
        package var path: String { "/app/assets/\(ContentHash(of: SHA256.hash(data: bytes)).text)/logo" }
    }

    package private(set) var name = "Kalends"
    /// A colour in the form #rrggbb.
    package private(set) var accent: String?
    package private(set) var logo: Logo?
    /// The value of `frame-ancestors` in the Content-Security-Policy.
    package private(set) var frameAncestors = "'none'"

    /// The largest picture that is accepted, in bytes: every visitor loads it once.
    static let mostLogoBytes = 100_000

    init() {}

    init(name: String) { self.name = name }

    init(_ values: inout SettingValues) {
        if let text = values.filled(.appName) {
            if (1...50).contains(text.count), !text.contains(where: \.isNewline) {
                name = text
            } else {
                values.note(.appName, "must have 1 to 50 characters on one line.")
            }
        }
        if let text = values.filled(.appAccent) {
            accent = Self.isColor(text) ? text : nil
            if accent == nil { values.note(.appAccent, "must be a colour in the form #rrggbb.") }
        }
        if let path = values.filled(.appLogo) { readLogo(path, &values) }
        let origins = values.origins(.frameAncestors)
        if !origins.isEmpty { frameAncestors = origins.joined(separator: " ") }
    }

    private mutating func readLogo(_ path: String, _ values: inout SettingValues) {
        do {
            let bytes = try InputFile(path, limit: Self.mostLogoBytes).whole()
            guard let type = Self.mediaType(of: bytes) else {
                values.note(.appLogo, "names \(path), which is not a picture in SVG, PNG, JPEG or WebP.")
                return
            }
            logo = Logo(bytes: bytes, mediaType: type)
        } catch {
            values.note(.appLogo, "names a file that cannot be used: \(publicText(error))")
        }
    }

    /// Returns the media type that the first bytes indicate, whatever the file is called.
    private static func mediaType(of bytes: [UInt8]) -> String? {
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return "image/png" }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) { return "image/webp" }
        let text = bytes.drop { $0 <= 0x20 || [0xEF, 0xBB, 0xBF].contains($0) }
        return text.starts(with: "<svg".utf8) || text.starts(with: "<?xml".utf8) ? "image/svg+xml" : nil
    }

    private static func isColor(_ text: String) -> Bool {
        text.utf8.count == 7 && text.utf8.first == UInt8(ascii: "#")
            && text.utf8.dropFirst().allSatisfy { byte in
                (48...57).contains(byte) || (97...102).contains(byte | 0x20)
            }
    }
}

extension Setting {
    package static let appName = Setting(
        "appName", .text, standard: "Kalends", "The name of the application on the pages, 1 to 50 characters.")
    package static let appAccent = Setting(
        "appAccent", .text, standard: "blue",
        "The colour of the pages' links and buttons, #rrggbb; one that could not be read is made darker or lighter.")
    package static let appLogo = Setting(
        "appLogo", .text, standard: "no picture",
        "A file with the picture next to the name: SVG, PNG, JPEG or WebP, 100 kB at most.")
    package static let frameAncestors = Setting(
        "frameAncestors", .list, standard: "nobody",
        "Origins whose pages may show this server's in a frame: https://app.example, separated by commas.")

    package static let brand: [Setting] = [appName, appAccent, appLogo, frameAncestors]
}
