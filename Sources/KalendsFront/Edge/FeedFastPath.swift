// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import KalendsCore
import Logging
import NIOCore
import NIOHTTP1
import Storage

/// Answers a feed from memory, without a task and without waiting, when everything needed is in memory.
///
/// `FeedAnswer` decides the status, body and header fields, so that the answer equals the one through the router. A class,
/// because each connection has a reference to it.
final class FeedFastPath: Sendable {
    /// The counter and the beginning of the log line, which answers of one method, route and status share.
    final class Kind: Sendable {
        let requestCounter: Metrics.Counter
        /// The line of the log up to the number of microseconds; nil when no line is written.
        fileprivate let line: LogLine?

        fileprivate init(_ method: String, _ route: String, _ status: Int, _ metrics: Metrics, _ lines: LineLogHandler?)
        {
            requestCounter = metrics.counter(method: method, route: route, status: status)
            line = lines?.rest(method: method, route, status)
        }
    }

    /// A complete answer, and what is counted for it; used on one event loop.
    ///
    /// A class, because an answer waits in two queues, and copies of so many parts would cost more than the look-up.
    final class Answer {
        /// The status line and the header fields; nil once they are written.
        var head: ByteBuffer?
        /// The part of the body that is not written yet; nil for 304 and HEAD.
        var body: ByteBuffer?
        /// Nil for HEAD, which is not counted as a read.
        let access: FeedAccess?
        var kind: Kind
        var record: RequestRecord
        /// The share of the answers' memory that a long body uses until its reader has received it.
        let part: SharedAnswers.Part?
        /// Whether the access is counted, or why it cannot be; nil until that is known.
        var outcome: Result<Void, JournalFailure>?

        fileprivate init(
            head: ByteBuffer, body: ByteBuffer?, access: FeedAccess?, kind: Kind, record: RequestRecord,
            part: SharedAnswers.Part?
        ) {
            (self.head, self.body, self.access, self.kind) = (head, body, access, kind)
            (self.record, self.part) = (record, part)
            // One without an access may leave at once.
            outcome = access == nil ? .success(()) : nil
        }
    }

    /// The longest body that is answered here.
    private static let mostBytes = 256 << 10
    /// The maximum number of bytes of a body that are written at once: TLS copies what it is given, so it is given no
    /// more than a reader keeps up with.
    let mostAtOnce: Int

    let services: Services
    private let bodies: FeedBodies
    let logger: Logger
    private let isOpen: Bool
    /// The value of `Strict-Transport-Security`; nil for no such field.
    let transportPolicy: String?
    /// By the place of the route, then by that of the method and status in `answered`.
    private let kinds: [[Kind]]
    /// Nil when requests are not logged, or otherwise.
    private let lines: LineLogHandler?

    /// - Parameter isOpen: whether feeds are answered here.
    init(_ front: FrontServices, isOpen: Bool, logger: Logger) {
        let services = front.services
        (self.services, bodies) = (services, front.bodies)
        self.isOpen = isOpen
        transportPolicy = services.settings.transportPolicy
        mostAtOnce = services.settings.tlsCertificate == nil ? Self.mostBytes : MemoryShare.free
        self.logger = logger
        let lines = logger.logLevel <= .info ? logger.handler as? LineLogHandler : nil
        self.lines = lines
        kinds = FeedPath.Route.allCases.map { route in
            Self.answered.map { Kind($0.method, route.rawValue, $0.status, services.metrics, lines) }
        }
    }

    /// The answers that are given here, by method and status.
    private static let answered = [("GET", 200), ("GET", 304), ("HEAD", 200), ("HEAD", 304)].map {
        (method: $0.0, status: $0.1)
    }

    /// Whether requests are recognized before the general parser: where other servers write, the database is asked first.
    var takesPlainRequests: Bool { isOpen && services.sharing == nil }

    /// What a request that the general parser has read asks for; nil when it has to go through the router.
    func request(of head: HTTPRequestHead) -> PlainRequest? { isOpen ? PlainRequest(head) : nil }

    /// The answer; nil when the request has to go through the router.
    ///
    /// - Parameter confirmed: the database's time, if it has reported what ended since the request arrived.
    func answer(_ request: PlainRequest, _ caller: Caller, confirmed: Int?) -> Answer? {
        guard services.sharing == nil || confirmed != nil else { return nil }
        let (route, asked) = (request.route, request.asked)
        let start = ContinuousClock.now
        let look = FeedRenderKey(
            asked, request.token, on: route, family: caller.family(of: asked.userAgent),
            now: confirmed ?? services.now())
        guard case .live(let live)? = services.ledger.remembered(look.key, now: look.now),
            let answer = FeedAnswer(asked, look, live, in: services.feedCache, for: caller)
        else { return nil }
        var (body, part): (ByteBuffer?, SharedAnswers.Part?)
        if !answer.isNotModified {
            body = bodies.find(answer.bodyKey)
            guard let body, body.readableBytes <= Self.mostBytes else { return nil }
            if body.readableBytes > MemoryShare.free, !asked.isHead {
                part = services.memory.shared.joinNow(
                    ByteString(answer.validators.etag), body.readableBytes, in: services.memory.feeds,
                    for: caller.address.map { ByteString($0.network) })
                guard part != nil else { return nil }
            }
        }
        let requestID = RequestIdentity.valid(asked.requestID)
        let kind = kinds[route.ordinal][(asked.isHead ? 2 : 0) + (answer.isNotModified ? 1 : 0)]
        return Answer(
            head: bytes(of: answer, length: body?.readableBytes, requestID: requestID, caller),
            body: asked.isHead ? nil : body,
            access: answer.access(
                to: live, showing: live.version,
                from: caller.network(services.settings, forwardedFor: asked.forwardedFor)),
            kind: kind,
            record: RequestRecord(
                method: asked.isHead ? "HEAD" : "GET", route: route.rawValue, status: answer.status.code, start: start,
                requestID: requestID),
            part: part)
    }

