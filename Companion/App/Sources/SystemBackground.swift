// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import Foundation
import KalendsCompanion

/// BGTaskScheduler behind the library's protocol.
nonisolated struct SystemBackground: BackgroundScheduler {
    /// To be called before the launch ends: the system accepts no handler later.
    static func register(_ refresh: BackgroundRefresh) {
        let isTaken = BGTaskScheduler.shared.register(forTaskWithIdentifier: refresh.identifier, using: nil) {
            @Sendable task in
            let time = SystemTime(task)
            Task { await refresh.handle(time) }
        }
        // The identifier is missing in Info.plist, or somebody has registered it already.
        if !isTaken { assertionFailure("The system does not accept \(refresh.identifier).") }
    }

    func request(_ identifier: String, after: Int) throws {
        let request = BGAppRefreshTaskRequest(identifier: identifier)
        request.earliestBeginDate = Date(timeIntervalSinceNow: Double(after))
        try BGTaskScheduler.shared.submit(request)
    }
}

/// One piece of background time.
///
/// The system's task may be used from any thread, and the library sets its handler before anything else.
private nonisolated final class SystemTime: BackgroundTime, @unchecked Sendable {
    private let task: BGTask

    init(_ task: BGTask) { self.task = task }

    func whenItExpires(_ body: @escaping @Sendable () -> Void) { task.expirationHandler = body }
    func complete(success: Bool) { task.setTaskCompleted(success: success) }
}
