// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import FoundationEssentials
import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1
import ServiceLifecycle
import Storage

/// Speaks the API to whoever holds a database: the server that runs on it, or this very process.
struct LocalClient: Sendable {
    private let client: HTTPClient
    private let socket: String

    struct Answer: Sendable {
        var status: Int
        var body: [UInt8]

        var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
    }

    /// Why a command could not do its work (exit status 3).
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// The lock is held and nobody answers on the socket, at this moment.
    private struct Unanswered: Error {
        var description: String
    }

    /// Runs `body` with a client of the database: beside a running server through its socket, else on the database
    /// itself, which this process then holds for the time.
    ///
    /// - Parameter creates: whether a database that is not there is made; a mistyped path is told otherwise.
    static func with<Value: Sendable>(
        _ settings: ServerSettings, creates: Bool = false,
        _ body: @escaping @Sendable (LocalClient) async throws -> Value
    ) async throws -> Value {
        guard creates || FileManager.default.fileExists(atPath: settings.database) else {
            throw Failure(description: "There is no database \(settings.database); kalends serve makes one.")
        }
        // Whoever holds the lock is a server that starts, runs or stops, or a command on its short way: try both doors
        // until one opens. A busy machine may need many seconds for what takes a tenth of one.
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(30)
        while true {
            do {
                let installation = try await Installation(settings, isServer: false)
                return try await alone(installation, settings, body)
            } catch StorageError.locked {
                do {
                    return try await connected(settings) { client in
                        // Another command's own server goes away under whoever leans on it.
                        guard (try? await client.isServer) == true else {
                            throw Unanswered(description: Self.held(settings))
                        }
                        return try await body(client)
                    }
                } catch let failure as Unanswered {
                    guard clock.now < deadline else { throw Failure(description: failure.description) }
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
        }
    }

    /// Serves the local socket within this process for as long as `body` runs.
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
        let server = try Server(installation: installation, logger: quiet).local { signal.finish() }
        let group = ServiceGroup(configuration: ServiceGroupConfiguration(services: [server], logger: quiet))
        return try await withThrowingTaskGroup(of: Void.self, returning: Value.self) { tasks in
            tasks.addTask { try await group.run() }
            for await _ in ready {}
            let value: Value
            do {
                value = try await connected(settings, body)
            } catch {
                await group.triggerGracefulShutdown()
                throw error
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            return value
        }
    }

    /// Whether a server runs on the database and answers.
    static func isServing(_ settings: ServerSettings) async throws -> Bool {
        do {
            // Whoever gets the lock is alone.
            _ = try DatabaseLock(path: settings.lockFile)
            return false
        } catch StorageError.locked {
            // The demo's loader and other commands answer here too, for their short time.
            return try await connected(settings) { try await $0.isServer }
        }
    }

    private var isServer: Bool {
        get async throws { try await json("GET", "/local/health")["isServer"]?.bool ?? false }
    }

    private static func held(_ settings: ServerSettings) -> String {
        "Another process holds \(settings.lockFile), and no server answers on \(settings.socketFile)."
    }

    private static func connected<Value: Sendable>(
        _ settings: ServerSettings, _ body: @escaping @Sendable (LocalClient) async throws -> Value
    ) async throws -> Value {
        var configuration = HTTPClient.Configuration()
        configuration.timeout.connect = .milliseconds(500)
        // One try: whether there is another is decided where both doors are known.
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let local = LocalClient(client: client, socket: settings.socketFile)
        do {
            _ = try await local.call("GET", "/healthz")
        } catch {
            try? await client.shutdown()
            throw Unanswered(description: held(settings))
        }
        do {
            let value = try await body(local)
            try await client.shutdown()
            return value
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    /// Sends one request; any status is an answer.
    func call(
        _ method: String, _ path: String, body: [UInt8]? = nil, contentType: String = "application/json",
        as user: String? = nil
    ) async throws -> Answer {
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
        let response = try await client.execute(request, timeout: .minutes(30))
        var bytes: [UInt8] = []
        for try await buffer in response.body { bytes.append(contentsOf: buffer.readableBytesView) }
        return Answer(status: Int(response.status.code), body: bytes)
    }

    /// Sends one request and returns its JSON; throws the server's own sentences when it is refused.
    func json(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
        let answer = try await call(method, path, body: try body?.serialized())
        guard (200..<300).contains(answer.status) else { throw Self.refused(answer) }
        return answer.json
    }

    /// All elements of a paged list.
    func all(_ path: String) async throws -> [JSONValue] {
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

    static func refused(_ answer: Answer) -> CommandRefusal {
        var lines = [answer.json["detail"]?.string ?? "The request was refused with status \(answer.status)."]
        for fault in answer.json["errors"]?.array ?? [] {
            lines.append("  \(fault["pointer"]?.string ?? ""): \(fault["message"]?.string ?? "")")
        }
        return CommandRefusal(description: lines.joined(separator: "\n"), status: answer.status)
    }
}

/// A command that was understood and refused.
struct CommandRefusal: Error, CustomStringConvertible {
    var description: String
    var status: Int
}
