// SPDX-License-Identifier: Apache-2.0

@_exported import Foundation

// What Samples/CompanionApp uses of BackgroundTasks, and nothing of what it does: only for type checks on systems
// without it.

open class BGTask {
    public var expirationHandler: (() -> Void)?
    public func setTaskCompleted(success: Bool) {}
}

open class BGTaskRequest {
    public var earliestBeginDate: Date?
}

public final class BGAppRefreshTaskRequest: BGTaskRequest {
    public init(identifier: String) {}
}

public final class BGTaskScheduler: @unchecked Sendable {
    public static let shared = BGTaskScheduler()

    public func register(
        forTaskWithIdentifier identifier: String, using queue: DispatchQueue?,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool { true }

    public func submit(_ request: BGTaskRequest) throws {}
}
