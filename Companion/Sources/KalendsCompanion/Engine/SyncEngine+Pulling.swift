// SPDX-License-Identifier: Apache-2.0

extension SyncEngine {
    /// Fetches the server's changes. Each page is stored together with the place where the next one begins.
    func pull(_ work: inout RunWork) async throws(Stop) {
        do throws(CompanionFailure) {
            if work.state.user == nil {
                let status = try await service.status()
                work.state.user = status.user
                work.state.serverAhead = status.serverTime - clock()
            }
            var known: [ByteString: Int] = [:]
            for (index, event) in work.state.events.enumerated() { known[event.id] = index }
            while true {
                if Task.isCancelled { throw .cancelled }
                let page = try await service.changes(since: work.state.cursor, limit: 500)
                guard !page.hasMore || page.nextSince > work.state.cursor else { throw .badAnswer }
                for event in page.events {
                    if let index = known[event.id] {
                        work.state.events[index] = event
                    } else {
                        known[event.id] = work.state.events.count
                        work.state.events.append(event)
                    }
                }
                work.counts.received += page.events.count
                work.isEnded = page.connector == .disconnected
                work.state.cursor = max(work.state.cursor, page.nextSince)
                work.state.serverAhead = page.serverTime - clock()
                if !page.hasMore { break }
                do { try await states.save(work.state) } catch { break }
            }
        } catch {
            throw .service(error)
        }
        work.isFresh = true
        work.state.forgetDeleted()
    }
}

extension EngineState {
    /// Drops deleted events that were never in a calendar here, since they are no longer needed.
    fileprivate mutating func forgetDeleted() {
        let linked = Set(links.compactMap { $0.serverID.map { ByteString($0) } })
        events.removeAll { event in
            event.isDeleted && event.externalInstanceId == nil && event.externalId == nil && !linked.contains(event.id)
        }
    }
}
