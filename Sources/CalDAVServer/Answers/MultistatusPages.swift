// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import KalendsFront
import NIOCore

/// Writes the responses of a multistatus, a few at a time, so that an answer of any length takes the same memory.
protocol MultistatusPages: Sendable {
    /// Writes the next responses; returns false once all are written.
    ///
    /// An error of the first call is the answer to the request; of a later one, the answer breaks off.
    mutating func write(to out: inout MultistatusWriter) async throws -> Bool

    /// Writes what says that the answer ends here, because it has taken all that one may.
    ///
    /// - Parameter href: the address of the request.
    mutating func cut(_ out: inout MultistatusWriter, at href: String)
}

extension MultistatusPages {
    func cut(_ out: inout MultistatusWriter, at href: String) { out.cut(at: href) }
}

extension MultistatusWriter {
    /// Writes that more resources would follow than are answered (RFC 6578 section 3.6, RFC 6352 section 8.6.2).
    mutating func cut(at href: String, sentence: String? = nil) {
        response(
            href, status: 507, condition: .dav("number-of-matches-within-limits"),
            sentence: sentence ?? "The answer ends here, because it takes too long to make all of it.")
    }
}

/// Responses that are all written at once.
struct OnePage: MultistatusPages {
    let body: @Sendable (inout MultistatusWriter) -> Void

    init(_ body: @escaping @Sendable (inout MultistatusWriter) -> Void) { self.body = body }

    func write(to out: inout MultistatusWriter) async throws -> Bool {
        body(&out)
        return false
    }
}

/// First the responses about no resource, then those of one collection after another.
struct PagesInTurn<Pages: MultistatusPages>: MultistatusPages {
    private var parts: [Pages]
    private var missing: [String]
    /// Whether each collection has something to say where the answer ends early.
    private let cutsEach: Bool
    private var index = 0

    init(_ parts: [Pages], missing: [String] = [], cutsEach: Bool = false) {
        (self.parts, self.missing, self.cutsEach) = (parts, missing, cutsEach)
    }

    mutating func write(to out: inout MultistatusWriter) async throws -> Bool {
        for href in missing { out.response(href, status: 404) }
        missing = []
        if index < parts.count, !(try await parts[index].write(to: &out)) { index += 1 }
        return index < parts.count
    }

    mutating func cut(_ out: inout MultistatusWriter, at href: String) {
        while index < parts.count {
            parts[index].cut(&out, at: href)
            index = cutsEach ? index + 1 : parts.count
        }
    }
}

extension Exchange {
    /// The bytes up to which an answer is made before it begins to be sent.
    private static let short = 64 << 10

    /// Answers with a multistatus. A short one has a length; a longer one is written at its reader's pace.
    func multistatus(
        _ pages: some MultistatusPages, status: HTTPResponse.Status = .severalStatuses,
        headers: HTTPFields = HTTPFields()
    ) async throws -> Response {
        var (pages, out, isDone) = (pages, MultistatusWriter(propertyContext), false)
        while !isDone, out.bytes.count < Self.short { isDone = try await write(&pages, to: &out) }
        let first = out.take()
        var headers = headers
        headers[.contentType] = "application/xml; charset=utf-8"
        headers[.cacheControl] = "no-store"
        let packs = acceptsGzip && (!isDone || first.count >= Self.leastPacked)
        if packs {
            headers[.contentEncoding] = "gzip"
            headers[.vary] = "Accept-Encoding"
        }
        guard !isDone else {
            let bytes = packs ? try GzipStream().pack(first, isLast: true) : first
            return Response(
                status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        }
        let rest = Rest(exchange: self, pages: pages, out: out, packer: packs ? try GzipStream() : nil)
        let (channel, sender) = (context.channel, context.sender)
        return Response(
            status: status, headers: headers,
            body: ResponseBody { writer in
                try await LongWork.run(for: sender) { try await rest.write(first, to: PacedWriter(writer, channel)) }
            })
    }

    /// Writes the next responses, and the end of the answer after the last; returns whether these were the last.
    private func write(
        _ pages: inout some MultistatusPages, to out: inout MultistatusWriter
    ) async throws -> Bool {
        try await work?.pause()
        let before = out.bytes.count
        var isDone = !(try await pages.write(to: &out))
        work?.place.count(bytes: out.bytes.count - before)
        if !isDone, isUsedUp {
            pages.cut(&out, at: href)
            isDone = true
        }
        if isDone { out.finish() }
        return isDone
    }

    /// Shorter answers are not compressed.
    private static let leastPacked = 1024

    /// The rest of an answer that has begun to be sent.
    private struct Rest<Pages: MultistatusPages>: Sendable {
        let exchange: Exchange
        let pages: Pages
        let out: MultistatusWriter
        let packer: GzipStream?

        func write(_ first: [UInt8], to writer: PacedWriter) async throws {
            var (pages, out, writer, bytes, isDone) = (pages, out, writer, first, false)
            while true {
                let packed = try packer?.pack(bytes, isLast: isDone) ?? bytes
                if !packed.isEmpty { try await writer.write(ByteBuffer(bytes: packed)) }
                guard !isDone else { break }
                while !isDone, out.bytes.count < Exchange.short {
                    isDone = try await exchange.write(&pages, to: &out)
                }
                bytes = out.take()
            }
            try await writer.finish(nil)
        }
    }
}
