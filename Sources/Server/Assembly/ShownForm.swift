// SPDX-License-Identifier: Apache-2.0

package import KalendsCore
package import Storage

/// Everything that determines how the same items look in feeds: the version of the renderer, and two settings.
package struct ShownForm: Hashable {
    private let renderer: String
    private let titlePrefix: String
    private let linkTemplate: String

    package init(_ settings: ServerSettings, renderer: Int = FeedRenderer.version) {
        self.renderer = String(renderer)
        titlePrefix = settings.titlePrefix
        linkTemplate = settings.linkTemplate ?? ""
    }

    /// The form as servers of one database report it to each other: the renderer first.
    var text: String { "\(renderer) \(titlePrefix) \(linkTemplate)" }

    private static let rendererSetting = "renderer"
    private var settings: [String: String] { ["titlePrefix": titlePrefix, "linkTemplate": linkTemplate] }

    /// Throws when another running server has other settings. Its renderer may be another: that of the version which is
    /// being replaced, or of the one that replaces it.
    ///
    /// - Parameter own: this server's name.
    package func checkOthers(in store: any Store, own: String) async throws {
        let other = try await store.read { [self] transaction in
            try others(transaction, own).first {
                !$0.shown.utf8.drop { $0 != 32 }.elementsEqual(text.utf8.drop { $0 != 32 })
            }
        }
        guard let other else { return }
        throw StorageError.unusable(
            "\(other.name) runs with another titlePrefix or linkTemplate: all servers need the same.")
    }

    /// Informs readers when the program or its configuration shows the same items differently than before.
    ///
    /// While a server with another renderer runs, a feed looks like one's or the other's, depending on which is asked:
    /// readers are informed once only this renderer is left. So the server with the work in the background calls this
    /// again and again.
    ///
    /// - Parameter own: this server's name among several; nil when it is the only one.
    package func note(in store: any Store, own: String?, now: Int) async throws {
        let (former, changed, isMixed) = try await store.read { [self] transaction in
            (
                try transaction.setting(Self.rendererSetting),
                try settings.filter { try transaction.setting($0.key) != $0.value },
                try own.map { try others(transaction, $0).contains { $0.shown != text } } ?? false
            )
        }
        let isNew = former == nil || former != renderer && !isMixed
        // Recorded only when done: an interrupted change begins again.
        if former != nil, !changed.isEmpty { try await store.reviseEverything(now: now) }
        if former != nil, !changed.isEmpty || isNew { try await store.touchAllCircles(now: now) }
        guard !changed.isEmpty || isNew else { return }
        try await store.write { [self] transaction in
            for (name, value) in changed { try transaction.set(name, to: value) }
            if isNew { try transaction.set(Self.rendererSetting, to: renderer) }
        }
    }

    /// Returns the other servers that run, as far as the database shows.
    private func others(_ transaction: any ReadTransaction, _ own: String) throws -> [ServerRecord] {
        let now = try transaction.sharedTime()
        return try transaction.servers().filter { $0.isRunning(now: now) && $0.name != own }
    }
}