    /// Counts and logs an answer that leaves.
    func finish(_ answer: Answer) {
        guard let lines, let line = answer.kind.line else {
            services.metrics.fromMemory.add(answer.record.finish(answer.kind.requestCounter, logger))
            return
        }
        let microseconds = answer.record.microseconds()
        answer.kind.requestCounter.add(microseconds)
        services.metrics.fromMemory.add(microseconds)
        lines.log(answer.record, line, microseconds: microseconds)
    }

    /// Makes an answer whose access cannot be counted a refusal.
    func refuse(_ answer: Answer, _ error: JournalFailure) {
        logger.debug("an access could not be recorded", metadata: ["error": "\(publicText(error))"])
        let (head, body) = ProblemDocument(.notRecorded).bytes(
            requestID: answer.record.requestID, transportPolicy: transportPolicy)
        (answer.head, answer.body) = (head, body)
        answer.record.status = HTTPResponse.Status.serviceUnavailable.code
        let record = answer.record
        answer.kind = Kind(record.method, record.route, record.status, services.metrics, lines)
    }

    private func bytes(of answer: FeedAnswer, length: Int?, requestID: String?, _ caller: Caller) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: 512)
        buffer.writeImmutableBuffer(
            caller.head(of: answer) {
                var head = ByteBufferAllocator().buffer(capacity: 512)
                head.writeStaticString(answer.isNotModified ? "HTTP/1.1 304 Not Modified\r\n" : "HTTP/1.1 200 OK\r\n")
                answer.eachField { head.writeField($0, $1) }
                if let transportPolicy { head.writeField(.strictTransportSecurity, transportPolicy) }
                return head
            })
        if let requestID { buffer.writeField(.xRequestID, requestID) }
        if let length { buffer.writeField(.contentLength, String(length)) }
        buffer.writeField(.date, HTTPDate.now)
        buffer.writeStaticString("\r\n")
        return buffer
    }

    /// The facts about the client of a connection, kept so that they are computed only once.
    final class Caller {
        let address: IPAddress?
        private let isProxy: Bool
        private var ownNetwork: NetworkPrefix?
        private var userAgent: String?
        private var ownFamily = ClientFamily(userAgent: nil)
        private var latest: (head: FeedAnswer.Head, bytes: ByteBuffer)?
        private var latestTag: (hash: ContentHash, coding: ContentCoding, text: String)?

        init(_ address: IPAddress?, _ settings: ServerSettings) {
            self.address = address
            isProxy = address.map(settings.isTrustedProxy) ?? false
        }

        func network(_ settings: ServerSettings, forwardedFor: [String]) -> NetworkPrefix {
            if !isProxy, let ownNetwork { return ownNetwork }
            let network = settings.clientAddress(address, forwardedFor: forwardedFor)?.prefix ?? .local
            ownNetwork = network
            return network
        }

        func family(of userAgent: String?) -> ClientFamily {
            if userAgent != self.userAgent {
                self.userAgent = userAgent
                ownFamily = ClientFamily(userAgent: userAgent)
            }
            return ownFamily
        }

        func tag(of hash: ContentHash, _ coding: ContentCoding) -> String {
            if let latestTag, latestTag.hash == hash, latestTag.coding == coding { return latestTag.text }
            let text = coding.tag(of: hash)
            latestTag = (hash, coding, text)
            return text
        }

        /// The bytes of an answer's status line and header fields, made again only when they differ from the last.
        func head(of answer: FeedAnswer, _ make: () -> ByteBuffer) -> ByteBuffer {
            if let latest, latest.head == answer.head { return latest.bytes }
            let bytes = make()
            latest = (answer.head, bytes)
            return bytes
        }
    }
}

extension ProblemDocument {
    /// The answer's bytes as they are sent.
    ///
    /// - Parameters:
    /// - closes: whether to announce that the connection ends with the answer.
    /// - requestID: the request's id, as the client sent it.
    /// - transportPolicy: the value of `Strict-Transport-Security`; nil for no such field.
    func bytes(
        closes: Bool = false, requestID: String? = nil, transportPolicy: String?
    ) -> (head: ByteBuffer, body: ByteBuffer) {
        let body = document
        var head = ByteBufferAllocator().buffer(capacity: 256)
        head.writeString("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n")
        for field in fields { head.writeField(field.name, field.value) }
        if let transportPolicy { head.writeField(.strictTransportSecurity, transportPolicy) }
        if let requestID { head.writeField(.xRequestID, requestID) }
        head.writeField(.contentLength, String(body.readableBytes))
        if closes { head.writeField(.connection, "close") }
        head.writeField(.date, HTTPDate.now)
        head.writeStaticString("\r\n")
        return (head, body)
    }
}

extension ByteBuffer {
    fileprivate mutating func writeField(_ name: HTTPField.Name, _ value: String) {
        writeString(name.rawName)
        writeStaticString(": ")
        writeString(value)
        writeStaticString("\r\n")
    }
}
