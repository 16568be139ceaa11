// SPDX-License-Identifier: Apache-2.0

extension ConnectionPage {
    /// The contents of the page once the connection is set up.
    func later(_ paper: RenderContext, isNew: Bool, _ fields: [Field]) -> [String: Node] {
        let (words, times) = (paper.words, paper.times)
        let path = connection.path(paper)
        let held = runs.first { if case .held = $0.state { true } else { false } }
        let isIdle = connection.state == .active && !connection.isRunning && held == nil
        return [
            "welcome": .text(isNew ? words["connected"] : nil),
            "facts": paper.facts([
                paper.fact("connectionAccount", named(connection.accountName)),
                paper.fact("connectionCalendar", named(connection.calendarName)),
                paper.fact("connectionLinked", plain(words("countEvents", count: linked))),
                paper.fact("connectionLast", timed(connection.lastSyncAt.map(times.moment))),
                paper.fact("connectionNext", timed(connection.nextSyncAt.map(times.moment))),
            ]),
            "progress": connection.isRunning
                ? [
                    "source": .text(paper.href(path + "/progress")), "label": .text(words["syncRunning"]),
                    "text": .nothing, "value": .nothing,
                ] : .nothing,
            "sync": isIdle && connection.provider != .apple
                ? paper.act("actSyncNow", path + "/sync", style: .primary) : .nothing,
            "look": isIdle && connection.provider != .apple
                ? paper.linkButton("actPreview", path + "?preview=1#preview") : .nothing,
            "pause": connection.state == .active ? paper.act("actPause", path + "/pause") : .nothing,
            "resume": connection.state == .paused
                ? paper.act("actResume", path + "/resume", style: .primary) : .nothing,
            "held": held.map { heldRun(paper, $0) } ?? .nothing,
            "preview": preview.map { previewed(paper, $0.counts, $0.changes) } ?? .nothing,
            "history": history.isEmpty ? .nothing : paper.runs(history, title: words["runsPicture"]),
            "runs": runs.isEmpty ? .nothing : runTable(paper),
            "noRuns": runs.isEmpty ? paper.emptyState("runsEmptyTitle", "runsEmptyText") : .nothing,
            "settings": paper.settingGroups("connection", path + "/settings", fields, draft),
        ]
    }

    private func heldRun(_ paper: RenderContext, _ run: Run) -> Node {
        let (words, began) = (paper.words, paper.times.moment(run.startedAt))
        var text = words.sentence("heldText", count: run.counts.deleted, ["when": .time(began)])
        for alert in connection.alerts {
            switch alert {
            case .shared: text = words.sentence("alertShared")
            case .held(_, _, let causes) where !causes.isEmpty:
                text = words.sentence(
                    "heldTextOtherwise", ["when": .time(began), "reason": .text(words.text(causes))])
            default: continue
            }
        }
        return [
            "text": text, "counts": .text(counts(paper, run.counts)),
            "afterwards": .text(run.counts.deleted == 0 ? "" : words("heldApprove", count: run.counts.deleted)),
            "approve": paper.act(
                "actApprove", connection.path(paper) + "/runs/\(run.id.pathSegment)/approve", style: .danger),
            "pause": connection.state == .active ? paper.act("actPause", connection.path(paper) + "/pause") : .nothing,
        ]
    }

    private func previewed(_ paper: RenderContext, _ counts: SyncCounts, _ changes: [Change]) -> Node {
        [
            "text": .text(changes.isEmpty ? paper.words["previewNothing"] : self.counts(paper, counts)),
            "table": changes.isEmpty
                ? .nothing
                : paper.table(
                    paper.words["previewCaption"], ["columnEvent", "columnChange", "columnWhere"],
                    changes.prefix(200).map { change in
                        [
                            .name(change.title.isEmpty ? paper.words["untitled"] : change.title),
                            .text(paper.words["change_" + change.what.rawValue]),
                            .text(
                                change.isInward
                                    ? paper.words("whereHere", ["app": paper.frame.brand.name])
                                    : paper.words("whereThere", ["provider": connection.provider.name])),
                        ]
                    }),
        ]
    }

    /// A text such as "3 added, 1 changed"; zero counts are left out.
    private func counts(_ paper: RenderContext, _ counts: SyncCounts) -> String {
        let all = [
            ("count_created", counts.created), ("count_updated", counts.updated), ("count_deleted", counts.deleted),
            ("count_pulled", counts.pulled), ("count_conflicts", counts.conflicts), ("count_failed", counts.failed),
        ]
        let parts = all.filter { $0.1 > 0 }.map { paper.words($0.0, count: $0.1) }
        return parts.isEmpty ? paper.words["count_nothing"] : parts.joined(separator: ", ")
    }

    private func runTable(_ paper: RenderContext) -> Node {
        paper.table(
            paper.words["runsCaption"],
            ["columnWhen", "columnReason", "columnResult", "columnWhatHappened", "columnActions"],
            runs.map { run in
                let what =
                    run.problem.map { problem in
                        paper.words.sentence("runError", ["error": .text(paper.words.text(problem))])
                    } ?? paper.words.sentence("runCounts", ["counts": .text(counts(paper, run.counts))])
                return [
                    .time(paper.times.moment(run.startedAt)), .text(paper.words["trigger_" + run.trigger.rawValue]),
                    .badge(badge(paper, run)), .sentence(what),
                    run.canUndo
                        ? .acts([
                            paper.act(
                                "actUndo", connection.path(paper) + "/runs/\(run.id.pathSegment)/undo", style: .quiet,
                                about: paper.times.relative(run.startedAt))
                        ]) : .empty,
                ]
            })
    }

    private func badge(_ paper: RenderContext, _ run: Run) -> Node {
        switch (run.state, run.outcome) {
        case (.running, _): paper.badge(.busy, "badgeSyncing")
        case (.held, _): paper.badge(.warning, "badgeHeld")
        case (.failed, _), (_, .failed): paper.badge(.bad, "badgeFailed")
        case (_, .partial): paper.badge(.warning, "badgePartly")
        case (_, .success), (.done, nil): paper.badge(.good, "badgeDone")
        }
    }
}
