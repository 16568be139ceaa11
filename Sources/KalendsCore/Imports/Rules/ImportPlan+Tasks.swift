// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import Storage

extension ImportPlan {
    /// Counts a task that is made, changed or deleted; returns false if that is for a later import.
    mutating func takesTask(_ content: String) -> Bool {
        guard tasks.count < ImportedTask.most, tasks.bytes + content.utf8.count <= ImportedTask.mostBytes else {
            return false
        }
        tasks.count += 1
        tasks.bytes += content.utf8.count
        return true
    }

    /// Returns where an event is stored; a to-do that becomes a task is stored beside the task.
    ///
    /// - Parameter isTask: whether it is a task already, which stays one wherever it is in the file.
    mutating func home(
        of draft: ImportDraft, _ item: inout Item, isTask: Bool, in zone: TimeZoneReference
    ) -> ImportOwner.Home {
        var home = owner.home(of: draft.event.uid)
        guard owner.todos == .tasks, draft.event.kind == .toDo else { return home }
        let mayMove = home.source == .shared && home.former == nil
        if home.visibleTo != nil, home.former != nil || owner.isStillShared(draft.event.uid) {
            // Its being private now explains why it is not a task.
            if home.former == .tasks { item.reason = Sentence(.privateNow, "It is private now.") }
            return home
        } else if !mayMove || index.components(of: draft.event.uid) > 1
            || TaskContent(of: draft.event, in: zone) == nil
        {
            item.reason = Sentence(
                .keptAsToDo, "It was kept as a to-do: a task has a title, is not private, and does not repeat.")
        } else if !isTask, !takesTask(draft.content) {
            item.reason = Sentence(
                .tooManyTasks,
                "It was kept as a to-do: an import makes at most \(ImportedTask.most, .count) tasks, of \(ImportedTask.mostBytes, .size) bytes in all."
            )
        } else {
            item.isTask = true
            return ImportOwner.Home(source: .tasks, former: .shared)
        }
        // It may have been a task until now.
        if mayMove { home.former = .tasks }
        return home
    }
}
