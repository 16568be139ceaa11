// SPDX-License-Identifier: Apache-2.0

/// A file beside the pages. Its path changes with its content, so that browsers may keep it for ever.
public struct PageAsset: Sendable {
    /// Below this server, `/app/assets/…`.
    public let path: String
    public let mediaType: String
    public let bytes: [UInt8]
}

public enum PageAssets {
    /// All that is served, the brand's own style sheet apart.
    public static let all: [PageAsset] = [style] + scripts.map(\.asset)

    static let style = PageAsset(
        path: path(PageFiles.style, "style.css"), mediaType: "text/css; charset=utf-8", bytes: PageFiles.style)

    private static let scripts = PageFiles.scripts.map { name, bytes in
        (
            name: name,
            asset: PageAsset(
                path: path(bytes, "\(name).js"), mediaType: "text/javascript; charset=utf-8", bytes: bytes)
        )
    }

    static func script(_ name: String) -> PageAsset? { scripts.first { $0.name == name }?.asset }

    /// The brand's colour; nil for a brand without one.
    public static func brand(_ brand: Brand) -> PageAsset? {
        guard brand.accent != nil else { return nil }
        return PageAsset(
            path: brandPath(brand), mediaType: "text/css; charset=utf-8", bytes: Array(brand.stylesheet.utf8))
    }

    static func brandPath(_ brand: Brand) -> String { path(Array(brand.stylesheet.utf8), "brand.css") }

    /// FNV-1a: a mark of the content, and no protection.
    private static func path(_ bytes: [UInt8], _ name: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return "/app/assets/\(String(hash, radix: 16))/\(name)"
    }
}
