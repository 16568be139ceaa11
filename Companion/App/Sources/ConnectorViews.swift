// SPDX-License-Identifier: Apache-2.0

import KalendsCompanion
import SwiftUI

/// Menu → Connectors.
struct ConnectorsView: View {
    let model: AppModel

    private var row: ConnectorRow { ConnectorRow(model.connection, pause: model.status.pause, model.connectorTexts) }

    var body: some View {
        List {
            NavigationLink {
                ConnectorView(model: model)
            } label: {
                Label {
                    VStack(alignment: .leading) {
                        Text(row.name)
                        Text(row.subtitle).font(.footnote).foregroundStyle(.secondary)
                    }
                } icon: {
                    Image(systemName: row.symbol)
                }
                .badge(row.status)
            }
        }
        .navigationTitle(model.connectorTexts.menu)
    }
}

struct ConnectorView: View {
    let model: AppModel

    private var screen: ConnectorScreen {
        ConnectorScreen(
            model.connection, permission: model.permission, wasDisconnected: model.wasDisconnected,
            model.connectorTexts)
    }

    var body: some View {
        Form {
            switch screen {
            case .notConnected(let screen): notConnected(screen)
            case .connected(let screen): connected(screen)
            }
        }
        .navigationTitle(model.connectorTexts.name)
        .task { await model.workshop.connector.opened() }
    }

    @ViewBuilder
    private func notConnected(_ screen: ConnectorScreen.NotConnected) -> some View {
        if let notice = screen.notice { Text(notice) }
        Section {
            ForEach(screen.capabilities, id: \.text) { Text("\($0.mark) \($0.text)") }
        } footer: {
            Text(screen.explanation)
        }
        if let denial = screen.denial {
            Text(denial.message)
            SystemSettingsButton(title: denial.button)
        }
        Button(screen.button) { Task { await model.connect() } }
    }

    @ViewBuilder
    private func connected(_ screen: ConnectorScreen.Connected) -> some View {
        LabeledContent(screen.status, value: screen.account)
        Section {
            Toggle(screen.read.label, isOn: Binding(screen.read.isOn) { await model.use(read: $0) })
            Toggle(screen.write.label, isOn: Binding(screen.write.isOn) { await model.use(write: $0) })
        } footer: {
            Text(screen.note)
        }
        SystemSettingsButton(title: screen.manageButton)
        NavigationLink("Calendars") { CalendarsView(model: model) }
        Button(screen.disconnectButton, role: .destructive) { Task { await model.disconnect() } }
            .disabled(model.isSyncing)
    }
}
