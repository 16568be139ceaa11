// SPDX-License-Identifier: Apache-2.0

#if canImport(BackgroundTasks) && os(iOS)
@preconcurrency import BackgroundTasks
import Foundation
import KalendsCompanion

/// BGTaskScheduler behind the library's protocol.
struct SystemBackground: BackgroundScheduler {
    /// To be called before the app has launched.
    static func register(_ refresh: BackgroundRefresh) {
        BGTaskScheduler.shared.register(forTaskWithIdentifier: refresh.identifier, using: nil) { task in
            let time = SystemTime(task: task)
            Task { await refresh.handle(time) }
        }
    }

    func request(_ identifier: String, after: Int) throws {
        let request = BGAppRefreshTaskRequest(identifier: identifier)
        request.earliestBeginDate = Date(timeIntervalSinceNow: Double(after))
        try BGTaskScheduler.shared.submit(request)
    }
}

/// One piece of background time.
private struct SystemTime: BackgroundTime {
    let task: BGTask

    func whenItExpires(_ body: @escaping @Sendable () -> Void) { task.expirationHandler = body }
    func complete(success: Bool) { task.setTaskCompleted(success: success) }
}
#elseif canImport(SwiftUI)
import KalendsCompanion

/// A Mac's app is not suspended: there is nothing to ask for.
struct SystemBackground: BackgroundScheduler {
    func request(_ identifier: String, after: Int) throws {}
}
#endif
