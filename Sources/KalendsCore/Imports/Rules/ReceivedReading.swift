// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// What a reading process has reported so far; the events go to a spool as they arrive.
struct ReceivedReading: Sendable {
    private let limit: Int
    private var frames = WorkerFrames()
    private var count = 0
    private let spool: Spool
    private var ranges: [Range<Int>] = []
    /// Makes the index of the events; nil if nobody needs one.
    private let indexing: ImportIndexing?
    private var summary: ImportSummary?
    private var refusal: Refusal?
    private var check: [UInt8]?
    /// Whether every frame so far had a valid form; the index shows whether the blocks in them do.
    private(set) var isSound = true

    /// - Parameters:
    ///   - limit: the most bytes that may be received.
    ///   - zone: the zone of times that name none, for an index of the events; nil if nobody needs one.
    ///   - expected: about how many events there will be.
    init(limit: Int, indexFor zone: TimeZoneReference?, expecting expected: Int) throws {
        let spool = try Spool()
        (self.limit, self.spool) = (limit, spool)
        indexing = zone.map { ImportIndexing(floatingIn: $0, expecting: expected, of: spool) }
    }

    mutating func receive(_ bytes: [UInt8], _ progress: (Double) -> Void) throws {
        count += bytes.count
        guard count <= limit else {
            isSound = false
            return
        }
        frames.append(bytes)
        do {
            while let frame = try frames.next() {
                switch frame {
                case .progress(let part): progress(part)
                case .block(let block):
                    let range = try spool.append(block)
                    ranges.append(range)
                    indexing?.add(range)
                case .summary(let given): summary = given
                case .check(let json): check = json
                case .refused(let detail, let faults):
                    refusal = Refusal(
                        .invalid, code: .fileUnreadable, detail: detail, faults: faults)
                }
            }
        } catch is PackError {
            isSound = false
        }
    }

    /// Returns the result of a check; nil if the process did not report it.
    func checked() throws -> FileCheck.Result? {
        isSound ? try check.flatMap { FileCheck.Passed(json: try JSONValue(parsing: $0))?.found } : nil
    }

    /// Returns what was read; nil if the process did not report everything, or if a block is damaged. Throws the refusal
    /// that the process reported.
    func reading() async throws -> ImportReading? {
        if let refusal, isSound { throw refusal }
        guard isSound, let summary, summary.blocks == ranges.count else { return nil }
        do {
            return ImportReading(
                summary: summary, events: .spooled(spool, ranges), known: try await indexing?.finished())
        } catch is PackError {
            return nil
        }
    }
}
