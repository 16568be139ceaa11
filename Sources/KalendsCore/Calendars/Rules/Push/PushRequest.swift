// SPDX-License-Identifier: Apache-2.0

import Calendar
package import ICalBridge

/// Why a registration is refused (draft-bitfire-webdav-push, "Response").
package enum PushFault: Error, Sendable {
    /// 403 with `invalid-subscription`
    case invalidSubscription
    /// 403 with `push-not-available`
    case notAvailable
    /// 403 with `no-supported-trigger`
    case noSupportedTrigger
}

/// What a calendar app asks for with `push-register`.
package struct PushRequest: Sendable {
    let target: PushTarget
    /// Whether it hears of changes of what is in the collection.
    let wantsContent: Bool
    /// Whether it hears when the collection looks different.
    let wantsProperties: Bool
    /// Until when, in seconds since 1970; nil for as long as possible.
    let expires: Int?

    /// Reads the body of a request.
    ///
    /// - Parameter accepts: whether messages may be sent to an address.
    package init(_ body: XMLElement, accepts: (String) -> Bool) throws(PushFault) {
        guard let target = Self.target(body), accepts(target.url.reveal()) else { throw .invalidSubscription }
        let triggers = body.child(.push, "trigger")?.children ?? []
        let content = triggers.first { $0.is(.push, "content-update") }
        let properties = triggers.first { $0.is(.push, "property-update") }
        guard content != nil || properties != nil else { throw .noSupportedTrigger }
        self.target = target
        // A calendar has no text of its own that could change; what changes is in it.
        wantsContent = content.map { $0.child(.dav, "depth")?.trimmed != "0" } ?? false
        wantsProperties = properties != nil
        expires = body.child(.push, "expires").flatMap { Instant(httpDate: $0.trimmed) }?.seconds
    }

    private static func target(_ body: XMLElement) -> PushTarget? {
        guard body.children(.push, "subscription").count == 1,
            let subscription = body.child(.push, "subscription")?.child(.push, "web-push-subscription"),
            let resource = subscription.child(.push, "push-resource")?.trimmed, !resource.isEmpty,
            subscription.child(.push, "content-encoding")?.trimmed == "aes128gcm",
            let key = subscription.child(.push, "subscription-public-key"), key.attribute("type") == "p256dh",
            let publicKey = bytes(key), let secret = subscription.child(.push, "auth-secret"),
            let authSecret = bytes(secret)
        else { return nil }
        return PushTarget(url: resource, publicKey: publicKey, authSecret: authSecret)
    }

    /// Reads base64url, with or without padding.
    private static func bytes(_ element: XMLElement) -> [UInt8]? {
        var text = element.trimmed
        while text.hasSuffix("=") { text.removeLast() }
        return Base64URL.decode(Array(text.utf8))
    }
}

/// A message about a collection.
struct PushMessage: Sendable {
    let topic: String
    /// The collection's token after the change; nil if what is in it has not changed.
    let syncToken: String?
    /// Whether the collection looks different.
    let changesProperties: Bool

    /// The body before it is encrypted (draft-bitfire-webdav-push, "Push Message").
    var body: [UInt8] {
        var text = Array("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n".utf8)
        text += "<push-message xmlns=\"https://bitfire.at/webdav-push\" xmlns:D=\"DAV:\"><topic>\(topic)</topic>".utf8
        if let syncToken {
            text += "<content-update><D:sync-token>".utf8
            XMLElement.write(syncToken, to: &text)
            text += "</D:sync-token></content-update>".utf8
        }
        if changesProperties { text += "<property-update/>".utf8 }
        text += "</push-message>".utf8
        return text
    }
}
