// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
package import KalendsFront
import Storage

/// Calendars for the calendar apps that people use already (RFC 4791): who asks, for what, and which method answers.
package struct CalDAVDoor: Sendable {
    let services: Services
    let network: ClientConnection

    /// The server's capabilities (RFC 4918 section 10.1): neither locks nor scheduling.
    static let features = "1, 3, access-control, extended-mkcol, calendar-access, webdav-push"

    private static let paths = [
        "/.well-known/caldav", "/dav", "/dav/principals", "/dav/principals/{user}", "/dav/calendars",
        "/dav/push/{registration}", "/dav/calendars/{user}", "/dav/calendars/{user}/{collection}",
        "/dav/calendars/{user}/{collection}/{name}",
        // Nothing exists at this address, and WebDAV requires that a PUT to it is refused with 409.
        "/dav/calendars/{user}/{collection}/{name}/{below}",
    ]

    /// The doors of a server, in front of its routes.
    package static func doors(_ front: FrontServices) -> [FrontDoor] {
        let services = front.services
        let door = CalDAVDoor(services: services, network: ClientConnection(services.settings))
        let feeds = FeedDoor(services: services)
        return [
            FrontDoor(paths) { try await door.answer($0, $1) },
            FrontDoor(FeedDoor.paths) { try await feeds.answer($0, $1) },
        ]
    }

    func answer(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let paths = DAVPaths(base: services.settings.basePath, origin: services.settings.origin)
        var response = try await DAVFault.answered(at: paths.base + request.uri.path, paths, user: nil) {
            try await respond(request, context, paths)
        }
        if request.method == .options { response.headers[.dav] = Self.features }
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func respond(
        _ request: Request, _ context: KalendsContext, _ paths: DAVPaths
    ) async throws -> Response {
        guard !request.uri.string.utf8.contains(UInt8(ascii: "#")) else {
            throw DAVFault.badRequest("An address in a request must not have a fragment.")
        }
        if request.uri.path.hasPrefix("/.well-known/"), request.method == .get || request.method == .head {
            return Response(
                status: .movedPermanently, headers: [.location: paths.href(.root), .cacheControl: "no-cache"])
        }
        var context = context
        let caller = try await self.caller(of: request, &context)
        guard let address = paths.address(path: Self.path(of: request)) else {
            throw Self.makes(request.method)
                ? DAVFault(.conflict, nil, "There is no calendar to put this into.") : .missing
        }
        guard address.user.map({ $0.string == caller.userID }) ?? true else { throw DAVFault.missing }
        let exchange = try await exchange(request, context, address, caller, paths)
        var response = try await DAVFault.answered(at: exchange.href, paths, user: caller.userID) {
            try await exchange.respond()
        }
        if address.isCollection, !request.uri.path.hasSuffix("/") { response.headers[.contentLocation] = exchange.href }
        if Self.isCounted(response.status, request.method) {
            try await services.appPasswords.record(
                caller, status: response.status.code, userAgent: request.headers[.userAgent],
                from: services.settings.clientAddress(request, context)?.prefix ?? .local)
        }
        return response
    }

    private func exchange(
        _ request: Request, _ context: KalendsContext, _ address: DAVAddress, _ caller: CalDAVCaller, _ paths: DAVPaths
    ) async throws -> Exchange {
        let collections = services.collections
        var propertyContext = PropertyContext(
            paths: paths, user: caller.userID, mayMake: caller.mayWrite && caller.own,
            tokens: SyncTokens(databaseID: services.databaseID),
            pushKey: await services.pushRegistrations.publicKey())
        if case .home = address { propertyContext.homeProperties = try await collections.homeProperties(of: caller) }
        var place: CollectionPlace?
        if let segment = address.segment { place = try await collections.find(segment.string, of: caller) }
        return Exchange(
            request: request, context: context, services: services, collections: collections, address: address,
            caller: caller, propertyContext: propertyContext, place: place)
    }

    /// Whether a request makes something at its address, whose parent must be there.
    private static func makes(_ method: HTTPRequest.Method) -> Bool { method == .put || makesCollection(method) }

    private static func makesCollection(_ method: HTTPRequest.Method) -> Bool {
        method.rawValue == "MKCOL" || method.rawValue == "MKCALENDAR"
    }

    /// The path of a request: the slash behind what is to be a collection within a calendar says nothing more.
    private static func path(of request: Request) -> String {
        let path = request.uri.path
        guard makesCollection(request.method), path.hasSuffix("/") else { return path }
        return String(path.utf8.dropLast()) ?? path
    }

    /// Every read that got an answer, and every write that succeeded, is an access; OPTIONS is neither.
    static func isCounted(_ status: HTTPResponse.Status, _ method: HTTPRequest.Method) -> Bool {
        switch method.rawValue {
        case "OPTIONS": false
        case "PROPFIND", "REPORT", "GET", "HEAD": [200, 207, 304].contains(status.code)
        default: (200..<300).contains(status.code)
        }
    }
}

// MARK: - Who asks

extension CalDAVDoor {
    private static let challenge = "Basic realm=\"Kalends\", charset=\"UTF-8\""

    /// Returns whom the request's app password lets in, and counts the request for them.
    private func caller(of request: Request, _ context: inout KalendsContext) async throws -> CalDAVCaller {
        let isSecure = network.isSecure(request, context)
        let isLoopback = network.isLoopback(request, context)
        // Nobody is asked for a password that others could read on its way.
        guard isSecure || isLoopback else { throw Self.needsTLS }
        guard let credentials = BasicCredentials(request) else {
            throw Self.unauthorized("An app password is needed here.")
        }
        context.note?.write(.appPassword)
        let address = services.settings.clientAddress(request, context)
        let outcome = try await services.appPasswords.signIn(
            name: credentials.name, password: credentials.password, from: address?.network ?? "local",
            isSecure: isSecure, isLoopback: isLoopback)
        switch outcome {
        case .accepted(let caller):
            context.note?.write(user: caller.userID, pseudonym: services.pseudonym(of:))
            context.sender = Sender(.user(caller.userID), narrowed: .user(caller.userID), network: address?.network)
            context.memory.belongs(to: context.sender)
            return caller
        case .refused: throw Self.unauthorized("The name or the app password is wrong.")
        case .ended: throw Self.unauthorized("This app password has ended. Make another one.")
        case .wait(let seconds):
            throw DAVFault(
                .tooManyRequests, nil, "There were too many wrong passwords. Wait \(seconds) seconds.",
                headers: [.retryAfter: String(seconds)])
        case .needsTLS: throw Self.needsTLS
        }
    }

    private static func unauthorized(_ sentence: String) -> DAVFault {
        DAVFault(.unauthorized, nil, sentence, headers: [.wwwAuthenticate: challenge])
    }

    private static let needsTLS = DAVFault(
        .forbidden, nil,
        "App passwords are accepted over TLS only: use https. Behind a proxy, name it in trustedProxies.")
}

/// How a request reached the server.
struct ClientConnection: Sendable {
    private let settings: ServerSettings

    init(_ settings: ServerSettings) { self.settings = settings }

    /// Whether it came over TLS, to this server or to a proxy that is trusted to say otherwise.
    func isSecure(_ request: Request, _ context: KalendsContext) -> Bool {
        if settings.tlsCertificate != nil { return true }
        guard let direct = IPAddress(context.remoteAddress), settings.isTrustedProxy(direct) else { return false }
        if let said = request.headers[.xForwardedProto] { return said.withoutOuterBlanks.asciiLowercased == "https" }
        return settings.isSecure
    }

    /// Whether it came from this machine; a proxy here that is not trusted says by its fields that it did not, and is
    /// believed where the public address has TLS.
    func isLoopback(_ request: Request, _ context: KalendsContext) -> Bool {
        guard let address = settings.clientAddress(request, context) else { return true }
        let isForwarded = request.headers[.xForwardedFor] != nil || request.headers[.xForwardedProto] != nil
        guard isForwarded, let direct = IPAddress(context.remoteAddress), !settings.isTrustedProxy(direct) else {
            return address.isLoopback
        }
        return address.isLoopback && settings.isSecure
    }
}

extension DAVAddress {
    /// Whose address it is; nil where it is everybody's.
    var user: ByteString? {
        switch self {
        case .principal(let user), .home(let user), .collection(let user, _), .member(let user, _, _): user
        case .root, .principals, .calendars, .registration, .feed, .feedMember: nil
        }
    }

    /// The segment of the collection that it is or is in.
    var segment: ByteString? {
        switch self {
        case .collection(_, let segment), .member(_, let segment, _): segment
        default: nil
        }
    }
}

extension HTTPField.Name {
    static let xForwardedProto = HTTPField.Name("X-Forwarded-Proto") ?? .from
}

extension DAVFault {
    /// Answers a request, or what refused it.
    static func answered(
        at href: String, _ paths: DAVPaths, user: String?, _ work: () async throws -> Response
    ) async throws -> Response {
        do {
            return try await work()
        } catch let fault as DAVFault {
            return fault.response
        } catch let fault as CollectionFault {
            return DAVFault(fault, at: href, paths, user: user).response
        }
    }
}
