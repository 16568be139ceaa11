// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import NIOCore
import Pages

/// An archive of a person's data as `tar` and gzip make it, written at its reader's pace.
///
/// The request's access is checked again before each read. If a read fails, the answer breaks off, and its reader sees that the
/// archive has no end.
struct PersonArchiveAnswer: Sendable {
    let archive: PersonArchive
    let user: String
    let context: KalendsContext

    static let type = "application/gzip"

    var response: Response {
        Response(
            status: .ok,
            headers: [
                .contentType: Self.type, .cacheControl: "no-store",
                .contentDisposition: "attachment; filename=\"\(user).tar.gz\"",
            ],
            body: ResponseBody { writer in
                try await LongWork.run(for: context.sender) {
                    var paced = PacedWriter(writer, context.channel)
                    try await write(to: &paced)
                    try await paced.finish(nil)
                }
            })
    }

    private func write(to writer: inout PacedWriter) async throws {
        let (packer, guide) = (try GzipStream(), TarFile("README.txt", Array(PersonArchiveGuide.text(of: user).utf8)))
        var (archive, packed) = (archive, ByteBuffer())
        func pack(_ bytes: [UInt8]) throws { packed.writeBytes(try packer.pack(bytes, isLast: false)) }
        try archive.give(guide, to: pack)
        repeat {
            // The rows that were read are packed at once, and only the packed bytes wait for a slow reader.
            if packed.readableBytes > 0 {
                try await context.memory.answer.hold(packed.readableBytes)
                try await writer.write(packed)
                packed = ByteBuffer()
                context.memory.answer.keep(0)
            }
            try await context.readmit()
        } while try await archive.next(pack)
        try await writer.write(ByteBuffer(bytes: packer.pack([], isLast: true)))
    }
}
