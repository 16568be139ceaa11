// SPDX-License-Identifier: Apache-2.0

/// A file that pages load. Its path changes with its content, so that browsers may cache it forever.
public struct PageAsset: Sendable {
    /// The path on this server, `/app/assets/…`.
    public let path: String
    public let mediaType: String
    public let bytes: [UInt8]
}

public enum PageAssets {
    /// All files that are served, except the brand's own style sheet.
    public static let all: [PageAsset] = [style, icon] + scripts.map(\.asset)

    static let style = PageAsset(
        path: path(PageFiles.style, "style.css"), mediaType: "text/css; charset=utf-8", bytes: PageFiles.style)

    /// The icon that a browser shows next to a page's title if the brand has no logo.
    static let icon = PageAsset(path: path(picture, "icon.svg"), mediaType: "image/svg+xml", bytes: picture)

    private static let picture = Array(
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="3" y="5" width="26" height="24" rx="6" \
        fill="#3f5bd8"/><path d="M3 12h26" stroke="#fff" stroke-width="2"/><path d="M10 2v6M22 2v6" stroke="#3f5bd8" \
        stroke-width="3" stroke-linecap="round"/><path d="M10 20l4 4 8-8" fill="none" stroke="#fff" stroke-width="3"/>\
        </svg>
        """.utf8)

    private static let scripts = PageFiles.scripts.map { name, bytes in
        (
            name: name,
            asset: PageAsset(
                path: path(bytes, "\(name).js"), mediaType: "text/javascript; charset=utf-8", bytes: bytes)
        )
    }

    static func script(_ name: String) -> PageAsset? { scripts.first { $0.name == name }?.asset }

    /// The style sheet with the brand's colour; nil for a brand without one.
    public static func brand(_ brand: Brand) -> PageAsset? {
        guard brand.accent != nil else { return nil }
        return PageAsset(
            path: brandPath(brand), mediaType: "text/css; charset=utf-8", bytes: Array(brand.stylesheet.utf8))
    }

    static func brandPath(_ brand: Brand) -> String { path(Array(brand.stylesheet.utf8), "brand.css") }

    /// The path with an FNV-1a hash, which identifies the content and does not protect it.
    private static func path(_ bytes: [UInt8], _ name: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return "/app/assets/\(String(hash, radix: 16))/\(name)"
    }
}
