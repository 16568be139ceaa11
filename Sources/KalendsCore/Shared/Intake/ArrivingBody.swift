// SPDX-License-Identifier: Apache-2.0

/// The body of a request while it arrives, which takes as long as its sender likes: it takes none of the memory that
/// others wait for, since a long body goes into a spool.
package struct ArrivingBody {
    private let pool: FairPool
    private let sender: Sender
    private var first: [UInt8] = []
    private var rest: (spool: Spool, holding: FairPool.Holding)?
    /// The bytes that have room in the pool.
    private var reserved = 0

    /// Throws 503 if there is no room for a body of the stated length, so that whoever has begun can finish.
    ///
    /// - Parameters:
    ///   - sender: the sender that the bytes are counted for.
    ///   - length: nil if the request does not say how long its body is.
    package init(_ intake: Intake, from sender: Sender, length: Int? = nil) throws {
        (pool, self.sender) = (intake.bodies, sender)
        if let length, length > MemoryShare.free { try reserve(length) }
    }

    /// The bytes that have arrived.
    package var count: Int { rest?.spool.count ?? first.count }

    /// Takes the next bytes; throws 503 if there is no room, and 429 if a person sends too many long bodies at a time.
    package mutating func append(_ bytes: some Collection<UInt8>) throws {
        let total = count + bytes.count
        if rest == nil, total <= MemoryShare.free {
            first += bytes
            return
        }
        try reserve(total)
        if let rest {
            try rest.spool.append(first)
            first = []
            try rest.spool.append(bytes)
        }
    }

    /// Returns all bytes that have arrived, and is empty after that, for what follows.
    ///
    /// Memory for them is held before.
    package mutating func take() throws -> [UInt8] {
        guard let (spool, holding) = rest, spool.count > 0 else {
            defer { first = [] }
            return first
        }
        let bytes = try spool.read(0..<spool.count)
        holding.shrink(by: reserved)
        (rest, reserved) = ((try Spool(), holding), 0)
        return bytes
    }

    private mutating func reserve(_ count: Int) throws {
        let own = try rest ?? (try Spool(), try pool.enter(sender))
        if count > reserved {
            try own.1.grow(by: count - reserved)
            reserved = count
        }
        rest = own
    }
}
