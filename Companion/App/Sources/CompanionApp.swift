// SPDX-License-Identifier: Apache-2.0

import KalendsCompanion
import SwiftUI

@main
struct CompanionApp: App {
    @State private var model: AppModel
    @Environment(\.scenePhase) private var phase

    /// Runs at every launch before it ends, also when the system launches the app in the background and makes no scene.
    init() {
        let workshop = Workshop()
        SystemBackground.register(workshop.refresh)
        _model = State(initialValue: AppModel(workshop))
    }

    var body: some Scene {
        WindowGroup {
            RootView(model: model)
                .task(id: model.connection.isConnected) { await model.follow() }
        }
        .onChange(of: phase) { _, phase in
            switch phase {
            // Changes are not reported to an app that sleeps: one look when it comes back.
            case .active: Task { await model.cameBack() }
            case .background: Task { await model.workshop.refresh.schedule() }
            default: break
            }
        }
    }
}
