// SPDX-License-Identifier: Apache-2.0

/// The events that may be counted. No case carries a value, so that no calendar data can get into a count.
public enum UsageEvent: String, Hashable, Sendable, CaseIterable {
    case connectorOpened, connectTapped, permissionGranted, permissionDenied, disconnectTapped
    case officeDaysEnabled, officeDaysDisabled, eventWritten, eventFailed
}

/// Counts what people do with the app, without names, times or any calendar data.
public actor UsageCounts {
    private var counts: [UsageEvent: Int]
    private let file: PrivateFile<[ByteString: Int]>?

    /// - Parameter file: the file in which counts are stored; without one they are lost when the program ends.
    public init(_ file: PrivateFile<[ByteString: Int]>? = nil) {
        self.file = file
        // If the counts cannot be read, counting starts again, since nothing depends on them.
        let kept = (try? file?.read()) ?? [:]
        counts = Dictionary(
            uniqueKeysWithValues: UsageEvent.allCases.compactMap { event in kept[event.rawValue].map { (event, $0) } })
    }

    public func count(_ event: UsageEvent, times: Int = 1) {
        guard times > 0 else { return }
        counts[event, default: 0] += times
        try? file?.write(snapshot)
    }

    /// All counts by name; an event that never happened has 0.
    public var snapshot: [ByteString: Int] {
        Dictionary(uniqueKeysWithValues: UsageEvent.allCases.map { ($0.rawValue, counts[$0] ?? 0) })
    }
}
