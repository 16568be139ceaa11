// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Pages

struct PicturesTests {
    private static let decoder = "/usr/bin/zbarimg"

    /// Returns the text that ZBar reads from a code, at four pixels per module.
    private static func decoded(_ code: QRCode) throws -> String {
        let (scale, quiet) = (4, 4)
        let side = (code.size + 2 * quiet) * scale
        var image = Array("P5 \(side) \(side) 255\n".utf8)
        for y in 0..<side {
            for x in 0..<side {
                let (column, row) = (x / scale - quiet, y / scale - quiet)
                let isDark =
                    (0..<code.size).contains(column) && (0..<code.size).contains(row) && code.isDark(column, row)
                image.append(isDark ? 0 : 255)
            }
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "code-\(UUID().uuidString).pgm")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(image).write(to: file)
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: decoder)
        process.arguments = ["--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", file.path]
        process.standardOutput = output
        process.standardError = Pipe()
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    @Test(
        "ZBar reads a QR code of each size back",
        .enabled(if: FileManager.default.isExecutableFile(atPath: decoder)),
        arguments: [1, 14, 15, 26, 60, 84, 106, 122, 152, 180, 213, 287, 450, 700, 1100, 1600, 2331])
    func codes(_ length: Int) throws {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:".utf8)
        let bytes = (0..<length).map { alphabet[($0 * 31 + length) % alphabet.count] }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(try Self.decoded(try #require(QRCode(text))) == text)
    }

    @Test("A text that is too long for any QR code makes none")
    func tooLong() {
        #expect(QRCode(String(repeating: "a", count: 2332)) == nil)
    }

    @Test("The scale of a picture ends at a round number that is not below its highest column")
    func scale() {
        for value in [0, 1, 2, 3, 10, 11, 99, 100, 101, 1999] { #expect(RenderContext.roundTop(value) >= value) }
        #expect(RenderContext.roundTop(37) == 40)
        #expect((-15).decimal == "-1.5")
    }

    @Test("An accent is made readable on both grounds, whatever colour it is")
    func accents() throws {
        for hex in ["#ffff00", "#000000", "#ffffff", "#808080", "#0b6170", "#ff0000", "#00ff88"] {
            let accent = try #require(AccentColor(hex))
            #expect(accent.onLight.contrast(with: .lightGround) >= 4.5)
            #expect(accent.onDark.contrast(with: .darkGround) >= 4.5)
            #expect(accent.onLight.contrast(with: accent.onLight.inkOnTop) >= 4.5)
            #expect(accent.onDark.contrast(with: accent.onDark.inkOnTop) >= 4.5)
        }
        for text in ["", "red", "#fff", "#gggggg", "#-12345", "#+12345", "}body{}"] {
            #expect(AccentColor(text) == nil)
        }
        // Of the two colours whose contrast WCAG gives as 21 and as 1.
        #expect(abs(PageColor(0, 0, 0).contrast(with: PageColor(255, 255, 255)) - 21) < 0.001)
        #expect(abs(PageColor(119, 119, 119).contrast(with: PageColor(255, 255, 255)) - 4.478) < 0.01)
    }
}
