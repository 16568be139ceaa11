// SPDX-License-Identifier: Apache-2.0

/// How long a client may take, how little it may do, and how much it may use: every such number in one place.
///
/// Times are looked at every `tick`, so each can last that much longer.
package struct ConnectionLimits: Sendable {
    package var tick = Duration.seconds(5)
    /// From the connection to its first byte; TLS has to be agreed on in it. Some programs connect ahead of their need.
    package var firstByte = Duration.seconds(25)
    /// From the first byte of a request to the end of its header.
    package var header = Duration.seconds(10)
    /// From one answer to the first byte of the next request; longer than proxies keep connections (60 seconds).
    package var idle = Duration.seconds(75)
    /// From one byte of a body to the next.
    package var bodyIdle = Duration.seconds(15)
    /// A body has to bring `bodyRate` bytes a second within every span of this length, however much it brought before.
    package var bodyWindow = Duration.seconds(20)
    package var bodyRate = 4096
    /// A reader has to take `writeRate` bytes a second, on average over this time, while it has anything to take.
    package var write = Duration.seconds(10)
    package var writeRate = 512
    /// Takes the place of `writeRate` while answers wait for the memory that slow readers hold.
    package var scarceWriteRate = 16_384
    /// How long a client may still take once the server is stopping.
    package var stopping = Duration.seconds(2)

    /// One header field with its name, all of them with the request line, and their number. Over it: 431.
    package var headerField = 16 << 10
    package var headerList = 32 << 10
    package var headerCount = 100

    /// Bytes that all requests together may hold: of bodies that are read, of documents that are made from them, and of
    /// answers that wait for their readers. One network has half of each at most. What is shorter than `MemoryShare.free`
    /// is not counted. The rows of whole circles, from which previews and exports are made, are counted apart, and so are the texts of large circles.
    package var bodyMemory = 16 << 20
    package var documentMemory = 24 << 20
    package var circleMemory = 24 << 20
    package var answerMemory = 16 << 20
    package var feedMemory = 16 << 20
    package var textMemory = 48 << 20

    /// Connections at a time, of all and of one network (/24, /48); trusted proxies bring others' and are not counted so.
    package var connections = 10_000
    package var connectionsPerNetwork = 1_000

    package init() {}
}
