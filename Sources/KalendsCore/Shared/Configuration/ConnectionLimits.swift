// SPDX-License-Identifier: Apache-2.0

/// How long a client may take, how slow it may be, and how much it may use: all such limits in one place.
///
/// Times are checked every `tick`, so each can last that much longer.
package struct ConnectionLimits: Sendable {
    package var tick = Duration.seconds(5)
    /// From the connection to its first byte, including the TLS handshake. Some programs connect before they need to.
    package var firstByte = Duration.seconds(25)
    /// From the first byte of a request to the end of its header.
    package var header = Duration.seconds(10)
    /// From one answer to the first byte of the next request; longer than proxies keep connections (60 seconds).
    package var idle = Duration.seconds(75)
    /// From one byte of a body to the next.
    package var bodyIdle = Duration.seconds(15)
    /// A body must arrive at `bodyRate` bytes a second in every span of this length, however fast it was before.
    package var bodyWindow = Duration.seconds(20)
    package var bodyRate = 4096
    /// A reader must take `writeRate` bytes a second, on average over this time, while there is anything to take.
    package var write = Duration.seconds(10)
    package var writeRate = 512
    /// Replaces `writeRate` while answers wait for memory that slow readers hold.
    package var scarceWriteRate = 16_384
    /// How long a client may still take once the server is stopping.
    package var stopping = Duration.seconds(2)

    /// The maximum size in bytes of one header field with its name, the maximum for all fields together with the
    /// request line, and the maximum number of fields; a request beyond one of them gets 431.
    package var headerField = 16 << 10
    package var headerList = 32 << 10
    package var headerCount = 100

    /// Bytes that all requests together may hold: documents made from bodies, those made from large bodies, and answers
    /// waiting for their readers. One network may use at most half of each, except for large bodies. Anything shorter
    /// than `MemoryShare.free` is not counted. The rows of whole circles, from which previews and exports are made, are
    /// counted separately, and so are the texts of large circles.
    package var documentMemory = 24 << 20
    package var largeMemory = 24 << 20
    package var circleMemory = 24 << 20
    package var answerMemory = 16 << 20
    package var feedMemory = 16 << 20
    package var textMemory = 32 << 20
    package var editMemory = 16 << 20
    package var importMemory = 2 * MemoryBudgets.mostOfImport
    /// Large feeds in spools, outside of the process's memory, which readers take at their pace.
    package var spooledFeeds = 256 << 20
    /// The answers of calendar servers, and what runs and lookups keep from them.
    package var providerMemory = 128 << 20

    /// What calendar apps ask with reports and lists of collections: how many are made or wait for their readers, and
    /// how many of one person; what they keep of their bodies; how long one waits for a place; and the processor time and
    /// the bytes of one answer, which ends early with more.
    package var reports = 96
    package var reportsOfAPerson = 8
    package var reportMemory = 96 << 20
    package var reportPatience = Duration.seconds(10)
    package var reportTime = Duration.seconds(30)
    package var reportBytes = 512 << 20

    /// Simultaneous connections in total and from one network (/24, /48); the second limit does not apply to trusted
    /// proxies, which carry the connections of others.
    package var connections = 10_000
    package var connectionsPerNetwork = 1_000

    package init() {}
}
