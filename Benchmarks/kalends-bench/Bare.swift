// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import HTTPTypes
import Hummingbird
import Logging

/// Serves one file from memory by a bare Hummingbird route, to show what the framework itself reaches.
struct Bare: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Serve one file by a route that does nothing else.")

    @Option(help: "The port to listen on.")
    var port: Int

    @Option(help: "The file to serve at /feed.ics.")
    var file: String

    func run() async throws {
        let body = ByteBuffer(bytes: try Data(contentsOf: URL(filePath: file)))
        let etag = "\"bare\""
        let headers: HTTPFields = [.contentType: "text/calendar; charset=utf-8", .eTag: etag]
        let router = Router()
        router.get("feed.ics") { request, _ in
            if request.headers[.ifNoneMatch] == etag { return Response(status: .notModified, headers: [.eTag: etag]) }
            return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body))
        }
        var logger = Logger(label: "bare")
        logger.logLevel = .warning
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            logger: logger)
        try await application.runService()
    }
}
