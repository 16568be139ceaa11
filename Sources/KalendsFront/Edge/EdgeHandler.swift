// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import KalendsCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import Storage

/// Receives a connection's requests from the parser: it answers feeds itself and passes everything else on.
///
/// Answers leave in the order of their requests. A request that is passed on waits until all earlier answers from here
/// have left, and while a passed request is unanswered, all later ones are passed on too. Nothing is read from a
/// connection whose reader does not keep up, and a body is read only when its consumer wants it (`BodyGate`).
final class EdgeHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// An inbound event that has to wait for earlier answers.
    private enum Waiting {
        case part(HTTPServerRequestPart)
        case event(Any)
        case error(any Error)
    }

    private static let longBody = 16 << 10

    private let path: FeedFastPath
    private let watch: ConnectionWatch
    private let turn: TurnAccesses
    /// Writes bytes that are already encoded, below the encoder.
    private var raw: ChannelHandlerContext?
    private var own: ChannelHandlerContext?
    private var knownCaller: FeedFastPath.Caller?
    /// The answers that have not left, in the order of their requests: each may leave once its access is counted and
    /// all before it have left.
    private var outstanding = CircularBuffer<FeedFastPath.Answer>()
    private var held = CircularBuffer<Waiting>()
    private var state = EdgeState()
    private var isReadHeld = false
    private var hasPassedPart = false

    init(path: FeedFastPath, watch: ConnectionWatch, turn: TurnAccesses) {
        self.path = path
        self.watch = watch
        self.turn = turn
    }

    func handlerAdded(context: ChannelHandlerContext) {
        raw = try? context.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)
        own = context
    }

    func handlerRemoved(context: ChannelHandlerContext) { (raw, own) = (nil, nil) }

    // MARK: Requests

    /// Answers a poll before the general parser sees its bytes; returns false when they have to go through the parser.
    ///
    /// - Parameter bytes: what arrived while the parser held no part of a request.
    func takeWhole(_ bytes: ByteBuffer) -> Bool {
        guard let own, state.takesWhole, let request = PlainRequest(bytes),
            let answer = path.answer(request, caller(own), confirmed: nil)
        else { return false }
        watch.wholeRequestCame()
        state.found(isWhole: true)
        count(answer, own)
        return true
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let step = state.partCame()
        guard step != .ignore else { return }
        let part = unwrapInboundIn(data)
        switch part {
        case .head(let head): watch.requestBegan(head)
        case .body: watch.bodyCame()
        case .end(let trailers): watch.requestEnded(hasTrailers: trailers != nil)
        }
        let bounded = part.withBoundedMarks
        if step == .hold { held.append(.part(bounded)) } else { take(bounded, context) }
    }

    /// Returns false when the part has to wait, so that it is the first of those that are held.
    @discardableResult
    private func take(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) -> Bool {
        switch part {
        case .head(let head):
            do throws(ProblemDocument) {
                return take(head, try RequestFraming(head), context)
            } catch {
                let step = state.refused()
                guard step == .takeLast else { return pass(part, step, context) }
                refuse(error, head.method, context)
                return true
            }
        case .body: return pass(part, state.bodyTaken(), context)
        case .end: return pass(part, state.endTaken(), context)
        }
    }

    private func take(_ head: HTTPRequestHead, _ framing: RequestFraming, _ context: ChannelHandlerContext) -> Bool {
        guard state.looksUp, raw != nil, let request = path.request(of: head) else {
            return miss(head, framing, context)
        }
        guard let sharing = path.services.sharing else { return answer(request, head, framing, nil, context) }
        // The database is asked what any server had ended before this request arrived.
        state.asked()
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        let loop = context.eventLoop
        sharing.confirm { result in
            loop.execute {
                bound.value.handler.confirmed(request, head, framing, try? result.get(), bound.value.context)
            }
        }
        return true
    }

    /// - Parameter time: the database's time; nil when it did not answer. Then the request goes through the router,
    ///   where the database is asked again and the request refused.
    private func confirmed(
        _ request: PlainRequest, _ head: HTTPRequestHead, _ framing: RequestFraming, _ time: Int?,
        _ context: ChannelHandlerContext
    ) {
        let looksUp = state.confirmed()
        guard raw != nil, context.channel.isActive else { return }
        if looksUp { _ = answer(request, head, framing, time, context) }
        channelReadComplete(context: context)
        release(context)
        readOn(context)
    }

    private func answer(
        _ request: PlainRequest, _ head: HTTPRequestHead, _ framing: RequestFraming, _ confirmed: Int?,
        _ context: ChannelHandlerContext
    ) -> Bool {
        guard let answer = path.answer(request, caller(context), confirmed: confirmed) else {
            return miss(head, framing, context)
        }
        // Held events that follow may be processed before this returns.
        state.found(isWhole: false)
        count(answer, context)
        return true
    }

    private func miss(_ head: HTTPRequestHead, _ framing: RequestFraming, _ context: ChannelHandlerContext) -> Bool {
        var head = head
        // The framework looks for exactly this value.
        if framing.closes { head.headers.replaceOrAdd(name: "connection", value: "close") }
        return pass(.head(head), state.missed(framing), context)
    }

    private func pass(
        _ part: HTTPServerRequestPart, _ step: EdgeState.Step, _ context: ChannelHandlerContext
    ) -> Bool {
        switch step {
        case .ignore: return true
        case .hold:
            held.prepend(.part(part))
            return false
        case .takeLast: endInput()
        case .take: break
        }
        hasPassedPart = true
        context.fireChannelRead(wrapInboundOut(part))
        return true
    }

    /// Answers before anything else and ends the connection, since what follows may not be a request.
    private func refuse(_ refusal: ProblemDocument, _ method: HTTPMethod, _ context: ChannelHandlerContext) {
        let method = (try? HTTPRequest.Method(method)).flatMap {
            RouteTable.registered.contains($0) ? $0.rawValue : nil
        }
        let record = RequestRecord(
            method: method ?? "other", route: "unknown", status: refusal.status.code, start: ContinuousClock.now)
        record.finish(
            path.services.metrics.counter(method: record.method, route: record.route, status: record.status),
            path.logger)
        endInput()
        guard let raw else { return }
        let (head, body) = refusal.bytes(closes: true, transportPolicy: path.transportPolicy)
        raw.write(NIOAny(IOData.byteBuffer(head)), promise: nil)
        raw.writeAndFlush(NIOAny(IOData.byteBuffer(body)), promise: nil)
        watch.answered()
        closeOutput(raw)
    }

    /// Nothing that comes after the requests that were passed on is answered, nor waited for.
    private func endInput() {
        held.removeAll { if case .event = $0 { false } else { true } }
        watch.inputEnded(open: state.passedCount)
    }

    /// The input side stays open for a while: a reset while the client is still sending would discard the answer.
    private func closeOutput(_ raw: ChannelHandlerContext) { close(context: raw, mode: .output, promise: nil) }

    /// Closes once everything written has left: the channel drops it when both sides are closed, and it closes both when
    /// the client has closed its own. How long that may take is for `ConnectionWatch` to judge, which closes below.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode != .input, state.outputEnds() == .takeLast { endInput() }
        guard mode != .input, let raw, isWriting(context) else { return context.close(mode: mode, promise: promise) }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { result in
            if case .failure(let error) = result, mode == .output {
                promise?.fail(error)
            } else {
                bound.value.close(mode: mode, promise: promise)
            }
        }
        raw.writeAndFlush(NIOAny(IOData.byteBuffer(ByteBuffer())), promise: written)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard hasPassedPart else { return }
        hasPassedPart = false
        context.fireChannelReadComplete()
    }

    /// The client of the connection.
    private func caller(_ context: ChannelHandlerContext) -> FeedFastPath.Caller {
        if let knownCaller { return knownCaller }
        let caller = FeedFastPath.Caller(IPAddress(context.remoteAddress), path.services.settings)
        knownCaller = caller
        return caller
    }

    /// Lets an answer leave in its order, once its access is counted.
    private func count(_ answer: FeedFastPath.Answer, _ context: ChannelHandlerContext) {
        outstanding.append(answer)
        guard let access = answer.access else { return flushReady(context) }
        turn.count(access, of: answer, for: self)
    }

    // MARK: Answers

    /// The access of an answer is counted, or cannot be; nothing happens when the connection is gone.
    func finish(_ answer: FeedFastPath.Answer, _ result: Result<Void, JournalFailure>) {
        guard let own else { return }
        answer.outcome = result
        flushReady(own)
    }

    /// Writes the answers that are ready at the front of the queue, then releases the events that waited for them.
    private func flushReady(_ context: ChannelHandlerContext) {
        guard let raw, context.channel.isActive else { return }
        var hasWritten = false
        // A reader that does not keep up gets nothing more for now.
        while context.channel.isWritable, let answer = outstanding.first, let outcome = answer.outcome {
            if case .failure(let error) = outcome, answer.head != nil { path.refuse(answer, error) }
            write(answer, raw)
            hasWritten = true
        }
        if hasWritten { raw.flush() }
        release(context)
        readOn(context)
    }

    /// Writes an answer, or the next piece of it; it stays the first of the queue until its last piece.
    private func write(_ answer: FeedFastPath.Answer, _ raw: ChannelHandlerContext) {
        let head = answer.head
        answer.head = nil
        let length = answer.body?.readableBytes ?? 0
        let piece = answer.body?.readSlice(length: min(length, path.mostAtOnce))
        let isLast = length <= path.mostAtOnce
        // Now, because a flush may call this again: it reports when the connection is full, and when it no longer is.
        if isLast {
            outstanding.removeFirst()
            state.left()
        } else if head != nil {
            PacedWriter.bound(raw.channel)
        }
        if let head { raw.write(NIOAny(IOData.byteBuffer(head)), promise: nil) }
        if let piece {
            let written = (isLast ? answer.part : nil).map { part in
                let promise = raw.eventLoop.makePromise(of: Void.self)
                promise.futureResult.whenComplete { _ in withExtendedLifetime(part) {} }
                return promise
            }
            raw.write(NIOAny(IOData.byteBuffer(piece)), promise: written)
            // A long body is flushed now, so that the connection can report that it is full.
            if piece.readableBytes > Self.longBody { raw.flush() }
        }
        if head != nil { path.finish(answer) }
        if isLast { watch.answered() }
    }

    private func release(_ context: ChannelHandlerContext) {
        guard !held.isEmpty else { return }
        var mayGoOn = true
        while mayGoOn, state.releases, let next = held.popFirst() {
            if held.isEmpty { state.released() }
            switch next {
            case .part(let part): mayGoOn = take(part, context)
            case .event(let event): context.fireUserInboundEventTriggered(event)
            case .error(let error): report(error, context)
            }
        }
        channelReadComplete(context: context)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            state.answerBegan(&head)
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            context.write(data, promise: promise)
            watch.answered()
            if state.answered(), let raw {
                raw.flush()
                closeOutput(raw)
            }
            release(context)
            readOn(context)
        }
    }

    /// Resumes reading when the held body is wanted, and sends 100 to a client that waits for it.
    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is BodyWanted else { return context.triggerUserOutboundEvent(event, promise: promise) }
        if state.bodyWanted(), let raw, context.channel.isActive {
            raw.writeAndFlush(NIOAny(IOData.byteBuffer(Self.goOn)), promise: nil)
        }
        readOn(context)
        promise?.succeed()
    }

    private static let goOn = ByteBuffer(staticString: "HTTP/1.1 100 Continue\r\n\r\n")

    // MARK: Order of other events

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard state.eventCame() != .hold else { return held.append(.event(event)) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let step = state.errorCame()
        guard step != .ignore else { return }
        watch.parserFailed()
        if step == .hold { held.append(.error(error)) } else { report(error, context) }
    }

    /// Answers input that is not a request, if no request is being handled.
    private func report(_ error: any Error, _ context: ChannelHandlerContext) {
        guard raw != nil, let error = error as? HTTPParserError, state.errorTaken() == .takeLast else {
            return context.fireErrorCaught(error)
        }
        refuse(error == .headerOverflow ? .headerTooLarge : .notHTTP, .GET, context)
    }

    // MARK: Back-pressure

    func read(context: ChannelHandlerContext) {
        if isFull(context) { isReadHeld = true } else { context.read() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { flushReady(context) }
        context.fireChannelWritabilityChanged()
    }

    private func isFull(_ context: ChannelHandlerContext) -> Bool { !context.channel.isWritable || state.isFull }

    private func isWriting(_ context: ChannelHandlerContext) -> Bool {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 > 0
    }

    private func readOn(_ context: ChannelHandlerContext) {
        guard isReadHeld, !isFull(context) else { return }
        isReadHeld = false
        context.read()
    }
}

extension ProblemDocument {
    fileprivate static let headerTooLarge = ProblemDocument(
        .requestHeaderFieldsTooLarge,
        detail: "The request line or the header fields are longer than is accepted here.")
    fileprivate static let notHTTP = ProblemDocument(
        .badRequest, detail: "This request is not framed as HTTP/1.1 requires (RFC 9112).")
}
