// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import NIOCore
import Pages

/// The resources that pages load: styles, scripts and the brand's logo.
struct AssetPages: Sendable {
    let settings: ServerSettings

    func add(to routes: inout RouteTable) throws {
        let front = PageFront(settings: settings)
        var assets = PageAssets.all
        if let brand = PageAssets.brand(settings.brand.shown) { assets.append(brand) }
        for asset in assets {
            // The path changes with the content.
            let answer = Self.answer(asset.bytes, asset.mediaType, "public, max-age=31536000, immutable", front)
            routes.page(.get, asset.path, for: .anyone) { _ in answer() }
        }
        if let logo = settings.brand.logo {
            let answer = Self.answer(logo.bytes, logo.mediaType, "public, max-age=31536000, immutable", front)
            routes.page(.get, logo.path, for: .anyone) { _ in answer() }
        }
    }

    private static func answer(
        _ bytes: [UInt8], _ type: String, _ cache: String, _ front: PageFront
    ) -> @Sendable () -> Response {
        let body = ByteBuffer(bytes: bytes)
        var headers = front.manners
        headers[.contentType] = type
        headers[.cacheControl] = cache
        // A picture that is opened directly is displayed but cannot run anything.
        headers[.contentSecurityPolicy] = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
        return { [headers] in Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body)) }
    }
}
