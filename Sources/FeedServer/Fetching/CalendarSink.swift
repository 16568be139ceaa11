// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore
import Synchronization

/// Where a calendar goes as it comes from its host: unpacked into a spool, piece by piece, and counted to whoever asked.
final class CalendarSink: Sendable {
    private struct State {
        var packed = 0
        var gunzip: GunzipStream?
        var check = UTF8Check()
    }

    private let upload: ImportUpload
    private let limit: Int
    private let state: Mutex<State>

    /// Throws `FetchFailure` when the answer is packed in a way that nobody asked for, or says that it is too large.
    ///
    /// - Parameter limit: bytes, packed and unpacked.
    init(_ answer: HopAnswer, limit: Int, for admission: FairPool.Holding?) throws {
        if let length = answer.field("content-length").flatMap({ Int($0) }), length > limit {
            throw FetchFailure.tooLarge(limit: limit)
        }
        let isPacked =
            switch answer.field("content-encoding")?.lowercased() {
            case nil, "identity", "": false
            case "gzip", "x-gzip": true
            default: throw FetchFailure.garbled
            }
        var upload = try ImportUpload(admission)
        upload.charset = answer.field("content-type").flatMap { MediaType.charset($0) }
        (self.upload, self.limit) = (upload, limit)
        let limit = limit
        state = Mutex(State())
        if isPacked {
            do { try state.withLock { $0.gunzip = try GunzipStream(limit: limit) } } catch {
                throw FetchFailure.garbled
            }
        }
    }

    /// Throws `FetchFailure` for more than the limit and for what cannot be unpacked, `Refusal` when there is no room.
    func take(_ part: ByteBuffer) throws {
        try state.withLock { state in
            state.packed += part.readableBytes
            guard state.packed <= limit else { throw FetchFailure.tooLarge(limit: limit) }
            let bytes = Array(part.readableBytesView)
            guard let gunzip = state.gunzip else { return try keep(bytes[...], &state.check) }
            do {
                try gunzip.feed(bytes) { try keep($0, &state.check) }
            } catch let error as Gzip.UnpackingError {
                throw failure(error)
            }
        }
    }

    /// The whole calendar.
    func finish() throws -> ImportUpload {
        try state.withLock { state in
            do throws(Gzip.UnpackingError) { try state.gunzip?.finish() } catch { throw failure(error) }
            var upload = upload
            upload.isForeign = !state.check.finish()
            return upload
        }
    }

    private func keep(_ bytes: ArraySlice<UInt8>, _ check: inout UTF8Check) throws {
        try upload.admission?.grow(by: bytes.count)
        try upload.spool.append(bytes)
        check.feed(bytes)
    }

    private func failure(_ error: Gzip.UnpackingError) -> FetchFailure {
        error == .tooLarge ? .tooLarge(limit: limit) : .garbled
    }
}
