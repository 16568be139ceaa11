// SPDX-License-Identifier: Apache-2.0

/// A value read from a file whose texts are cut where too many combining marks follow each other.
protocol MarkBounded {
    /// Cuts each run of marks to `CombiningMarks.longestRun`; returns whether any run was longer.
    mutating func boundMarks() -> Bool
}

extension String: MarkBounded {
    mutating func boundMarks() -> Bool {
        guard hasLongRunOfMarks else { return false }
        self = withBoundedMarks
        return true
    }
}

extension Optional: MarkBounded where Wrapped: MarkBounded {
    mutating func boundMarks() -> Bool { self?.boundMarks() ?? false }
}

extension Array: MarkBounded where Element: MarkBounded {
    mutating func boundMarks() -> Bool {
        var found = false
        for index in indices where self[index].boundMarks() { found = true }
        return found
    }
}

extension ContentLine.Parameter: MarkBounded {
    // The name of a parameter is ASCII, like that of a line.
    mutating func boundMarks() -> Bool { values.boundMarks() }
}

extension ContentLine: MarkBounded {
    mutating func boundMarks() -> Bool {
        let found = value.boundMarks()
        return parameters.boundMarks() || found
    }
}

extension Alarm: MarkBounded {
    mutating func boundMarks() -> Bool {
        let found = [action.boundMarks(), description.boundMarks(), otherProperties.boundMarks()]
        return found.contains { $0 }
    }
}

extension Event: MarkBounded {
    mutating func boundMarks() -> Bool {
        // Two UIDs may differ only in what would be cut: such a UID counts as missing, and one is made from the
        // content.
        let isUIDUsable = !uid.hasLongRunOfMarks
        if !isUIDUsable { uid = "" }
        var found = [
            !isUIDUsable, summary.boundMarks(), description.boundMarks(), location.boundMarks(),
            status.boundMarks(), classification.boundMarks(), categories.boundMarks(), url.boundMarks(),
            alarms.boundMarks(), otherProperties.boundMarks(),
        ]
        for name in textParameters.map({ Array($0.keys) }) ?? [] {
            found.append(textParameters?[name]?.boundMarks() ?? false)
        }
        return found.contains { $0 }
    }
}

extension ICalendar {
    /// Cuts the marks in the calendar's own properties; its events are not changed.
    mutating func boundOwnMarks() -> Bool {
        let found = [
            productID.boundMarks(), method.boundMarks(), name.boundMarks(), description.boundMarks(),
            otherProperties.boundMarks(),
        ]
        return found.contains { $0 }
    }
}

extension ProblemLog {
    /// Reports that a text was cut.
    mutating func addCutMarks(line: Int) {
        add(
            .warning, "combining-marks", line: line,
            Sentence(
                .combiningMarks,
                "More than \(CombiningMarks.longestRun, .count) combining marks follow each other; the others were left out."
            ))
    }
}
