// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Storage

/// The file of a journal: a header, then places for records, which are used one after another and then reused, all of
/// them written in advance.
///
/// Every access overwrites bytes that are on the disk already, so a full disk cannot refuse it.
struct JournalFile: Sendable {
    /// The header has a block of its own.
    static let headSize = 4096
    private static let magic: UInt64 = 0x314C_4E4A_4C41_4B00
    private static let chunk = 1 << 20
    /// Comes after the four words that identify a journal; it is zero for `power`.
    private static let durabilityOffset = 32
    /// Where several servers share a database, the last two tokens of the server that has the journal, newest last.
    private static let tokensOffset = 40

    let disk: any JournalDisk
    let salt: UInt64
    /// How many records fit in the file.
    let capacity: Int

    /// Opens the existing journal; nil when the file belongs to another database or is not a journal.
    ///
    /// - Parameter salt: the number by which the database recognizes the journal.
    init?(existing disk: any JournalDisk, salt: UInt64) throws(JournalFailure) {
        let head = try Self.words(disk.read(at: 0, count: 32))
        guard head.count == 4, head[0] == Self.magic, head[1] == salt, head[3] == head[2] ^ salt,
            (1...1 << 32).contains(head[2])
        else { return nil }
        self.init(disk: disk, salt: salt, capacity: Int(head[2]))
        // If the file was cut short, places would be missing.
        guard try disk.size() >= Self.headSize + capacity * AccessRecord.size else { return nil }
    }

    /// Creates a journal with every place written; it is on the disk when this returns.
    init(new disk: any JournalDisk, salt: UInt64, bytes: Int) throws(JournalFailure) {
        self.init(disk: disk, salt: salt, capacity: Self.capacity(of: bytes))
        let size = Self.headSize + capacity * AccessRecord.size
        try disk.reserve(size)
        // Written block by block: Linux keeps what is written at once in one piece of its cache, and treats a changed
        // record as a change of that whole piece when it accounts for and limits what has to be written.
        let zeros = [UInt64](repeating: 0, count: Self.headSize / 8)
        for offset in stride(from: 0, to: size, by: Self.headSize) {
            try disk.write(zeros[..<(min(Self.headSize, size - offset) / 8)], at: offset)
        }
        let count = UInt64(capacity)
        try disk.write([Self.magic, salt, count, count ^ salt].map(\.littleEndian)[...], at: 0)
        try disk.sync()
    }

    /// How many records fit in a file of `bytes` bytes.
    static func capacity(of bytes: Int) -> Int { max(1, (bytes - headSize) / AccessRecord.size) }

    private init(disk: any JournalDisk, salt: UInt64, capacity: Int) {
        self.disk = disk
        self.salt = salt
        self.capacity = capacity
    }

    private func offset(_ sequence: Int) -> Int { Self.headSize + (sequence % capacity) * AccessRecord.size }

    /// Writes records to consecutive places; they are on the disk only after a `sync`.
    func write(_ words: ArraySlice<UInt64>, from sequence: Int) throws(JournalFailure) {
        let untilEnd = (capacity - sequence % capacity) * 4
        try disk.write(words.prefix(untilEnd), at: offset(sequence))
        if words.count > untilEnd { try disk.write(words.dropFirst(untilEnd), at: Self.headSize) }
    }

    /// The accesses that were written after a place, up to the first that is missing or torn.
    ///
    /// - Parameter limit: the most accesses to return.
    func accesses(after sequence: Int, limit: Int) throws(JournalFailure) -> [SequencedAccess] {
        var found: [SequencedAccess] = []
        var next = sequence + 1
        while found.count < limit {
            let count = min(limit - found.count, Self.chunk / AccessRecord.size, capacity - next % capacity)
            let bytes = try disk.read(at: offset(next), count: count * AccessRecord.size)
            let words = unsafe bytes.span.bytes
            for start in stride(from: 0, through: words.byteCount - AccessRecord.size, by: AccessRecord.size) {
                let record = (
                    Self.word(words, at: start), Self.word(words, at: start + 8), Self.word(words, at: start + 16),
                    Self.word(words, at: start + 24)
                )
                guard let one = AccessRecord.access(record, salt: salt), one.sequence == next else { return found }
                found.append(one)
                next += 1
            }
            if bytes.count < count * AccessRecord.size { break }
        }
        return found
    }

    /// Empties places that a power cut left half written, so that none is mistaken for a later access in the same
    /// place.
    func clear(after sequence: Int, count: Int) throws(JournalFailure) {
        let count = min(count, capacity)
        try write([UInt64](repeating: 0, count: count * 4)[...], from: sequence + 1)
        try disk.sync()
    }

    /// How the journal was last written, which says how much of it a power cut may have left half written.
    func durability() throws(JournalFailure) -> AccessDurability {
        try Self.words(disk.read(at: Self.durabilityOffset, count: 8)).first == 0 ? .power : .process
    }

    /// Notes how the journal is written from now on; on the disk when this returns.
    func note(_ durability: AccessDurability) throws(JournalFailure) {
        guard try self.durability() != durability else { return }
        try disk.write([durability == .power ? 0 : UInt64(1).littleEndian], at: Self.durabilityOffset)
        try disk.sync()
    }

    /// The number that identifies the journal in a file; nil when the file is not a journal.
    static func journalID(of disk: any JournalDisk) throws(JournalFailure) -> UInt64? {
        let head = try words(disk.read(at: 0, count: 32))
        return head.count == 4 && head[0] == magic && head[3] == head[2] ^ head[1] ? head[1] : nil
    }

    /// The noted tokens: the last two, one of which the database knows.
    func tokens() throws(JournalFailure) -> [UInt64] {
        try Self.words(disk.read(at: Self.tokensOffset, count: 16))
    }

    /// Notes that a token replaces another, before the database does; on the disk when this returns.
    func note(token: UInt64, after former: UInt64) throws(JournalFailure) {
        try disk.write([former.littleEndian, token.littleEndian], at: Self.tokensOffset)
        try disk.sync()
    }

    private static func words(_ bytes: [UInt8]) -> [UInt64] {
        stride(from: 0, through: bytes.count - 8, by: 8).map { unsafe word(bytes.span.bytes, at: $0) }
    }

    private static func word(_ bytes: RawSpan, at start: Int) -> UInt64 {
        UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
    }
}
