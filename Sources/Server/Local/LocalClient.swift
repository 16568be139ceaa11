// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import FoundationEssentials
package import KalendsCore
import Logging
package import NIOCore
import NIOHTTP1
import ServiceLifecycle
import Storage

/// Calls the API of the process that has a database: the server that runs on it, or this process itself.
package struct LocalClient: Sendable {
    private let client: HTTPClient
    private let socket: String

    package struct Answer: Sendable {
        package var status: Int
        package var body: [UInt8]

        package var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
    }

    /// The reason why a command could not do its work (exit status 3).
    package struct Failure: Error, CustomStringConvertible {
        package var description: String

        package init(description: String) { self.description = description }
    }

    /// A command was given an empty text as an id.
    package struct EmptyID: Error, CustomStringConvertible {
        package var description: String { "An id must not be empty." }
    }

    /// Nobody answers on the socket at the moment.
    private struct Unanswered: Error {}

    /// Runs `body` with a client of the database: through its socket if a server is running, otherwise on the database
    /// itself, which this process then holds until `body` returns.
    ///
    /// - Parameter creates: whether to create a database that does not exist; otherwise a mistyped path is reported.
    package static func with<Value: Sendable>(
        _ settings: ServerSettings, creates: Bool = false,
        _ body: @escaping @Sendable (LocalClient) async throws -> Value
    ) async throws -> Value {
        let wait = LocalWait(settings)
        guard creates || settings.server != nil || FileIdentity(path: settings.database)?.size ?? 0 > 0 else {
            // A server whose database was deleted still has it open, and can make a backup.
            if let value = try? await connected(settings, wait, needsServer: true, { _ in true }), value {
                return try await connected(settings, wait, needsServer: true, body)
            }
            throw Failure(description: missing(settings))
        }
        // The database and the socket are tried alternately until one succeeds.
        while true {
            do {
                let installation = try await Installation(settings, isServer: false, creates: creates)
                return try await alone(installation, settings, body)
            } catch let error as StorageError where error.isLocked {
                do {
                    // Another command's temporary server may end at any time, so only a lasting server is used.
                    return try await connected(settings, wait, needsServer: true, body)
                } catch is Unanswered {
                    try wait.goOn()
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
        }
    }

    private static func missing(_ settings: ServerSettings) -> String {
        let path = URL(filePath: settings.database).path
        let place = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        return """
            There is no database \(place). Give its place with --database FILE or \(Setting.database.variable); only \
            `kalends serve` makes a new one.
            """
    }

    /// Serves the local socket in this process while `body` runs.
    private static func alone<Value: Sendable>(
        _ installation: Installation, _ settings: ServerSettings,
        _ body: @escaping @Sendable (LocalClient) async throws -> Value
    ) async throws -> Value {
        do {
            let value = try await served(installation, settings, body)
            try? await installation.close()
            return value
        } catch {
            try? await installation.close()
            throw error
        }
    }

    private static func served<Value: Sendable>(
        _ installation: Installation, _ settings: ServerSettings,
        _ body: @escaping @Sendable (LocalClient) async throws -> Value
    ) async throws -> Value {
        var quiet = Logger(label: "kalends")
        quiet.logLevel = .critical
        let (ready, signal) = AsyncStream.makeStream(of: Void.self)
        let server = try ServerPorts(installation: installation, logger: quiet).local { signal.finish() }
        let group = ServiceGroup(configuration: ServiceGroupConfiguration(services: [server], logger: quiet))
        return try await withThrowingTaskGroup(of: Void.self, returning: Value.self) { tasks in
            tasks.addTask { try await group.run() }
            for await _ in ready {}
            let value: Value
            do {
                value = try await connected(settings, LocalWait(settings), needsServer: false, body)
            } catch {
                await group.triggerGracefulShutdown()
                throw error
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            return value
        }
    }

    /// Whether a server is running on the database and answers.
    package static func isServing(_ settings: ServerSettings) async throws -> Bool {
        guard FileManager.default.fileExists(atPath: settings.lockFile) else { return false }
        do {
            // Only one process can have the lock.
            _ = try DatabaseLock(path: settings.lockFile)
            return false
        } catch let error as StorageError where error.isLocked {
            // The demo's loader and other commands also answer here for a short time.
            return try await connected(settings, LocalWait(settings), needsServer: true) { _ in true }
        }
    }

    /// Runs `body` with a client of the socket, as long as somebody answers on it.
    ///
    /// - Parameter needsServer: whether to require a lasting server.
    private static func connected<Value: Sendable>(
        _ settings: ServerSettings, _ wait: LocalWait, needsServer: Bool,
        _ body: @escaping @Sendable (LocalClient) async throws -> Value
    ) async throws -> Value {
        var configuration = HTTPClient.Configuration()
        configuration.timeout.connect = .milliseconds(500)
        // There is only one try here: the caller, who also knows the database, decides whether to try again.
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let local = LocalClient(client: client, socket: settings.socketFile)
        do {
            guard let isServer = await local.probe(), isServer || !needsServer else { throw Unanswered() }
            wait.answered()
            let value = needsServer ? try await local.watched(wait, body) : try await body(local)
            try await client.shutdown()
            return value
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    /// Whether the process that answers is a server, not another command; nil when nobody answers within a short time.
    private func probe() async -> Bool? {
        guard let answer = try? await call("GET", "/local/status", within: .seconds(2)), answer.status == 200 else {
            return nil
        }
        return answer.json["isServer"]?.bool ?? false
    }

    /// Runs `body`, and gives up once the server has not answered any request for a long time.
    ///
    /// An import may take minutes, so its own answer is not a sign of life; the server answers other requests while it
    /// works.
    private func watched<Value: Sendable>(
        _ wait: LocalWait, _ body: @escaping @Sendable (LocalClient) async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { tasks in
            tasks.addTask { try await body(self) }
            tasks.addTask {
                while true {
                    try await Task.sleep(for: .seconds(1))
                    if await probe() != nil { wait.answered() } else { try wait.goOn() }
                }
            }
            defer { tasks.cancelAll() }
            guard let value = try await tasks.next() ?? nil else { throw CancellationError() }
            return value
        }
    }

    /// Sends one request; an answer of any status is returned. Throws `EmptyID` for an empty id in the path.
    package func call(
        _ method: String, _ path: String, body: [UInt8]? = nil, contentType: String = "application/json",
        as user: String? = nil, within limit: TimeAmount = .minutes(30)
    ) async throws -> Answer {
        // Without its id the path is another one, whose refusal would explain nothing.
        let parts = path.utf8.prefix { $0 != UInt8(ascii: "?") }
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
        guard parts.allSatisfy({ !$0.isEmpty }) else { throw EmptyID() }
        guard let url = URL(httpURLWithSocketPath: socket, uri: path) else {
            throw Failure(description: "\(path) is not a path.")
        }
        var request = HTTPClientRequest(url: url.absoluteString)
        request.method = HTTPMethod(rawValue: method)
        if let user { request.headers.add(name: "Kalends-User", value: user) }
        if let body {
            request.headers.add(name: "Content-Type", value: contentType)
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        let response = try await client.execute(request, timeout: limit)
        var bytes: [UInt8] = []
        for try await buffer in response.body { bytes.append(contentsOf: buffer.readableBytesView) }
        return Answer(status: Int(response.status.code), body: bytes)
    }

    /// Sends one request and returns its JSON; throws the server's own message when it is refused.
    package func json(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
        let answer = try await call(method, path, body: try body?.serialized())
        guard (200..<300).contains(answer.status) else { throw Self.refused(answer) }
        return answer.json
    }

    /// All elements of a paged list.
    package func all(_ path: String) async throws -> [JSONValue] {
        var items: [JSONValue] = []
        var cursor = ""
        repeat {
            let separator = path.contains("?") ? "&" : "?"
            let page = try await json(
                "GET", "\(path)\(separator)limit=1000\(cursor.isEmpty ? "" : "&cursor=\(cursor)")")
            items += page["items"]?.array ?? []
            cursor = page["nextCursor"]?.string ?? ""
        } while !cursor.isEmpty
        return items
    }

    package static func refused(_ answer: Answer) -> CommandRefusal {
        let detail = answer.json["detail"]?.string ?? "The request was refused with status \(answer.status)."
        // The fault of a file as a whole says the same as the refusal.
        let faults = (answer.json["errors"]?.array ?? []).filter { $0["message"] != .string(detail) }
        return CommandRefusal(
            detail: detail,
            faults: faults.map { ($0["pointer"]?.string ?? "", $0["message"]?.string ?? "") }, status: answer.status)
    }
}

/// A command that was understood, but refused.
package struct CommandRefusal: Error, CustomStringConvertible {
    private let detail: String
    private let faults: [(place: String, message: String)]
    package let status: Int

    fileprivate init(detail: String, faults: [(place: String, message: String)], status: Int) {
        (self.detail, self.faults, self.status) = (detail, faults, status)
    }

    package var description: String {
        ([detail] + faults.map { "  \($0.place): \($0.message)" }).joined(separator: "\n")
    }

    /// Returns the refusal with the command's own words for the places of faults, such as flags; a place within a value
    /// follows the flag as a JSON pointer (RFC 6901).
    ///
    /// - Parameter names: the words by the pointer into the request's body, such as `--user` for `/userId`.
    package func naming(_ names: KeyValuePairs<String, String>) -> CommandRefusal {
        func place(_ pointer: String) -> String {
            for (own, name) in names {
                if pointer.isSameText(as: own) { return name }
                if pointer.hasPrefix(own + "/") { return "\(name), \(pointer.dropFirst(own.count))" }
            }
            return pointer
        }
        return CommandRefusal(
            detail: detail, faults: faults.map { (place($0.place), $0.message) }, status: status)
    }
}
