// SPDX-License-Identifier: Apache-2.0

/// The parts of the host application's brand that the pages show.
public struct Brand: Sendable {
    public var name: String
    /// The path of the logo on this server; nil when there is no logo.
    public var logo: String?
    public private(set) var accent: AccentColor?

    public init(name: String = "Kalends", logo: String? = nil, accent: AccentColor? = nil) {
        (self.name, self.logo, self.accent) = (name, logo, accent)
    }

    /// A style sheet with the brand's colour, which is served in addition to the others.
    public var stylesheet: String {
        guard let accent else { return "" }
        return """
            :root { --accent: \(accent.onLight.hex); --on-accent: \(accent.onLight.inkOnTop.hex); }
            @media (prefers-color-scheme: dark) {
              :root { --accent: \(accent.onDark.hex); --on-accent: \(accent.onDark.inkOnTop.hex); }
            }

            """
    }
}

/// A colour for links and buttons whose contrast is at least 4.5 to 1 on both backgrounds (WCAG 2.2, 1.4.3).
public struct AccentColor: Sendable {
    let onLight: PageColor
    let onDark: PageColor

    /// Makes the colour darker for light pages and lighter for dark pages until the contrast is sufficient.
    ///
    /// - Returns: nil for text that is not `#rrggbb`.
    public init?(_ hex: String) {
        guard let color = PageColor(hex) else { return nil }
        onLight = color.moved(to: PageColor(0, 0, 0), until: .lightGround)
        onDark = color.moved(to: PageColor(255, 255, 255), until: .darkGround)
    }
}

/// A colour in sRGB.
struct PageColor: Sendable, Equatable {
    let (red, green, blue): (Int, Int, Int)

    /// The lightest background of the light theme on which accents are used, as in the style sheet's variables.
    static let lightGround = PageColor(0xEE, 0xEF, 0xF2)
    /// The lightest background of the dark theme.
    static let darkGround = PageColor(0x2B, 0x30, 0x3A)

    init(_ red: Int, _ green: Int, _ blue: Int) { (self.red, self.green, self.blue) = (red, green, blue) }

    init?(_ hex: String) {
        let bytes = Array(hex.utf8)
        guard bytes.count == 7, bytes[0] == UInt8(ascii: "#"), let value = Int(hex.dropFirst(), radix: 16), value >= 0,
            bytes[1] != UInt8(ascii: "+")
        else { return nil }
        self.init(value >> 16, value >> 8 & 255, value & 255)
    }

    static func == (left: PageColor, right: PageColor) -> Bool {
        left.red == right.red && left.green == right.green && left.blue == right.blue
    }

    var hex: String {
        "#" + [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The relative luminance as defined by WCAG 2.2.
    var luminance: Double {
        func part(_ value: Int) -> Double {
            let share = Double(value) / 255
            guard share > 0.04045 else { return share / 12.92 }
            return Self.power((share + 0.055) / 1.055)
        }
        return 0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue)
    }

    func contrast(with other: PageColor) -> Double {
        let (high, low) = (max(luminance, other.luminance), min(luminance, other.luminance))
        return (high + 0.05) / (low + 0.05)
    }

    var inkOnTop: PageColor {
        let (white, black) = (PageColor(255, 255, 255), PageColor(0, 0, 0))
        return contrast(with: white) >= contrast(with: black) ? white : black
    }

    func moved(to end: PageColor, until ground: PageColor) -> PageColor {
        for step in 0...50 {
            let color = PageColor(
                red + (end.red - red) * step / 50, green + (end.green - green) * step / 50,
                blue + (end.blue - blue) * step / 50)
            if color.contrast(with: ground) >= 4.6 { return color }
        }
        return end
    }

    /// x to the power of 2.4 for x between 0 and 1: x² times the fifth root of x², by Newton's method.
    private static func power(_ base: Double) -> Double {
        let square = base * base
        guard square > 0 else { return 0 }
        var root = 1.0
        for _ in 0..<40 { root -= (root * root * root * root * root - square) / (5 * root * root * root * root) }
        return square * root
    }
}
