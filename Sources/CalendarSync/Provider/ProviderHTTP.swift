// SPDX-License-Identifier: Apache-2.0

/// A request to a provider.
public struct ProviderRequest: Sendable {
    /// A token of RFC 9110 section 9, in upper case.
    public var method: String
    /// An absolute address.
    public var url: String
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]?
    /// The maximum size in bytes of the answer's body.
    public var longestAnswer: Int
    /// As how many requests the provider counts it: those of a batch count one by one.
    public var calls = 1

    public init(
        _ method: String, _ url: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil,
        longestAnswer: Int = 32 << 20
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.longestAnswer = longestAnswer
    }
}

/// A provider's answer, whatever its status.
public struct ProviderAnswer: Sendable {
    public var status: Int
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]
    /// The memory that the body, and what is read from it, takes of a budget; given back with the last reference.
    public var room: (any Sendable)?

    public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Returns the value of the first field with this name, in upper or lower case.
    public func field(_ name: String) -> String? {
        let wanted = name.lowercased()
        return headers.first { $0.name.lowercased().utf8.elementsEqual(wanted.utf8) }?.value
    }
}

/// The reason for a missing answer.
public enum TransportFailure: Error, Hashable, Sendable {
    /// The request was not sent, so it can be sent again.
    case neverSent(String)
    /// The request may have been carried out.
    case unanswered(String)
    /// The answer was longer than `longestAnswer`.
    case tooLong
    /// This side gave up for the reason given; nothing was sent, or a request that changes nothing.
    case ended(ProviderFailure)
}

/// Sends requests to providers. No redirect is followed, no status is an error, and nothing is sent twice.
public protocol ProviderHTTP: Sendable {
    func send(_ request: ProviderRequest) async throws(TransportFailure) -> ProviderAnswer

    /// Processes what a provider sent. A hostile document may take a second of processor time, so this runs where no
    /// other request waits for it.
    ///
    /// - Parameter bytes: the size of the document, by which its memory is counted; nil for the result made from everything
    ///   that was sent, which is done even when the time for answers has run out.
    func work<Value: Sendable>(
        on bytes: Int?, _ work: @escaping @Sendable () throws(ProviderFailure) -> Value
    ) async throws(ProviderFailure) -> Value

    /// Counts bytes that are kept until the account is closed; throws when there is no room for them.
    func keep(_ bytes: Int) async throws(ProviderFailure)
}

extension ProviderHTTP {
    public func work<Value: Sendable>(
        on bytes: Int?, _ work: @escaping @Sendable () throws(ProviderFailure) -> Value
    ) async throws(ProviderFailure) -> Value { try work() }

    public func keep(_ bytes: Int) async throws(ProviderFailure) {}

    /// Makes a value of an answer.
    package func read<Value: Sendable>(
        _ answer: ProviderAnswer, _ work: @escaping @Sendable (ProviderAnswer) throws(ProviderFailure) -> Value
    ) async throws(ProviderFailure) -> Value {
        try await self.work(on: answer.body.count) { () throws(ProviderFailure) in try work(answer) }
    }
}

/// The access tokens of one grant.
public protocol AccessTokens: Sendable {
    /// Returns a token that is valid for some more time.
    func current() async throws(ProviderFailure) -> String
    /// Returns another token, because the provider refused `token`. However many callers ask, the grant is refreshed
    /// once.
    func renewed(after token: String) async throws(ProviderFailure) -> String
}
