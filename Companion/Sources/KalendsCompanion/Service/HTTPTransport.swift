// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import Synchronization

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
///
/// All requests of a transport and of its copies share a session, and its connections to the server. A device is
/// registered by the first request of a transport: libcurl may repeat a request whose connection was used before.
public struct URLSessionTransport: HTTPTransport {
    private let whole: TimeInterval
    private let sessions: Sessions

    /// - Parameters:
    ///   - silence: the longest time without data, in seconds.
    ///   - whole: the longest time of a whole request, in seconds.
    public init(silence: TimeInterval = 30, whole: TimeInterval = 120) {
        self.whole = whole
        sessions = Sessions { OwnedSession(silence: silence, whole: whole) }
    }

    public func send(_ request: URLRequest, limit: Int) async throws(CompanionFailure) -> HTTPAnswer {
        let session = sessions.current
        do throws(CompanionFailure) {
            return try await answer(of: session.pieces(of: request), limit: limit)
        } catch {
            // A connection that went dead while the machine slept would be used for the next request too.
            if error == .timedOut || error == .offline { sessions.replace(session) }
            throw error
        }
    }

    /// Reads a response within the time for a whole request.
    private func answer(
        of pieces: AsyncThrowingStream<Piece, any Error>, limit: Int
    ) async throws(CompanionFailure) -> HTTPAnswer {
        do {
            let answer = try await within(.seconds(whole)) { try await Self.collected(pieces, limit: limit) }
            if let answer { return answer }
        } catch let failure as CompanionFailure {
            throw failure
        } catch {
            throw Task.isCancelled ? .cancelled : CompanionFailure(error)
        }
        throw .timedOut
    }

    private static func collected(
        _ pieces: AsyncThrowingStream<Piece, any Error>, limit: Int
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

/// The session of a transport, which another one replaces when its connections may be dead.
private final class Sessions: Sendable {
    private let make: @Sendable () -> OwnedSession
    private let session: Mutex<OwnedSession>

    init(_ make: @escaping @Sendable () -> OwnedSession) {
        self.make = make
        session = Mutex(make())
    }

    var current: OwnedSession { session.withLock { $0 } }

    /// Requests that are under way finish in the session in which they began.
    func replace(_ old: OwnedSession) {
        let new = make()
        session.withLock { if $0 === old { $0 = new } }
    }
}

/// A session that ends with its owner.
///
/// It is never ended by `invalidateAndCancel()`: on Linux, that reads the list of tasks while another thread removes the
/// task that has just finished, which ends the program.
private final class OwnedSession: Sendable {
    private let session: URLSession
    private let receiver = Receiver()
    private let silence: TimeInterval

    init(silence: TimeInterval, whole: TimeInterval) {
        self.silence = silence
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.timeoutIntervalForRequest = silence
        configuration.timeoutIntervalForResource = whole
        session = URLSession(configuration: configuration, delegate: receiver, delegateQueue: nil)
    }

    // The session keeps its delegate until it is invalidated.
    deinit { session.finishTasksAndInvalidate() }

    /// Starts a request and returns the parts of its response; the request is cancelled when nobody reads them any more.
    func pieces(of request: URLRequest) -> AsyncThrowingStream<Piece, any Error> {
        let (pieces, continuation) = AsyncThrowingStream<Piece, any Error>.makeStream()
        var request = request
        request.timeoutInterval = silence
        let task = session.dataTask(with: request)
        continuation.onTermination = { @Sendable [receiver] reason in
            receiver.remove(task)
            // A task that has finished is left to the session, which removes it.
            if case .cancelled = reason { task.cancel() }
        }
        receiver.add(task, continuation)
        task.resume()
        return pieces
    }
}

/// Passes on the parts of each response in order; the reader counts the bytes and ends a request that is too long.
private final class Receiver: NSObject, URLSessionDataDelegate {
    /// The readers of the requests under way, by the number of the task.
    private let readers = Mutex<[Int: AsyncThrowingStream<Piece, any Error>.Continuation]>([:])

    func add(_ task: URLSessionTask, _ reader: AsyncThrowingStream<Piece, any Error>.Continuation) {
        readers.withLock { $0[task.taskIdentifier] = reader }
    }

    func remove(_ task: URLSessionTask) { readers.withLock { _ = $0.removeValue(forKey: task.taskIdentifier) } }

    private func reader(of task: URLSessionTask) -> AsyncThrowingStream<Piece, any Error>.Continuation? {
        readers.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // On Linux, the answer to a redirect of a cancelled task ends the program; `remove` comes before the cancelling.
        readers.withLock { if $0[task.taskIdentifier] != nil { completionHandler(nil) } }
    }

    #if canImport(FoundationNetworking)
    /// Ends a request that a proxy answered with a demand for another kind of credential; the head and the body have been
    /// passed on. The default never ends the request.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        reader(of: task)?.finish()
        completionHandler(.cancelAuthenticationChallenge, nil)
    }
    #endif

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse {
            reader(of: dataTask)?.yield(
                .head(
                    status: response.statusCode, length: response.expectedContentLength,
                    retryAfter: response.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) }))
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        reader(of: dataTask)?.yield(.data(data))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        // The lock is not held here: finishing the stream removes its reader.
        reader(of: task)?.finish(throwing: error)
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
