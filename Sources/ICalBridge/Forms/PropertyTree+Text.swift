// SPDX-License-Identifier: Apache-2.0

extension PropertyTree {
    /// The components at the top of an iCalendar text that is whole: what the strict writer makes.
    ///
    /// What is not closed is left out; a stranger's file belongs before the calendar reader, not here.
    static func trees(inText bytes: [UInt8]) -> [PropertyTree] {
        var trees: [PropertyTree] = []
        walk(inText: bytes) { step in
            switch step {
            case .begin(let calendar): trees.append(calendar)
            case .component(let component): trees[trees.count - 1].components.append(component)
            case .end: break
            }
        }
        return trees
    }

    /// What a text is made of, in its order.
    enum Step {
        /// A component at the top begins: its name and its properties, which come before its components.
        case begin(PropertyTree)
        /// One of its components, with all that is in it.
        case component(PropertyTree)
        case end(name: String)
    }

    /// Goes over an iCalendar text that is whole, as `trees(inText:)`, with one component in memory at a time.
    static func walk(inText bytes: [UInt8], _ visit: (Step) -> Void) {
        var log = ProblemLog(limit: 0)
        let text = SourceText(bytes, log: &log)
        var open: [PropertyTree] = []
        var hasBegun = false
        // Before the first component, or the end, all properties of the calendar are there.
        func begin() {
            guard !hasBegun else { return }
            hasBegun = true
            visit(.begin(open[0]))
        }
        for line in text.lines {
            guard let property = Property(text.bytes, line) else { continue }
            switch property.name {
            case "BEGIN":
                if !open.isEmpty { begin() }
                open.append(PropertyTree(name: property.trimmed.uppercased()))
            case "END":
                if open.count == 1 { begin() }
                guard let component = open.popLast() else { continue }
                if open.isEmpty {
                    hasBegun = false
                    visit(.end(name: component.name))
                } else if open.count == 1 {
                    visit(.component(component))
                } else if open.count < depthLimit {
                    open[open.count - 1].components.append(component)
                }
            default:
                if !open.isEmpty { open[open.count - 1].properties.append(TypedProperty(property.contentLine)) }
            }
        }
    }

    /// The component as iCalendar lines.
    func write(to writer: inout ContentLineWriter) {
        writer.line("BEGIN", name)
        for property in properties where !property.values.isEmpty { writer.line(property.contentLine) }
        for component in components { component.write(to: &writer) }
        writer.line("END", name)
    }

    /// Calendars as one iCalendar text in UTF-8.
    static func text(of trees: [PropertyTree]) -> [UInt8] {
        var writer = ContentLineWriter(keepsHiddenCharacters: true)
        for tree in trees { tree.write(to: &writer) }
        return writer.bytes
    }
}
