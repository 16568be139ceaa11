// SPDX-License-Identifier: Apache-2.0

import Foundation
import KalendsCompanion
import Observation
import SwiftUI

/// Office days, which stay on the phone: what is stored of them, and what the buttons say.
@MainActor
@Observable
final class OfficeModel {
    let texts = OfficeDayTexts()
    private(set) var settings = OfficeSettings()
    private(set) var calendarID: String?
    private(set) var calendars: [StoreCalendar] = []
    private(set) var days: [OfficeDay] = []
    private(set) var problem: String?
    private let workshop: Workshop

    init(_ workshop: Workshop) { self.workshop = workshop }

    /// Decides the days that have ended, and shows the last two weeks.
    func start() async { await act { try await $0.advance() } }

    func enable(_ isOn: Bool) async {
        var settings = settings
        settings.enabled = isOn
        await act { try await $0.change(settings) }
        // Without a choice, events go where new events go by default.
        if isOn, calendarID == nil, let primary = calendars.primary { await choose(primary.id) }
    }

    func choose(_ calendar: String?) async {
        guard let calendar else { return }
        await act { try await $0.choose(calendar: calendar) }
    }

    /// Records where the person says they worked; nil takes it back.
    func say(_ status: DayStatus?, on date: CivilDate) async { await act { try await $0.say(status, on: date) } }

    private func act(_ body: (PhoneOfficeDays) async throws -> PhoneOfficeReport) async {
        do {
            let report = try await body(workshop.offices)
            let state = try await workshop.officeMemory.load()
            settings = state?.log.settings ?? OfficeSettings()
            problem = settings.enabled ? report.problem.map { OfficeBanner($0).text } : nil
            calendarID = state?.calendarID
            calendars = (try? await workshop.connector.calendars.calendars())?.filter(\.canWrite) ?? []
            let today = workshop.zones.wall(Workshop.now / 1000, in: nil).day
            days = try await workshop.offices.days(today.adding(days: -13)...today).reversed()
        } catch { problem = error.localizedDescription }
    }
}

struct OfficesView: View {
    @State private var model: OfficeModel

    init(model: OfficeModel) { _model = State(initialValue: model) }

    var body: some View {
        Form {
            Section {
                Toggle(model.texts.enable, isOn: Binding(model.settings.enabled) { await model.enable($0) })
                Picker(model.texts.selectedCalendar, selection: Binding(model.calendarID) { await model.choose($0) }) {
                    Text(model.texts.chooseCalendar).tag(String?.none)
                    ForEach(model.calendars, id: \.id) { Text($0.title).tag(Optional($0.id)) }
                }
                if let problem = model.problem { Text(problem).foregroundStyle(.red) }
            } footer: {
                Text(model.texts.disableNote)
            }
            Section {
                ForEach(model.days, id: \.date) { day in
                    Picker(day.date.description, selection: Binding(day.status) { await model.say($0, on: day.date) }) {
                        Text(model.settings.officeTitle).tag(DayStatus.inOffice)
                        Text(model.settings.remoteTitle).tag(DayStatus.remote)
                        Text("—").tag(DayStatus.none)
                    }
                    .disabled(!model.settings.enabled)
                }
            }
        }
        .navigationTitle(model.texts.title)
        .task { await model.start() }
    }
}
