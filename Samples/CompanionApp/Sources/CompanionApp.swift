// SPDX-License-Identifier: Apache-2.0

#if canImport(SwiftUI)
import KalendsCompanion
import SwiftUI

@main
struct CompanionApp: App {
    @State private var model: AppModel
    @Environment(\.scenePhase) private var phase

    init() {
        let model = AppModel()
        _model = State(initialValue: model)
        #if os(iOS)
        // Before the app has launched: the system accepts no registration later.
        SystemBackground.register(model.refresh)
        #endif
    }

    var body: some Scene {
        WindowGroup {
            RootView(model: model)
                .task { await model.start() }
        }
        .onChange(of: phase) { _, phase in
            switch phase {
            // Changes are not reported to an app that sleeps: one look when it comes back.
            case .active: Task { await model.cameBack() }
            case .background: Task { await model.refresh.schedule() }
            default: break
            }
        }
    }
}
#endif
