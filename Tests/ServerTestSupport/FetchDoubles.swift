// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import Outbound
import Synchronization
import Testing

@testable import KalendsCore

/// A resolver that gives a test's answers, repeats the last one, and counts the questions.
final class NamedHosts: Resolver {
    private let answers: Mutex<[String: [[String]]]>
    private let asked = Mutex<[String]>([])
    private let otherwise: [String]

    /// - Parameter otherwise: the addresses of every other name, by default this machine's own, so that no connection
    ///   goes unnoticed.
    init(_ answers: [String: [[String]]], otherwise: [String] = ["127.0.0.1"]) {
        self.answers = Mutex(answers)
        self.otherwise = otherwise
    }

    var questions: [String] { asked.withLock { $0 } }

    func addresses(of name: String, for asker: ByteString) async throws -> [IPAddress] {
        asked.withLock { $0.append(name) }
        let texts = answers.withLock { answers -> [String] in
            guard let known = answers[name], let first = known.first else { return otherwise }
            if known.count > 1 { answers[name] = Array(known.dropFirst()) }
            return first
        }
        return texts.compactMap { IPAddress($0) }
    }
}

/// A transport that connects to nothing and records every address that it was to connect to.
final class ConnectRecorder: RequestTransport {
    private let requests = Mutex<[OutboundRequest]>([])
    private let answer: @Sendable (OutboundRequest) throws -> OutboundAnswer

    init(_ answer: @escaping @Sendable (OutboundRequest) throws -> OutboundAnswer = { _ in .calendar }) {
        self.answer = answer
    }

    var connected: [IPAddress] { requests.withLock { $0.map(\.address) } }
    var urls: [String] { requests.withLock { $0.map { $0.url.reveal() } } }

    func send<Sink: AnswerSink>(
        _ request: OutboundRequest, _ sink: @escaping @Sendable (OutboundAnswer) throws -> Sink?
    ) async throws -> (OutboundAnswer, Sink?) {
        requests.withLock { $0.append(request) }
        let answer = try answer(request)
        guard let target = try sink(answer) else { return (answer, nil) }
        try await target.take(Array("BEGIN:VCALENDAR".utf8))
        return (answer, target)
    }
}

extension OutboundAnswer {
    static let calendar = OutboundAnswer(status: 200, headers: [("Content-Type", "text/calendar; charset=utf-8")])

    static func redirect(_ location: String, status: Int = 302) -> OutboundAnswer {
        OutboundAnswer(status: status, headers: [("Location", location)])
    }
}

extension FetchedCalendar {
    var bytes: [UInt8] {
        get throws { try upload.spool.read(0..<upload.spool.count) }
    }
}

extension GuardedFetcher {
    /// Creates a fetcher with doubles instead of the network.
    init(
        _ resolver: some Resolver, _ transport: some RequestTransport, allowsHTTP: Bool = false,
        limit: Int = 1 << 20, deadline: Duration = .seconds(600),
        permits: @escaping @Sendable (IPAddress) -> Bool = { $0.isGlobalUnicast }
    ) {
        var settings = ServerSettings()
        settings.allowHTTPImports = allowsHTTP
        settings.maxImportBytes = limit
        settings.fetching.resolver = resolver
        settings.fetching.transport = transport
        settings.fetching.deadline = deadline
        settings.fetching.permits = permits
        self.init(settings)
    }

    /// Fetches and returns the failure; nil when there was none.
    func failure(_ text: String) async -> OutboundFailure.Kind? {
        do {
            _ = try await attempt(try PublicURL(text, allowsHTTP: rules.allowsHTTP), nil, for: nil)
            return nil
        } catch let failure as OutboundFailure {
            return failure.kind
        } catch {
            Issue.record("\(error)")
            return nil
        }
    }
}
