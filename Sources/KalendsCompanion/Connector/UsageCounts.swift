// SPDX-License-Identifier: Apache-2.0

/// What may be counted. No case carries a value, so that nothing of a calendar can get into a count.
public enum UsageEvent: String, Hashable, Sendable, CaseIterable {
    case connectorOpened, connectTapped, permissionGranted, permissionDenied, disconnectTapped
    case officeDaysEnabled, officeDaysDisabled, eventWritten, eventFailed
}

/// Counts what people do with the app, without a name, a time or a word of what is in their calendars.
public actor UsageCounts {
    private var counts: [UsageEvent: Int]
    private let file: PrivateFile<[ByteString: Int]>?

    /// - Parameter file: where they are kept; without one they end with the program.
    public init(_ file: PrivateFile<[ByteString: Int]>? = nil) {
        self.file = file
        // Counts that cannot be read begin again: nobody has to wait for them.
        let kept = (try? file?.read()) ?? [:]
        counts = Dictionary(
            uniqueKeysWithValues: UsageEvent.allCases.compactMap { event in kept[event.rawValue].map { (event, $0) } })
    }

    public func count(_ event: UsageEvent, times: Int = 1) {
        guard times > 0 else { return }
        counts[event, default: 0] += times
        try? file?.write(snapshot)
    }

    /// All counts by their names; what never happened is 0.
    public var snapshot: [ByteString: Int] {
        Dictionary(uniqueKeysWithValues: UsageEvent.allCases.map { ($0.rawValue, counts[$0] ?? 0) })
    }
}
