// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Hummingbird
import KalendsCore
import Pages
import Storage

/// One request for a page: the visitor, the input, and what the answer is made from.
struct PageVisit: Sendable {
    let services: Services
    let request: Request
    private(set) var context: KalendsContext
    /// The signed-in visitor; nil when nobody is signed in.
    private(set) var visitor: Caller?
    /// The signed-in visitor's session; nil when nobody is signed in, and for the operator.
    private(set) var session: Session?
    /// The form that was sent.
    var form = PageForm()
    let query: PageForm
    /// The token in each form of the answer.
    private(set) var formToken: String
    /// `Set-Cookie` fields that are added to the answer.
    private(set) var cookies: [String] = []

    init(services: Services, request: Request, context: KalendsContext) {
        (self.services, self.request, self.context) = (services, request, context)
        query = PageForm(query: request.uri.query)
        let known = VisitorCookie.visitorID(of: request, services.settings)
        let visitorID = known ?? FeedLedger.makeID()
        formToken = FormToken(key: services.sealingKey).ofVisitor(visitorID)
        if known == nil { cookies.append(VisitorCookie.field(visitorID, services.settings)) }
    }

    /// Makes this the visit of a session's user.
    mutating func enter(_ session: Session) {
        let identity = Identity.user(session.userID)
        let caller = Caller(
            identity, actor: AuditActor(user: session.userID), session: session.id, way: .page)
        (visitor, self.session) = (caller, session)
        context.knownCaller = caller
        context.note?.write(.session)
        context.note?.write(user: session.userID, pseudonym: services.pseudonym(of:))
        context.sender = Sender(
            identity, narrowed: identity, network: services.settings.clientAddress(request, context)?.network)
        context.memory.belongs(to: context.sender)
        formToken = FormToken(key: services.sealingKey).ofSession(session.id)
        cookies = []
    }

    /// Makes this the visit of the operator.
    mutating func enter(operator caller: Caller) {
        visitor = caller
        context.knownCaller = caller
        context.note?.write(.operatorSession)
        context.note?.write(caller.identity, pseudonym: services.pseudonym(of:))
        formToken = FormToken(key: services.sealingKey).ofSession("operator \(caller.session ?? "")")
        cookies = []
    }

    /// Throws `PageRefusal.form` unless one of this session's pages sent the form.
    func checkToken(_ sent: String?) throws {
        guard FormToken.isSame(sent, formToken) else { throw PageRefusal.form }
    }

    /// The signed-in caller, on a page that needs a session.
    func caller() throws -> Caller { try context.caller() }

    /// The signed-in user.
    func user() throws -> String { try Rights.user(try caller().identity) }

    /// A part of the path that is an id; throws 404 for text that cannot be an id.
    func id(_ name: String) throws -> String {
        guard let text = context.parameter(name), Identifier.isValid(text) else { throw Refusal.noSuchPath }
        return text
    }

    /// Reads everything that a page of the path's circle shows, in one transaction; throws 404 to those who do not belong
    /// to the circle, and 403 if they lack the right.
    ///
    /// - Parameter isLarge: whether `body` reads the whole circle or large records, taking turns with others.
    func read<Value: Sendable>(
        _ right: Right = .read, isLarge: Bool = false,
        _ body: @escaping @Sendable (AuthorizedCircle, Visitor) throws -> Value
    ) async throws -> (Value, Visitor) {
        try await services.readForPage(in: try id("circle"), right, for: try caller(), isLarge: isLarge, body)
    }

    /// Reads everything that a page of the visitor's own shows, in one transaction.
    func readOwn<Value: Sendable>(
        _ body: @escaping @Sendable (AuthorizedUser, Visitor) throws -> Value
    ) async throws -> (Value, Visitor) {
        try await services.readForPage(for: try caller(), body)
    }

    /// A route's path, filled with the parts of this request's path.
    func filled(_ path: String) -> String {
        "/"
            + path.pieces(separatedBy: "/").filter { !$0.isEmpty }.map { part in
                guard part.hasPrefix("{") else { return String(part) }
                return (context.parameter(String(part.dropFirst().dropLast())) ?? "").pathSegment
            }.joined(separator: "/")
    }
}
