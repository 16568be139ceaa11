// SPDX-License-Identifier: Apache-2.0

import CalendarSync

/// Reads objects in this process.
struct DirectObjects: ObjectReading {
    func answers(to questions: [ObjectQuestion]) async throws(ProviderFailure) -> [ObjectAnswer] {
        questions.map { $0.answer() }
    }
}
