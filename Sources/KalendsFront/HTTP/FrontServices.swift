// SPDX-License-Identifier: Apache-2.0

package import KalendsCore

/// The product's services, and the other state that all HTTP handlers share.
package struct FrontServices: Sendable {
    package let services: Services
    /// The bytes of feeds as they are sent.
    let bodies: FeedBodies
    let proxyNotice = ProxyNotice()

    package init(_ services: Services) {
        self.services = services
        bodies = FeedBodies(limit: services.settings.cacheBytes / 3)
    }
}
