// SPDX-License-Identifier: Apache-2.0

@testable import Pages

extension Samples {
    var appPasswordSamples: [Sample] {
        let circles = [Named(id: "rose-family", name: text("Rose Family")), Named(id: "b", name: text("Hans at home"))]
        let fields = AppPasswordFields(
            label: text("Thunderbird at home"), mayWrite: false, circleIDs: ["b"], circles: circles)
        let all: [AppPasswordSummary] = [
            .init(
                id: "p1", label: text("Maria’s iPhone"), lastUsedAt: Self.hours(-0.2), lastClient: text("DAVx5"),
                alerts: [.newClient(text("Command line"), at: Self.hours(-3)), .manyNetworks(11, at: Self.hours(-1))]),
            .init(id: "p2", label: text("Thunderbird"), mayWrite: false, lastUsedAt: Self.hours(-30)),
            .init(id: "p3", label: text("New")),
            .init(id: "p4", label: text("Old"), lastUsedAt: Self.hours(-900), expiredAt: Self.hours(-800)),
        ]
        let pages = all.map { summary in
            Sample(
                name: "app-password-\(summary.id)",
                page: AppPasswordPage(
                    summary: summary, fields: fields, accessCount: 1284, createdAt: Self.hours(-1000),
                    expiresAt: summary.expiredAt,
                    clients: summary.lastUsedAt.map {
                        [.init(name: text("Apple Calendar (iOS)"), count: 1200, lastSeenAt: $0)]
                    } ?? [], draft: Draft(problems: [.init(field: "label", code: .missing)])),
                ask: "end")
        }
        let made = NewAppPasswordPage.Made(
            id: "p5", url: "https://calendar.example/dav/", username: text("maria"), password: text("k7q2m-…"),
            profileURL: "https://calendar.example/profiles/kal_pf_secret")
        return [
            Sample(
                name: "app-passwords",
                page: AppPasswordsPage(
                    passwords: all,
                    ended: [.init(label: text("Lost phone"), endedAt: Self.hours(-5), lastUsedAt: Self.hours(-6))]),
                notice: Notice(.appPasswordEnded)),
            Sample(name: "app-passwords-empty", page: AppPasswordsPage(passwords: [])),
            Sample(name: "app-new", page: NewAppPasswordPage(step: .app)),
            Sample(name: "app-new-settings", page: NewAppPasswordPage(step: .settings(.davx5, fields))),
            Sample(
                name: "app-new-limit",
                page: NewAppPasswordPage(
                    step: .settings(.other, AppPasswordFields(circles: [])),
                    draft: Draft(problems: [.init(field: "", code: .limit)]))),
            Sample(
                name: "app-login",
                page: AppLoginPage(
                    state: .asked(path: "/app/login/x", client: "DAVx5", AppPasswordFields(circles: circles)))),
            Sample(name: "app-login-granted", page: AppLoginPage(state: .granted(client: "DAVx5"))),
            Sample(name: "app-login-used", page: AppLoginPage(state: .used)),
            Sample(name: "app-login-gone", page: AppLoginPage(state: .gone)),
        ] + pages
            + CalendarApp.allCases.map {
                Sample(name: "app-made-\($0.rawValue)", page: NewAppPasswordPage(step: .made($0, made)))
            }
    }
}
