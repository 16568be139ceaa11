// SPDX-License-Identifier: Apache-2.0

import Glibc
import KalendsCore
import NIOCore
import NIOHTTP1

/// Ends connections of clients that are too slow or too many: it sees the bytes, and `EdgeHandler` reports requests to
/// it.
///
/// A connection is ended only while the server waits for the client; the time needed to make an answer does not count
/// against the client.
final class ConnectionWatch: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private let limits: ConnectionLimits
    private let times: ConnectionTimes
    private let counts: ConnectionCounts
    private let trustedProxies: [AddressRange]
    private let memory: MemoryBudgets
    private var timer: RepeatedTask?
    private var isCounted = false
    private var network: String?

    /// When the header that is not yet complete began.
    private var headerSince: NIODeadline?
    private var hasHeard = false
    private var idleSince = NIODeadline.now()
    /// The pace of the body that is being read.
    private var pace: BodyPace?
    /// Bytes of a body that arrived after its answer.
    private var unwanted = 0
    private static let mostUnwanted = 1 << 20
    private var bodyParts = 0
    private var endedInBody = false
    private var isReading = false
    /// The number of unanswered requests, including those not yet read in full.
    private var open = 0
    private var heads = 0
    /// Whether the parser holds no part of a request, so that the next bytes begin one.
    private var isBetweenRequests = true
    /// How often bytes were given to the parser.
    private var reads = 0
    /// Answers a whole request before the parser sees its bytes; returns false when the parser has to read them. Nil
    /// where every request goes through the parser.
    var takesWhole: ((ByteBuffer) -> Bool)?

    /// Bytes written to the connection, and how many of them it had sent at the last check.
    private var written = 0
    private var taken = 0
    private var takenAt: NIODeadline?
    private var stopsAt: NIODeadline?
    /// The requests that wait for somebody else, until the client has gone.
    private var disconnects: [ObjectIdentifier: ClientDisconnect] = [:]
    private var hasGone = false

    init(
        _ limits: ConnectionLimits, _ counts: ConnectionCounts, _ settings: ServerSettings, _ memory: MemoryBudgets
    ) {
        (self.limits, self.counts, self.memory) = (limits, counts, memory)
        trustedProxies = settings.trustedProxies
        times = ConnectionTimes(limits)
    }

    // MARK: From connection to end

    func handlerAdded(context: ChannelHandlerContext) { if context.channel.isActive { begin(context) } }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard timer == nil else { return }
        let address = IPAddress(context.remoteAddress)
        network = address.flatMap { address in
            trustedProxies.contains { $0.contains(address) } ? nil : address.network
        }
        isCounted = counts.open(from: network)
        guard isCounted else { return cut(context) }
        idleSince = .now()
        let bound = NIOLoopBound((watch: self, context: context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleRepeatedTask(initialDelay: times.tick, delay: times.tick) { _ in
            bound.value.watch.look(bound.value.context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        takesWhole = nil
        end()
    }

    private func end() {
        clientWent()
        timer?.cancel()
        timer = nil
        if isCounted { counts.close(from: network) }
        isCounted = false
    }

    private func clientWent() {
        hasGone = true
        for disconnect in disconnects.values { disconnect.notify() }
        disconnects = [:]
    }

    /// A request begins to wait for somebody else, or has ended that.
    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let disconnect = event as? ClientDisconnect else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        if disconnects.removeValue(forKey: ObjectIdentifier(disconnect)) == nil {
            if hasGone { disconnect.notify() } else { disconnects[ObjectIdentifier(disconnect)] = disconnect }
        }
        promise?.succeed()
    }

    // MARK: Reports about requests

    /// A request was received in full that the parser has not seen.
    func wholeRequestCame() {
        heads += 1
        open += 1
    }

    /// The parser has read a request's header in full.
    func requestBegan(_ head: HTTPRequestHead) {
        // The parser may refuse what follows, or take it for something else than HTTP. It states itself whether it goes
        // on: it also heeds fields that nothing else here does.
        var mayGoOn = head.isKeepAlive && !head.headers.contains(name: "upgrade")
        if case .CONNECT = head.method { mayGoOn = false }
        if !mayGoOn { takesWhole = nil }
        heads += 1
        open += 1
        headerSince = nil
        pace = BodyPace(limits)
        if isReading { pace?.waits(from: .now()) }
    }

    /// The parser has read a request in full.
    ///
    /// - Parameter hasTrailers: whether fields came behind its body; the parser heeds some of them.
    func requestEnded(hasTrailers: Bool) {
        if hasTrailers { takesWhole = nil }
        endedInBody = bodyParts > 0
        (pace, bodyParts) = (nil, 0)
    }

    /// The parser reads nothing more of the connection, so nothing else may.
    func parserFailed() { takesWhole = nil }

    func bodyCame() { bodyParts += 1 }

    func answered() {
        // Input that was not a request is answered too.
        open = max(0, open - 1)
        idleSince = .now()
    }

    /// Only these of the requests that were read have yet to be answered, and no others follow.
    func inputEnded(open: Int) { self.open = open }

    // MARK: Bytes in and out

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let (before, wasInBody) = (heads, pace != nil)
        hasHeard = true
        let bytes = unwrapInboundIn(data)
        if isBetweenRequests, let takesWhole, takesWhole(bytes) { return }
        isBetweenRequests = false
        reads += 1
        let number = reads
        defer {
            // After bytes that end with the end of a header and need no body, no part of a request is left. A failed
            // write may make the channel read further bytes before the parser has taken these.
            isBetweenRequests =
                reads == number && heads != before && !wasInBody && pace == nil && !endedInBody && bytes.endsHeader
        }
        if wasInBody {
            pace?.came(bytes.readableBytes, at: .now())
            // The request is already answered and nobody reads the rest of its body; a small amount is let through out
            // of politeness.
            if open == 0 { unwanted += bytes.readableBytes }
            if unwanted > Self.mostUnwanted { return cut(context) }
        }
        context.fireChannelRead(data)
        guard pace == nil, headerSince == nil else { return }
        // No header ended in these bytes, so they begin one, or more bytes follow the last header.
        let isBeginning = heads == before ? !wasInBody : !endedInBody && !bytes.endsHeader
        if isBeginning { headerSince = .now() }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        pace?.rests(from: .now())
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        isReading = true
        pace?.waits(from: .now())
        context.read()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        written += unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent, stopsAt == nil {
            stopsAt = .now() + times.stopping
            let bound = NIOLoopBound((watch: self, context: context), eventLoop: context.eventLoop)
            context.eventLoop.assumeIsolated().scheduleTask(in: times.stopping) {
                bound.value.watch.look(bound.value.context)
            }
        }
        if let event = event as? ChannelEvent, event == .inputClosed { clientWent() }
        context.fireUserInboundEventTriggered(event)
    }

    // MARK: Checks

    private func look(_ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        let now = NIODeadline.now()
        if isTooSlow(at: now, waiting: (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0) {
            cut(context)
        }
    }

    private func isTooSlow(at now: NIODeadline, waiting: Int) -> Bool {
        let isStopping = stopsAt.map { $0 <= now } ?? false
        if waiting > 0 {
            if isStopping { return true }
            guard let since = takenAt else {
                (taken, takenAt) = (written - waiting, now)
                return false
            }
            guard now - since >= times.write else { return false }
            let rate = memory.isScarce ? limits.scarceWriteRate : limits.writeRate
            let least = rate * Int((now - since).nanoseconds / 1_000_000_000)
            defer { (taken, takenAt) = (written - waiting, now) }
            return written - waiting - taken < least
        }
        takenAt = nil
        if pace != nil {
            // The server is not reading from the connection, so the client is waiting for us, unless nobody will read
            // the rest.
            guard isReading else { return open == 0 && (isStopping || now > idleSince + times.bodyIdle) }
            return isStopping || pace?.isTooSlow(at: now) == true
        }
        if let headerSince { return isStopping || now > headerSince + times.header }
        return open == 0 && (isStopping || now > idleSince + (hasHeard ? times.idle : times.firstByte))
    }

    /// Closes at once: what the reader has not received is dropped with the connection.
    private func cut(_ context: ChannelHandlerContext) {
        if let socket = context.channel as? any SocketOptionProvider {
            socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in }
        }
        context.close(promise: nil)
    }
}

extension ByteBuffer {
    /// Whether the bytes end with the blank line that ends a request's header.
    fileprivate var endsHeader: Bool { readableBytesView.suffix(4).elementsEqual([13, 10, 13, 10]) }
}
