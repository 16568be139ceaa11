// SPDX-License-Identifier: Apache-2.0

/// A QR code of bytes (ISO/IEC 18004, model 2, byte mode, error correction M).
public struct QRCode: Sendable {
    /// Modules on each side, without the quiet zone.
    public let size: Int
    private var dark: [Bool]

    /// - Returns: nil for more than 2,331 bytes.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let version = (1...40).first(where: { Self.capacity($0) >= bytes.count }) else { return nil }
        var canvas = QRCanvas(version: version)
        canvas.drawPatterns()
        canvas.draw(QRWords.interleaved(bytes, version: version))
        size = canvas.size
        dark = canvas.masked()
    }

    public func isDark(_ column: Int, _ row: Int) -> Bool { dark[row * size + column] }

    /// The number of bytes that a version holds.
    private static func capacity(_ version: Int) -> Int {
        (QRWords.dataWords(version) * 8 - 4 - (version < 10 ? 8 : 16)) / 8
    }

    /// The width in modules of the light border around the code.
    static let quiet = 4

    /// All dark modules as one SVG path, with one step for each run in a row.
    var path: String {
        var path = ""
        for row in 0..<size {
            var column = 0
            while column < size {
                guard isDark(column, row) else {
                    column += 1
                    continue
                }
                var end = column
                while end < size, isDark(end, row) { end += 1 }
                path += "M\(column + Self.quiet) \(row + Self.quiet)h\(end - column)v1h-\(end - column)z"
                column = end
            }
        }
        return path
    }
}
