// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// How long a client may take, how little it may do, and how much it may take up: every such number in one place.
///
/// Times are looked at every `tick`, so each can last that much longer.
struct ConnectionLimits: Sendable {
    var tick = TimeAmount.seconds(5)
    /// From the connection to its first byte; TLS has to be agreed on in it. Some programs connect ahead of their need.
    var firstByte = TimeAmount.seconds(25)
    /// From the first byte of a request to the end of its header.
    var header = TimeAmount.seconds(10)
    /// From one answer to the first byte of the next request; longer than proxies keep connections (60 seconds).
    var idle = TimeAmount.seconds(75)
    /// From one byte of a body to the next.
    var bodyIdle = TimeAmount.seconds(15)
    /// A body has to bring `bodyRate` bytes a second within every span of this length, however much it brought before.
    var bodyWindow = TimeAmount.seconds(20)
    var bodyRate = 4096
    /// A reader has to take `writeRate` bytes a second, on average over this time, while it has anything to take.
    var write = TimeAmount.seconds(10)
    var writeRate = 512
    /// The same while answers wait for the memory that slow readers hold.
    var scarceWriteRate = 16_384
    /// What a client may still take once the server is to end.
    var stopping = TimeAmount.seconds(2)

    /// One header field with its name, all of them with the request line, and their number. Over it: 431.
    var headerField = 16 << 10
    var headerList = 32 << 10
    var headerCount = 100

    /// Bytes that all requests together may hold: of bodies that are read, of documents that are made from them, and of
    /// answers that wait for their readers. One network has half of each at most. What is shorter than `MemoryShare.free`
    /// is not counted. The rows of whole circles, from which previews and exports are made, are counted apart, and so are the texts of large circles.
    var bodyMemory = 16 << 20
    var documentMemory = 24 << 20
    var circleMemory = 24 << 20
    var answerMemory = 16 << 20
    var feedMemory = 16 << 20
    var textMemory = 48 << 20

    /// Connections at a time, of all and of one network (/24, /48); trusted proxies bring others' and are not counted so.
    var connections = 10_000
    var connectionsPerNetwork = 1_000
}
