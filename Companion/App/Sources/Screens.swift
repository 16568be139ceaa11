// SPDX-License-Identifier: Apache-2.0

import Foundation
import KalendsCompanion
import SwiftUI

struct RootView: View {
    let model: AppModel
    @AppStorage("hasBeenWelcomed") private var hasBeenWelcomed = false

    var body: some View {
        if hasBeenWelcomed {
            TabView {
                NavigationStack { HomeView(model: model) }
                    .tabItem { Label(model.texts.syncNow, systemImage: "arrow.triangle.2.circlepath") }
                NavigationStack { OfficesView(model: OfficeModel(model.workshop)) }
                    .tabItem { Label("Office days", systemImage: "building.2") }
                NavigationStack { ConnectorsView(model: model) }
                    .tabItem { Label(model.connectorTexts.menu, systemImage: model.connectorTexts.symbol) }
                NavigationStack { SettingsView(model: model) }
                    .tabItem { Label(model.texts.settings, systemImage: "gearshape") }
            }
        } else {
            WelcomeView(screen: WelcomeScreen(model.texts)) {
                hasBeenWelcomed = true
                Task { await model.connect() }
            }
        }
    }
}

struct WelcomeView: View {
    let screen: WelcomeScreen
    let proceed: @MainActor () -> Void

    var body: some View {
        VStack(spacing: 24) {
            Image(systemName: "calendar").font(.largeTitle)
            Text(screen.message)
            Button(screen.button, action: proceed)
        }
    }
}

/// The state, the last sync, and “Sync now”.
struct HomeView: View {
    let model: AppModel

    private var screen: HomeScreen {
        HomeScreen(model.status, isSyncing: model.isSyncing, model.texts) { milliseconds in
            Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(date: .abbreviated, time: .shortened)
        }
    }

    var body: some View {
        List {
            if !model.connection.isConnected {
                if case .denied(let message, let button) = AccessScreen(model.permission, model.connectorTexts) {
                    Text(message)
                    SystemSettingsButton(title: button)
                } else {
                    Text(model.connectorTexts.visitConnectors)
                }
            } else if model.choices.server == nil {
                NavigationLink("Pair this phone with a server") { SettingsView(model: model) }
            } else if model.choices.own.isEmpty, model.choices.planned.isEmpty, model.choices.mirror == nil {
                NavigationLink("Choose calendars") { CalendarsView(model: model) }
            }
            Section {
                Text(screen.lastSync)
                Text(screen.eventsSynced)
                Text(screen.upserted)
                Text(screen.deleted)
                if let problem = screen.problem { Text(problem).foregroundStyle(.red) }
                if let pause = screen.pause { Text(pause).foregroundStyle(.red) }
                if screen.asksForApproval {
                    Button("Delete them", role: .destructive) { Task { await model.approve() } }
                        .disabled(screen.isSyncing)
                }
                if screen.asksForToken {
                    NavigationLink(model.texts.token) { SettingsView(model: model) }
                }
            } footer: {
                Text(screen.subtext)
            }
            Button(screen.button) { Task { await model.syncNow() } }.disabled(screen.isSyncing)
        }
        .navigationTitle(screen.header)
    }
}

extension Binding where Value: Sendable {
    /// Shows a value, and does something when the person chooses another one.
    init(_ shown: Value, choose: @escaping @Sendable (Value) async -> Void) {
        self.init(get: { shown }, set: { chosen in Task { await choose(chosen) } })
    }
}

/// Leads to the system's settings of this app.
struct SystemSettingsButton: View {
    let title: String
    @Environment(\.openURL) private var openURL

    var body: some View {
        Button(title) {
            if let url = URL(string: UIApplication.openSettingsURLString) { openURL(url) }
        }
    }
}
