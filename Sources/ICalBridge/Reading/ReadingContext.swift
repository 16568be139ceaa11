// SPDX-License-Identifier: Apache-2.0

/// What one thread needs, besides a component, to read it; reused for one component after the other.
struct ReadingContext {
    var zones: MetZones
    var log: ProblemLog
    let options: CalendarReader.Options
    /// Reused for every component, so that its memory is allocated only once.
    var slice = SliceText()
    var temporaryBuffers = TemporaryBuffers()
    var rules = RuleCache()
    /// The traits of the text that contains the component; where it has none of them, a component is not looked at.
    var textTraits = SourceTraits()

    init(_ table: ZoneTable, options: CalendarReader.Options) {
        zones = MetZones(table)
        log = ProblemLog(limit: options.limits.problemsOfAKind)
        self.options = options
    }

    /// The values of the slice; nil when libical cannot decode it.
    mutating func decodedSlice() -> DecodedSlice? {
        if options.decoder == .swift { return DecodedSlice(inSwift: slice.bytes) }
        slice.terminate()
        defer { temporaryBuffers.empty(after: slice.bytes) }
        return DecodedSlice(slice.bytes)
    }

    /// The zone that a line names, or that times without a name have.
    ///
    /// Returns nil at its first use, because the careful way reports what is odd about a name.
    ///
    /// - Parameter name: where the name is in the bytes; nil if it has no name.
    func zone(_ name: Range<Int>?, in bytes: Span<UInt8>) -> ZoneResolver.Zone? {
        guard let name else { return zones.knownFloating }
        return zones.known(bytes.extracting(name))
    }
}

/// Some neighbouring components, as read by one thread.
struct ComponentBatch: Sendable {
    var events: [Event] = []
    var lines: [ClosedRange<Int>] = []
    var skipped = 0
    var log: ProblemLog

    /// Reads components in order; only those that cannot be read are left out.
    init(_ components: ArraySlice<RawComponent>, bytes: [UInt8], _ context: inout ReadingContext) {
        log = ProblemLog(limit: 0)
        events.reserveCapacity(components.count)
        lines.reserveCapacity(components.count)
        for component in components {
            let before = context.log.position
            var reader = ComponentReader(component, bytes: bytes)
            guard var event = reader.read(&context) else {
                skipped += 1
                if let uid = reader.uid { context.log.setUID(uid, from: before) }
                continue
            }
            if event.uid.isEmpty {
                event.uid = reader.contentUID()
                // Whether another event has the same content is known only when all have been read.
                context.log.mark(
                    .madeUID(
                        event: events.count, line: component.span.lowerBound, isReported: event.kind != .freeBusy,
                        since: before))
            } else {
                context.log.setUID(event.uid, from: before)
            }
            events.append(event)
            lines.append(component.span)
        }
        log = context.log.taken()
    }
}
