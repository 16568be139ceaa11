// SPDX-License-Identifier: Apache-2.0

public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A response with its complete body, which is within the limit.
public struct HTTPAnswer: Sendable {
    public let status: Int
    public let body: [UInt8]
    /// The header `Retry-After` in seconds, if it is a number.
    public let retryAfter: Int?

    public init(status: Int, body: [UInt8], retryAfter: Int? = nil) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
    }
}

/// Sends one request; tests and apps with other needs supply their own transport.
public protocol HTTPTransport: Sendable {
    /// - Parameter limit: the most bytes of the response body.
    func send(_ request: URLRequest, limit: Int) async throws(CompanionFailure) -> HTTPAnswer
}

/// Sends requests with `URLSession`, without cookies, caches or redirects.
public struct URLSessionTransport: HTTPTransport {
    /// The longest time without data, and the longest time of a whole request, in seconds.
    private let silence: TimeInterval
    private let whole: TimeInterval

    public init(silence: TimeInterval = 30, whole: TimeInterval = 120) {
        self.silence = silence
        self.whole = whole
    }

    public func send(_ request: URLRequest, limit: Int) async throws(CompanionFailure) -> HTTPAnswer {
        let (pieces, continuation) = AsyncThrowingStream<Piece, any Error>.makeStream()
        // Each request has its own session, whose delegate needs no state except the continuation.
        let session = URLSession(
            configuration: configuration, delegate: Receiver(continuation: continuation), delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        var request = request
        request.timeoutInterval = silence
        let task = session.dataTask(with: request)
        continuation.onTermination = { @Sendable _ in task.cancel() }
        task.resume()
        do {
            let answer = try await within(.seconds(whole)) { try await Self.answer(of: pieces, limit: limit) }
            if let answer { return answer }
        } catch let failure as CompanionFailure {
            throw failure
        } catch {
            throw Task.isCancelled ? .cancelled : CompanionFailure(error)
        }
        throw .timedOut
    }

    private var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.timeoutIntervalForRequest = silence
        configuration.timeoutIntervalForResource = whole
        return configuration
    }

    private static func answer(
        of pieces: AsyncThrowingStream<Piece, any Error>, limit: Int
    ) async throws -> HTTPAnswer {
        var (status, retryAfter): (Int?, Int?) = (nil, nil)
        var body: [UInt8] = []
        for try await piece in pieces {
            switch piece {
            case .head(let code, let length, let seconds):
                guard length <= Int64(limit) else { throw CompanionFailure.badAnswer }
                (status, retryAfter) = (code, seconds)
            case .data(let data):
                guard body.count + data.count <= limit else { throw CompanionFailure.badAnswer }
                body += data
            }
        }
        try Task.checkCancellation()
        guard let status else { throw CompanionFailure.badAnswer }
        return HTTPAnswer(status: status, body: body, retryAfter: retryAfter)
    }
}

/// A part of a response.
private enum Piece: Sendable {
    case head(status: Int, length: Int64, retryAfter: Int?)
    case data(Data)
}

/// Passes on the parts of a response in order; the reader counts the bytes and ends a request that is too long.
private final class Receiver: NSObject, URLSessionDataDelegate {
    private let continuation: AsyncThrowingStream<Piece, any Error>.Continuation

    init(continuation: AsyncThrowingStream<Piece, any Error>.Continuation) { self.continuation = continuation }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse {
            continuation.yield(
                .head(
                    status: response.statusCode, length: response.expectedContentLength,
                    retryAfter: response.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) }))
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        continuation.yield(.data(data))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        continuation.finish(throwing: error)
    }
}

extension CompanionFailure {
    /// Makes the failure of an error below HTTP; only its kind is kept, since the system's text may contain the
    /// address.
    init(_ error: any Error) {
        let code = (error as? URLError)?.code
        self = code == .timedOut ? .timedOut : .offline
    }
}
