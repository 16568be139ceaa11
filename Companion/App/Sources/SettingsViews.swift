// SPDX-License-Identifier: Apache-2.0

import Foundation
import KalendsCompanion
import SwiftUI

/// Pairs this phone with a server.
struct SettingsView: View {
    let model: AppModel
    @Environment(\.openURL) private var openURL
    @State private var server = ""
    @State private var token = ""

    private var screen: SettingsScreen {
        SettingsScreen(server: server, hasToken: model.choices.server != nil, model.texts)
    }

    private var fault: String? { server.isEmpty ? nil : screen.serverFault }

    var body: some View {
        Form {
            Section {
                if let server = model.choices.server { LabeledContent("Paired with", value: server.url.absoluteString) }
                TextField("https://calendar.example.org", text: $server)
                    .textInputAutocapitalization(.never)
                    .autocorrectionDisabled()
                if let address = try? ServerAddress(server) {
                    // The server shows a person's own token to whoever is signed in to its pages.
                    Button("Find my token") { openURL(address.url.appending(path: "auth/token")) }
                    SecureField(screen.tokenLabel, text: $token)
                    Button("Pair") {
                        Task {
                            await model.pair(server, token: token)
                            token = ""
                        }
                    }
                    .disabled(token.isEmpty)
                }
            } header: {
                Text(screen.serverLabel)
            } footer: {
                Text(fault ?? "")
            }
            NavigationLink("Calendars") { CalendarsView(model: model) }
            LabeledContent(screen.windowLabel, value: screen.window)
            if let problem = model.problem { Text(problem).foregroundStyle(.red) }
        }
        .navigationTitle(screen.header)
    }
}

/// Chooses what goes to the server, and where Kalends writes.
struct CalendarsView: View {
    let model: AppModel

    var body: some View {
        Form {
            if model.calendars.isEmpty { Text(model.connectorTexts.visitConnectors) }
            Section("What goes to the server") {
                ForEach(model.calendars.filter { $0.id != model.choices.mirror }, id: \.id) { calendar in
                    let share = model.choices.share(of: calendar.id)
                    Picker(calendar.title, selection: Binding(share) { await model.share(calendar.id, as: $0) }) {
                        ForEach(Share.allCases, id: \.self) { Text($0.text).tag($0) }
                    }
                }
            }
            Section("Where Kalends writes") {
                Picker("Calendar", selection: Binding(model.choices.mirror) { await model.write(into: $0) }) {
                    Text("Nowhere").tag(String?.none)
                    ForEach(model.calendars.filter(\.canWrite), id: \.id) { Text($0.title).tag(Optional($0.id)) }
                }
                Button("Make a calendar “Kalends”") { Task { await model.makeCalendar() } }
            }
            if let problem = model.problem { Text(problem).foregroundStyle(.red) }
        }
        .navigationTitle("Calendars")
        .disabled(model.isSyncing)
    }
}
