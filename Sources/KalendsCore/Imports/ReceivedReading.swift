// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// What a reading process has reported so far; the events go to a spool as they arrive.
struct ReceivedReading: Sendable {
    private let limit: Int
    private var frames = WorkerFrames()
    private var count = 0
    private let spool: Spool
    private var places: [Range<Int>] = []
    /// The index of the events so far; nil if nobody needs one.
    private var index: ImportIndex?
    private var summary: ImportSummary?
    private var refusal: Refusal?
    private var check: [UInt8]?
    /// Whether everything so far had a valid form.
    private(set) var isSound = true

    init(limit: Int, _ index: ImportIndex?) throws {
        (self.limit, self.index) = (limit, index)
        spool = try Spool()
    }

    mutating func hear(_ bytes: [UInt8], _ progress: (Double) -> Void) throws {
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
                    // The other process makes the next blocks in the meantime.
                    try index?.add(block)
                    places.append(try spool.append(block))
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

    /// Returns the result of a check as JSON; nil if the process did not report it.
    func checked() throws -> JSONValue? { isSound ? try check.map { try JSONValue(parsing: $0) } : nil }

    /// Returns what was read; nil if the process did not report everything. Throws the refusal that the process
    /// reported.
    func reading() throws -> ImportReading? {
        if let refusal, isSound { throw refusal }
        guard isSound, let summary, summary.blocks == places.count else { return nil }
        return ImportReading(summary: summary, events: .spooled(spool, places), known: index)
    }
}
