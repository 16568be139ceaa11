// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// Splits a stream into lines and never holds more than one of them.
struct LineSplitter {
    enum Line {
        case complete([UInt8])
        /// The line was longer than the limit; its bytes were discarded.
        case tooLong
    }

    let limit: Int
    private var pending: [UInt8] = []
    private var isSkipping = false
    private var buffer = ByteBuffer()

    init(limit: Int) { self.limit = limit }

    /// Removes and returns the bytes of a line that has not ended yet, which are given again with those that follow.
    mutating func takePending() -> [UInt8] {
        defer { pending = [] }
        return pending
    }

    mutating func append(_ bytes: ByteBuffer) {
        var bytes = bytes
        if buffer.readableBytes == 0 { buffer = bytes } else { buffer.writeBuffer(&bytes) }
    }

    /// The next whole line; nil when more bytes are needed.
    mutating func next() -> Line? {
        let view = buffer.readableBytesView
        guard let end = view.firstIndex(of: 10) else {
            take(view.count)
            return nil
        }
        take(end - view.startIndex)
        buffer.moveReaderIndex(forwardBy: 1)
        return finish()
    }

    /// The bytes after the last line break; nil when there are none.
    mutating func rest() -> Line? {
        take(buffer.readableBytes)
        return pending.isEmpty && !isSkipping ? nil : finish()
    }

    private mutating func take(_ count: Int) {
        if let bytes = buffer.readBytes(length: count), !isSkipping {
            pending += bytes
            if pending.count > limit {
                isSkipping = true
                pending = []
            }
        }
    }

    private mutating func finish() -> Line {
        defer {
            pending = []
            isSkipping = false
        }
        return isSkipping ? .tooLong : .complete(pending)
    }
}
