// SPDX-License-Identifier: Apache-2.0

import Calendar
import HTTPTypes
import Hummingbird
import ICalBridge
import KalendsCore
import Storage

extension Exchange {
    /// Registers an app for messages about changes of a collection (draft-bitfire-webdav-push, "Subscription
    /// Registration").
    func post(for caller: CalDAVCaller) async throws -> Response {
        guard case .collection = address, let place else { throw DAVFault.notAllowed(allowed) }
        let body: XMLElement?
        switch request.headers[.contentType].map({ $0.pieces(separatedBy: ";").first?.withoutOuterBlanks ?? "" }) {
        case "application/xml", "text/xml", nil: body = try await xml()
        default: throw DAVFault(.unsupportedMediaType, nil, "A registration is application/xml.")
        }
        guard let body, body.is(.push, "push-register") else {
            throw DAVFault.badRequest("A calendar accepts push-register here, and nothing else.")
        }
        do {
            let registered = try await services.pushRegistrations.register(body, at: place.collection, for: caller)
            let location = paths.href(.registration(id: ByteString(registered.id)))
            return Response(
                status: registered.isNew ? .created : .noContent,
                headers: [
                    .location: paths.origin + location, .cacheControl: "no-store",
                    .expires: Instant(seconds: registered.expiresAt / 1000).httpDate,
                ])
        } catch let fault as PushFault {
            throw DAVFault(fault)
        }
    }

    /// Removes a registration.
    func removeRegistration(_ id: ByteString, for caller: CalDAVCaller) async throws -> Response {
        try await services.pushRegistrations.remove(id.string, for: caller)
        return Response(status: .noContent, headers: [.cacheControl: "no-store"])
    }

    /// Makes a change without notifying the registrations that `Push-Dont-Notify` names.
    func muted(
        for caller: CalDAVCaller, _ work: () async throws -> Response
    ) async throws -> Response {
        let fields = request.headers[values: .pushDontNotify]
        guard !fields.isEmpty, let named = QuietList(fields, paths) else { return try await work() }
        var collections = [place].compactMap { $0?.collection }
        if let field = request.headers[.destination],
            let target = paths.address(href: String(field.withoutOuterBlanks)), target.user?.string == caller.userID,
            let other = try await self.place(at: target)
        {
            collections.append(other.collection)
        }
        let mute = services.pushRegistrations.mute(named.ids, at: collections, for: caller)
        return try await PushMute.$current.withValue(mute) { try await work() }
    }
}

/// The registrations that a client asks not to notify of its change (draft-bitfire-webdav-push, "Suppressing Notifications").
struct QuietList: Hashable {
    /// The ids of registrations; nil for all there are.
    let ids: [String]?

    /// The maximum number of registrations that are read.
    private static let most = 100

    /// Nil if nothing valid is named.
    init?(_ fields: [String], _ paths: DAVPaths) {
        let entries = fields.flatMap { $0.pieces(separatedBy: ",") }.map(\.withoutOuterBlanks).filter { !$0.isEmpty }
        if entries.count == 1, entries[0] == "*" {
            ids = nil
            return
        }
        let found = entries.prefix(Self.most).compactMap { entry -> String? in
            guard entry.utf8.count > 2, entry.hasPrefix("\""), entry.hasSuffix("\"") else { return nil }
            let url = String(entry.dropFirst().dropLast())
            // The address has to be exactly as it was given.
            let start = paths.origin + paths.href(.root)
            guard url.hasPrefix(start),
                case .registration(let id) = paths.address(path: "/dav/" + url.dropFirst(start.count)),
                url == paths.origin + paths.href(.registration(id: id))
            else { return nil }
            return id.string
        }
        guard !found.isEmpty else { return nil }
        ids = found
    }
}

extension DAVFault {
    init(_ fault: PushFault) {
        switch fault {
        case .invalidSubscription:
            self = .forbidden(
                .push("invalid-subscription"),
                "The push resource or its keys cannot be used: use https on the public Internet, aes128gcm and p256dh.")
        case .notAvailable: self = .forbidden(.push("push-not-available"), "No messages are sent about this calendar.")
        case .noSupportedTrigger:
            self = .forbidden(.push("no-supported-trigger"), "The request names nothing about which messages are sent.")
        }
    }
}

extension LiveProperty {
    /// The properties of draft-bitfire-webdav-push.
    static let push: [LiveProperty] = [
        LiveProperty(.push("transports")) { subject, propertyContext, out in
            guard let key = propertyContext.pushKey, isPushed(subject) else { return false }
            out += "<P:web-push><P:vapid-public-key type=\"p256ecdsa\">\(key)</P:vapid-public-key></P:web-push>".utf8
            return true
        },
        LiveProperty(.push("topic")) { subject, propertyContext, out in
            guard propertyContext.pushKey != nil, let collection = subject.collection, isPushed(subject) else {
                return false
            }
            out.text(collection.pushTopic)
            return true
        },
        LiveProperty(.push("supported-triggers")) { subject, propertyContext, out in
            guard propertyContext.pushKey != nil, isPushed(subject) else { return false }
            out += "<P:content-update><D:depth>1</D:depth></P:content-update>".utf8
            out += "<P:property-update><D:depth>0</D:depth></P:property-update>".utf8
            return true
        },
    ]

    private static func isPushed(_ subject: Subject) -> Bool { subject.collection?.isFeed == false }
}

extension HTTPField.Name {
    static let pushDontNotify = HTTPField.Name("Push-Dont-Notify") ?? .from
}
