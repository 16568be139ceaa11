// SPDX-License-Identifier: Apache-2.0

extension SeriesPlan {
    /// Adds the candidates' occurrences to a window, as `occurrence(_:)` and `Window.add(_:)` do one by one.
    mutating func place(_ candidates: [Candidate], in window: inout Window) {
        window.reserve(candidates.count)
        guard segments.isEmpty, let step = length.step(from: start) else {
            for candidate in candidates { window.add(occurrence(candidate)) }
            return
        }
        // There is one loop for each form of time: checking the form for each occurrence costs as much as making the
        // occurrence.
        switch start {
        case .date:
            place(candidates, step, in: &window) { .date(CivilDate(daysSinceEpoch: floorDivide($0, by: 86_400))) }
        case .floating: place(candidates, step, in: &window) { .floating(CivilDateTime(wallSeconds: $0)) }
        case .utc: place(candidates, step, in: &window) { .utc(Instant(seconds: $0)) }
        case .zoned(_, let zone):
            place(candidates, step, in: &window) { .zoned(CivilDateTime(wallSeconds: $0), zone) }
        }
    }

    /// - Parameter time: makes a time in the form of the start from wall-clock seconds since 1970.
    @inline(__always)
    private mutating func place(
        _ candidates: [Candidate], _ step: OccurrenceLength.Step, in window: inout Window, _ time: (Int) -> EventTime
    ) {
        let isRepeated = !master.recurrence.isEmpty
        let (from, to) = (window.from.seconds, window.to.seconds)
        for candidate in candidates {
            guard candidate.period == nil else {
                window.add(occurrence(candidate))
                continue
            }
            // Everything follows from the wall time, and while the offset stays the same the zone is not asked.
            let wall = candidate.wall
            let begin = clock.instant(ofWall: wall)
            guard begin < to else { continue }
            let end =
                switch step {
                case .wall(let seconds): wall + seconds
                case .exact(let seconds): clock.wall(at: begin + seconds)
                }
            guard begin >= from || time(end).instant(floatingIn: zone).seconds > from else { continue }
            window.note(startAt: begin)
            window.occurrences.append(
                Occurrence(
                    event: master, start: time(wall), end: time(end), recurrenceID: isRepeated ? time(wall) : nil))
        }
    }
}
