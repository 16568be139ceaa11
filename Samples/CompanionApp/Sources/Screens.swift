// SPDX-License-Identifier: Apache-2.0

#if canImport(SwiftUI)
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
    let proceed: () -> Void

    var body: some View {
        VStack(spacing: 24) {
            Image(systemName: "calendar").font(.largeTitle)
            Text(screen.message).multilineTextAlignment(.center)
            Button(screen.button, action: proceed).buttonStyle(.borderedProminent)
        }
        .padding()
    }
}

struct HomeView: View {
    let model: AppModel

    private var screen: HomeScreen {
        HomeScreen(model.status, isSyncing: model.isSyncing, model.texts) { milliseconds in
            Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(date: .abbreviated, time: .shortened)
        }
    }

    var body: some View {
        List {
            if !model.connection.isConnected, case .denied(let message, let button) = access {
                Section {
                    Text(message)
                    SettingsLink(button)
                }
            }
            Section(footer: Text(screen.subtext)) {
                Text(screen.lastSync)
                Text(screen.eventsSynced)
                Text(screen.upserted)
                Text(screen.deleted)
                if let problem = screen.problem { Text(problem).foregroundStyle(.red) }
                if screen.asksForToken {
                    NavigationLink(model.texts.token) { SettingsView(model: model) }
                }
            }
            Button(screen.button) { Task { await model.syncNow() } }.disabled(screen.isSyncing)
        }
        .navigationTitle(screen.header)
    }

    private var access: AccessScreen { AccessScreen(model.permission, model.connectorTexts) }
}

struct SettingsView: View {
    @Bindable var model: AppModel
    @State private var token = ""

    private var screen: SettingsScreen {
        SettingsScreen(server: model.server, hasToken: AppFiles.token() != nil, model.texts)
    }

    var body: some View {
        Form {
            Section(footer: Text(screen.serverFault ?? "")) {
                TextField(screen.serverLabel, text: $model.server)
                SecureField(screen.tokenLabel, text: $token)
                Button(model.texts.proceed) {
                    Task {
                        await model.logIn(token: token)
                        token = ""
                    }
                }
                .disabled(screen.serverFault != nil || token.isEmpty)
            }
            LabeledContent(screen.windowLabel, value: screen.window)
            if let problem = model.problem { Text(problem).foregroundStyle(.red) }
        }
        .navigationTitle(screen.header)
    }
}

/// Leads to the system's settings of this app.
struct SettingsLink: View {
    let title: String
    @Environment(\.openURL) private var openURL

    init(_ title: String) { self.title = title }

    var body: some View {
        Button(title) {
            #if os(iOS)
            let address = UIApplication.openSettingsURLString
            #else
            let address = "x-apple.systempreferences:com.apple.preference.security?Privacy_Calendars"
            #endif
            if let url = URL(string: address) { openURL(url) }
        }
    }
}
#endif
