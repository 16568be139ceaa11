// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import Logging
import NIOHTTP1
import Storage

/// Logs each request by the route that matched, never by its path: a feed's path holds its secret.
struct RouteLog: RouterMiddleware {
    typealias Context = KalendsContext

    let metrics: Metrics
    let front: PageFront
    let now: Clock

    func handle(
        _ request: Request, context: KalendsContext, next: (Request, KalendsContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        var context = context
        let note = CallerNote()
        context.note = note
        let requestID = RequestIdentity.valid(request.headers[.xRequestID])
        if let requestID { context.logger[metadataKey: Self.requestIDKey] = .string(requestID) }
        var response: Response
        do {
            response = try await next(request, context)
        } catch let refusal as Refusal {
            response = answer(ProblemDocument(refusal), request, context)
        } catch let problem as ProblemDocument {
            response = answer(problem, request, context)
        } catch PageRefusal.form {
            response = front.foreignForm(request, now: now())
        } catch let error as HTTPError where error.status == .notFound {
            // The router throws this for a path that is not a route.
            response = answer(ProblemDocument(.noSuchPath), request, context)
        } catch let error as any HTTPResponseError {
            // The framework's own messages may repeat what was sent.
            response = answer(
                ProblemDocument(error.status, detail: "\(error.status.reasonPhrase)."), request, context)
        } catch is HTTPParserError {
            // The caller caused this, or nobody waits for the answer any more.
            response = answer(
                ProblemDocument(
                    .badRequest("The body is not framed as HTTP/1.1 requires, or broke off.", code: .bodyBroken)),
                request, context)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // The error may contain a value that must stay inside, so only its type is logged.
            context.logger.error(
                "request failed", metadata: ["route": "\(route(context))", "error": "\(publicText(error))"])
            let refusal = (error as? StorageError).flatMap { Refusal($0) }
            response = answer(ProblemDocument(refusal ?? .failed), request, context)
        }
        // Answers of feeds are the same for everybody, except for an id that the client sent.
        let isFeed = context.endpointPath.flatMap(FeedPath.Route.init(rawValue:)) != nil
        if let requestID = requestID ?? (isFeed ? nil : self.requestID(context)) {
            response.headers[.xRequestID] = requestID
        }
        // An invented method must not become a label, or the table would grow with each.
        let method = RouteTable.registered.contains(request.method) ? request.method.rawValue : "other"
        let record = RequestRecord(
            method: method, route: route(context), status: response.status.code, start: start, note: note)
        record.finish(metrics.counter(method: method, route: record.route, status: record.status), context.logger)
        return response
    }

    /// A refusal in the form that suits the client: a page for a browser that wants one, otherwise a problem document.
    private func answer(_ problem: ProblemDocument, _ request: Request, _ context: KalendsContext) -> Response {
        guard PageFront.owns(request.uri.path), !request.uri.path.hasSuffix("/progress") else {
            return problem.response(from: request, context: context)
        }
        return front.error(problem, for: request, now: now(), requestID: requestID(context))
    }

    /// The framework's log key for a request's id.
    static let requestIDKey = "hb.request.id"

    /// The id that the caller sent, or the server's own number.
    private func requestID(_ context: KalendsContext) -> String? {
        context.logger[metadataKey: Self.requestIDKey].map { "\($0)" }
    }

    private func route(_ context: KalendsContext) -> String { context.endpointPath ?? "unknown" }
}

/// One request for the log and the metrics; neither gets anything else.
struct RequestRecord: Sendable {
    var method: String
    /// The pattern that matched.
    var route: String
    var status: Int
    var start: ContinuousClock.Instant
    /// The request's id as the client sent it, where the logger does not know it.
    var requestID: String?
    /// Who sent it; nil for feeds that are answered from memory, whose secret is all that is known.
    var note: CallerNote?

    /// The microseconds since the request came.
    func microseconds() -> Int {
        let elapsed = (ContinuousClock.now - start).components
        return Int(elapsed.seconds) * 1_000_000 + Int(elapsed.attoseconds / 1_000_000_000_000)
    }

    /// Records that the request has been answered, and returns the microseconds that it took.
    @discardableResult
    func finish(_ counter: Metrics.Counter, _ logger: Logger) -> Int {
        let microseconds = self.microseconds()
        counter.add(microseconds)
        guard logger.logLevel <= .info else { return microseconds }
        if let lines = logger.handler as? LineLogHandler {
            lines.log(self, microseconds: microseconds)
        } else {
            var values: Logger.Metadata = [
                "method": "\(method)", "route": "\(route)", "status": "\(status)", "microseconds": "\(microseconds)",
            ]
            note?.eachField { values[$0] = "\($1)" }
            logger.info("request", metadata: values)
        }
        return microseconds
    }
}
