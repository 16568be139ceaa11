// SPDX-License-Identifier: Apache-2.0

/// A stay in the office. Times are seconds since 1970; the end is the first second outside.
public struct Visit: Hashable, Sendable, Codable {
    /// The longest stay that is accepted as one visit, in seconds.
    public static let longest = 31 * 86_400

    public let id: String
    public let start: Int
    public let end: Int

    /// Makes a visit; nil when the end is not later than the start, or the visit is longer than `longest`.
    public init?(id: String, start: Int, end: Int) {
        guard start < end, end - start <= Self.longest else { return nil }
        self.id = id
        self.start = start
        self.end = end
    }
}

/// Visits ordered by their start, which can be totalled over a span of time.
public struct Visits: Hashable, Sendable {
    public private(set) var all: [Visit] = []

    public init() {}

    public init(_ visits: some Sequence<Visit>) { all = visits.sorted(by: Self.isBefore) }

    /// Adds a visit, or replaces the one with the same id; returns the replaced visit.
    @discardableResult
    public mutating func put(_ visit: Visit) -> Visit? {
        let old = remove(visit.id)
        all.insert(visit, at: all.partition { Self.isBefore($0, visit) })
        return old
    }

    @discardableResult
    public mutating func remove(_ id: String) -> Visit? {
        all.firstIndex { $0.id == id }.map { all.remove(at: $0) }
    }

    /// The seconds of a span that lie within visits; time where visits overlap counts once.
    public func seconds(from first: Int, to last: Int) -> Int {
        var total = 0
        var reached = first
        for visit in all[all.partition { $0.start <= first - Visit.longest }...] {
            guard visit.start < last else { break }
            let start = max(visit.start, reached)
            let end = min(visit.end, last)
            if start < end {
                total += end - start
                reached = end
            }
        }
        return total
    }

    private static func isBefore(_ a: Visit, _ b: Visit) -> Bool {
        a.start != b.start ? a.start < b.start : a.id.isTextBefore(b.id)
    }
}

extension Visits: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode([Visit].self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(all)
    }
}

extension Array {
    /// The number of leading elements for which `isBefore` is true, in an array where all such elements come first.
    fileprivate func partition(isBefore: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
