// SPDX-License-Identifier: Apache-2.0

extension GoogleCalendar {
    /// Looks at occurrences that may have changed; sends series and single events, in batches; then occurrences, which
    /// need their series; then reads each series that was written in parts. Deletions go last, because a batch has no
    /// order.
    public func write(_ requests: [WriteRequest], in calendar: String) async -> [WriteAnswer] {
        var writing = GoogleWriting(calendar: calendar, provider: self, requests: requests)
        await writing.checkOccurrences()
        await writing.sendMasters()
        await writing.resolveTaken()
        await writing.sendOccurrences()
        await writing.readSeries()
        await writing.sendDeletions()
        return writing.answers.map {
            $0 ?? .failed(ProviderFailure(.unanswered, "It is not known what became of this event."))
        }
    }
}
