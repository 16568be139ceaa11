// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import NIOCore
import TestSupport
import Testing

@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Feeds in gzip")
struct PackedFeedTests {
    private static let task: JSONValue = ["title": "Refill pills", "dueAt": "2026-03-03T09:00:00-08:00"]

    @Test(
        "Only clients that name gzip get it, and never Microsoft's programs",
        arguments: [
            (["gzip"], true), (["deflate, GZIP;q=0.5"], true), (["br", "x-gzip"], true), (["gzip; q=1.0"], true),
            (["gzip;q=0"], false), (["gzip;q=0.000"], false), (["*"], false), (["identity"], false), ([], false),
            ([""], false), (["gzipped"], false), (["gzip;q=x"], false), (["gz ip"], false), ([" gzip ; q = 1"], true),
            (["gzip;q =0"], false),
        ])
    func negotiates(values: [String], takes: Bool) {
        for family in ClientFamily.allCases {
            let isGzip = ContentCoding(acceptEncoding: values, from: family) == .gzip
            #expect(isGzip == (takes && !family.isMicrosoft), "\(family)")
        }
    }

    @Test("The packed bytes unpack to the plain ones, and have their own tag")
    func bytes() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.put("tasks", "t1", Self.task)
            let path = try await server.makeFeed().path
            server.clock.advance(seconds: 10)
            let plain = try await server.raw(.get, path).expect(200)
            let packed = try await server.raw(.get, path, headers: [.acceptEncoding: "gzip"]).expect(200)
            #expect(packed.headers[.contentEncoding] == "gzip" && plain.headers[.contentEncoding] == nil)
            #expect(packed.headers[.eTag] != plain.headers[.eTag])
            #expect(packed.headers[.vary] == plain.headers[.vary])
            #expect(packed.body.count < plain.body.count)
            let file = server.folder.appending(path: "feed.gz").path
            _ = FileManager.default.createFile(atPath: file, contents: Data(packed.body))
            let unpacked = try await runProgram("/bin/gzip", ["-dc", file])
            #expect(unpacked.status == 0 && Array(unpacked.output.utf8) == plain.body)
        }
    }

    @Test("Each coding's tag is valid only for that coding, also after the bytes had to be packed again")
    func tags() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let path = try await server.makeFeed().path
            let gzip: HTTPFields = [.acceptEncoding: "gzip"]
            let (plain, packed) = (
                try await server.raw(.get, path).expect(200),
                try await server.raw(.get, path, headers: gzip).expect(200)
            )
            for (tag, takesGzip, status) in [
                (plain.headers[.eTag], false, 304), (plain.headers[.eTag], true, 200),
                (packed.headers[.eTag], true, 304), (packed.headers[.eTag], false, 200),
            ] {
                var headers = takesGzip ? gzip : [:]
                headers[.ifNoneMatch] = tag
                try await server.raw(.get, path, headers: headers).expect(status)
            }
            #expect(Gzip.pack(ByteBuffer(bytes: plain.body)) == ByteBuffer(bytes: packed.body))
        }
    }

    @Test("The least recently used entries are removed, and the cache stays within the limit")
    func makesRoom() {
        var kept = LeastRecentlyUsed<Int, Int>(limit: 100)
        for number in 0..<50 {
            kept.keep(number, for: number, cost: 10)
            _ = kept.find(0)
            #expect(kept.cost <= 100)
        }
        #expect(kept.find(0) == 0 && kept.find(49) == 49 && kept.find(40) == nil && kept.count == 10)
        kept.keep(1, for: 0, cost: 101)
        #expect(kept.find(0) == nil && kept.cost == 90)
        var random = SystemRandomNumberGenerator()
        var order: [Int] = []
        var model = LeastRecentlyUsed<Int, Int>(limit: 20)
        for _ in 0..<3000 {
            let key = Int.random(in: 0..<30, using: &random)
            order.removeAll { $0 == key }
            if Bool.random(using: &random) {
                model.keep(key, for: key, cost: 1)
                order.append(key)
            } else if model.find(key) != nil {
                order.append(key)
            }
            if order.count > 20 { order.removeFirst() }
            #expect(model.count == order.count)
        }
    }
}
