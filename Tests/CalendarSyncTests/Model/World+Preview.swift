// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge

@testable import CalendarSync

extension World {
    /// A write, as a preview and a journal both name it.
    private struct Named: Hashable {
        var item: ItemKey
        var change: PreviewItem.Change
        var direction: Link.Direction
    }

    /// A preview shows exactly what the run then does, item by item, when nothing happens in between.
    func comparePreview() async throws {
        calendar.faults = []
        calendar.visible = nil
        store.person = nil
        let writes = calendar.writes
        let commits = store.commits
        let before = calendar.events.mapValues(\.entry)
        // What an earlier run sent, and of which nobody has heard, is found out first, and is not announced again.
        let open = Set(store.operations.values.filter { $0.state == .open }.map(\.item))
        // An event from a lost database may lie outside of the window: only the provider's refusal of a second one shows
        // it.
        let isHiddenEvent = calendar.live.contains { event in
            isMine(event) && !event.entry.overlaps(window) && event.mark.map { store.links[$0.item] == nil } ?? false
        }
        let preview = try await sync().preview()
        guard calendar.writes == writes, store.commits == commits else {
            throw Violation(description: "a preview wrote something")
        }
        guard let record = try await run() else { return }
        guard (record.state == .held) == (preview.hold != nil) else {
            throw Violation(description: "a preview and its run are held for different reasons")
        }
        guard record.state == .done, preview.hold == nil, record.error == nil, !isHiddenEvent else { return }
        guard record.counts == preview.counts else {
            throw Violation(description: "previewed \(preview.counts), done \(record.counts)")
        }
        // A text may be there already, in the server's own form: its write leaves all as it was, and no line of the journal.
        let same = calendar.live.compactMap { isMine($0) && before[$0.id] == $0.entry ? $0.mark?.item : nil }
        try compare(
            preview.items.filter { $0.change != .update || $0.direction != .out || !same.contains($0.item) }, open,
            named: Set(preview.items.map(\.item)),
            with: store.journal.filter { $0.run == record.id && !open.contains($0.item) })
    }

    private func compare(
        _ items: [PreviewItem], _ open: Set<ItemKey>, named: Set<ItemKey>, with journal: [JournalEntry]
    ) throws {
        var done: Set<Named> = []
        for line in journal where line.reason != "made again" {
            let change: PreviewItem.Change
            switch line.change {
            // An event that is made again in the place of an earlier one is an update for the person.
            case .create:
                let isReplaced = items.contains { $0.item == line.item && $0.change == .update && $0.direction == .out }
                change = isReplaced ? .update : .create
            case .update: change = .update
            case .delete: change = .delete
            case .adopt, .missing: continue
            }
            done.insert(Named(item: line.item, change: change, direction: line.direction))
        }
        for item in items where item.change != .conflict && item.change != .ignore && !open.contains(item.item) {
            let named = Named(item: item.item, change: item.change, direction: item.direction)
            guard done.contains(named) else { throw Violation(description: "previewed and not done: \(named)") }
        }
        if let surprise = done.first(where: { !named.contains($0.item) }) {
            throw Violation(description: "done and not previewed: \(surprise)")
        }
    }
}
