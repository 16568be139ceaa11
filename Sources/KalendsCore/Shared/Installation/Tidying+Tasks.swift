// SPDX-License-Identifier: Apache-2.0

import Storage

extension Tidying {
    private static let together = 500

    /// Removes what files said about tasks that were deleted so long ago that nothing else is kept about them.
    func forgetDeletedTasks() async throws {
        var last = ""
        while !isClosing {
            let after = last
            let ids = try await store.read {
                try $0.circles(withEventsOf: .tasks, after: after, limit: Self.together)
            }
            for id in ids { try await forgetDeletedTasks(in: id) }
            guard let end = ids.last else { return }
            last = end
        }
    }

    private func forgetDeletedTasks(in id: String) async throws {
        guard !isClosing, try await deletedTasks(in: id) != nil else { return }
        try await turns.alone(in: id) {
            try await EventStaging.discard(in: id, self.store)
            guard let (circle, keys) = try await self.deletedTasks(in: id) else { return }
            var staging = EventStaging(circle, self.store)
            for key in keys {
                staging.end(key)
                if staging.isFull { try await staging.write() }
            }
            try await staging.finish()
            let (now, tasks) = (self.now(), keys.map { ImportedTask.id($0.uid.string) })
            let isPublished = try await self.store.write { [staging] transaction in
                // A task may have come back since: no turn holds back who puts one.
                let emptied = try transaction.emptiedItems(tasks, TaskContent.collection, in: id)
                guard emptied.isSuperset(of: tasks.map { ByteString($0) }) else { return false }
                transaction.concerns(circle: id)
                try staging.publish(in: transaction, within: nil, now: now)
                return true
            }
            // The next time finds those that are still deleted.
            if !isPublished { try await staging.discard() }
        }
    }

    /// Returns the to-dos of a circle whose tasks are deleted for good, with the circle; nil without any.
    private func deletedTasks(in id: String) async throws -> (Circle, [ImportedEventRecord.Key])? {
        var (found, after): ([ImportedEventRecord.Key], ImportedEventRecord.Key?) = ([], nil)
        while true {
            let last = after
            let (circle, keys, emptied) = try await store.read {
                transaction -> (Circle?, [ImportedEventRecord.Key], Set<ByteString>) in
                guard let circle = try transaction.circle(id) else { return (nil, [], []) }
                let keys = try transaction.importedKeys(of: .tasks, in: circle, after: last, limit: Self.together)
                let ids = keys.map { ImportedTask.id($0.uid.string) }
                return (circle, keys, try transaction.emptiedItems(ids, TaskContent.collection, in: id))
            }
            found += keys.filter { emptied.contains(ByteString(ImportedTask.id($0.uid.string))) }
            after = keys.last
            if keys.count < Self.together { return found.isEmpty ? nil : circle.map { ($0, found) } }
        }
    }
}
