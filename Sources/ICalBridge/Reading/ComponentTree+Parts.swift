// SPDX-License-Identifier: Apache-2.0

/// Copies of lines that are needed for longer than the part of the text that contains them.
struct LineArchive {
    private(set) var bytes: [UInt8] = []

    mutating func keep(_ lines: inout [LogicalLine], of text: [UInt8]) {
        for index in lines.indices {
            let start = UInt32(bytes.count)
            bytes += text[lines[index].range]
            lines[index].start = start
            lines[index].end = UInt32(bytes.count)
            bytes.append(10)
        }
    }

    /// Copies a component's lines; its own lines come after those of its subcomponents.
    mutating func keep(_ component: inout RawComponent, of text: [UInt8]) {
        for index in component.children.indices { keep(&component.children[index], of: text) }
        keep(&component.lines, of: text)
    }
}

extension ComponentTree {
    /// Removes and returns the components that the last part completed, by the index of their calendar.
    mutating func takeComponents() -> [(calendar: Int, components: [RawComponent])] {
        var taken: [(Int, [RawComponent])] = []
        for index in firstOpen..<max(firstOpen, calendars.count) where !calendars[index].components.isEmpty {
            taken.append((index, calendars[index].components))
            calendars[index].components = []
        }
        firstOpen = max(0, calendars.count - 1)
        return taken
    }

    /// The lines of components that are still open, moved to the front of the next part's text.
    ///
    /// The lines of the innermost component come last, because the next line may belong to their text.
    mutating func carried() -> [UInt8] {
        var archive = LineArchive()
        // Empty lines after a text belong to it if it continues after them.
        var gap: ArraySlice<UInt8> = []
        if previousIsText, let line = stack.isEmpty ? calendars.last?.lines.last : stack.last?.lines.last {
            gap = text.bytes[(Int(line.end) + 1)...]
            if gap.count > 2 * limits.lineBytes { gap = [] }
        }
        if let last = calendars.indices.last {
            // Only the first properties of a calendar are read, and the last one may continue.
            let surplus = calendars[last].lines.count - limits.properties - 1
            if surplus > 0 {
                calendars[last].lines.removeSubrange(limits.properties..<limits.properties + surplus)
            }
            archive.keep(&calendars[last].lines, of: text.bytes)
        }
        var isKept = false
        for index in stack.indices {
            isKept = isKept || Self.isPlaced(stack[index].name) || stack[index].name == "VTIMEZONE"
            // The lines of an unknown component are not kept in the end.
            if !isKept { stack[index].lines = stack[index].lines.suffix(1) }
            archive.keep(&stack[index], of: text.bytes)
        }
        return archive.bytes + gap
    }

    /// Archives the zones and properties of the calendars that the last part completed, or of all calendars at the end.
    mutating func archive(into archive: inout LineArchive, isAtEnd: Bool) {
        let end = isAtEnd ? calendars.count : max(0, calendars.count - 1)
        for index in firstUnarchived..<max(firstUnarchived, end) {
            archive.keep(&calendars[index].lines, of: text.bytes)
        }
        for index in firstUnarchived..<max(firstUnarchived, calendars.count) {
            for zone in archivedZones..<calendars[index].zones.count {
                archive.keep(&calendars[index].zones[zone], of: text.bytes)
            }
            archivedZones = index < end ? 0 : calendars[index].zones.count
        }
        firstUnarchived = end
    }

    /// Drops the zones and properties of calendars, for a pass that does not need them.
    mutating func dropZones() {
        for index in firstUnarchived..<max(firstUnarchived, calendars.count) {
            // The zones themselves stay, because their number counts against the limit.
            for zone in calendars[index].zones.indices {
                calendars[index].zones[zone].lines = []
                calendars[index].zones[zone].children = []
            }
        }
        firstUnarchived = max(0, calendars.count - 1)
    }
}
