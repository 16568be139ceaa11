// SPDX-License-Identifier: Apache-2.0

import Base
import Testing

@testable import KalendsCore

@Suite("Settings of the sign-in at a provider")
struct OpenIDSettingsTests {
    private static let usual = ["oidcIssuer": "https://login.example/realms/a", "oidcClientID": "kalends"]

    private static func read(_ given: [String: String]) -> (settings: OpenIDSettings?, faults: [String]) {
        var values = SettingValues(flags: given, configFile: nil, environment: [:])
        let settings = OpenIDSettings(&values)
        return (settings, values.faults)
    }

    @Test(
        "With an issuer and a client there is a provider, with the usual values for all else; with nothing there is none"
    )
    func usual() throws {
        #expect(Self.read([:]).settings == nil && Self.read([:]).faults.isEmpty)
        let (read, faults) = Self.read(Self.usual)
        let settings = try #require(read)
        #expect(faults.isEmpty && settings.issuer == "https://login.example/realms/a" && settings.clientSecret == nil)
        #expect(settings.name == "login.example" && settings.scopes == ["openid", "profile", "email"])
        #expect(settings.userClaim == "sub" && settings.groupsClaim == "groups" && settings.operatorGroup == nil)
        #expect(settings.accounts == .joined && settings.privateHosts == ["login.example:443"])
    }

    @Test("An issuer keeps each of its bytes, and its host may be private, as may those that are named")
    func bytes() throws {
        let given = ["oidcIssuer": "http://127.0.0.1:8443/o/A/", "oidcPrivateHosts": "Tokens.lan, 10.0.0.7:8443"]
        let settings = try #require(Self.read(Self.usual.merging(given) { $1 }).settings)
        #expect(settings.issuer == "http://127.0.0.1:8443/o/A/")
        #expect(settings.privateHosts == ["127.0.0.1:8443", "tokens.lan", "10.0.0.7:8443"])
    }

    @Test(
        "What is wrong with a setting is said under its name, without its value",
        arguments: [
            (["oidcIssuer": "http://login.example"], "oidcIssuer"), (["oidcIssuer": "login.example"], "oidcIssuer"),
            (["oidcIssuer": "https://login.example/?tenant=secret"], "oidcIssuer"),
            (["oidcIssuer": "https://secret@login.example"], "oidcIssuer"), (["oidcIssuer": ""], "oidcIssuer"),
            (["oidcScopes": "profile"], "oidcScopes"), (["oidcScopes": "openid \"secret\""], "oidcScopes"),
            (["oidcAccounts": "all-secret"], "oidcAccounts"), (["oidcSessionHours": "0"], "oidcSessionHours"),
            (["oidcSessionHours": "721"], "oidcSessionHours"), (["oidcName": ""], "oidcName"),
            (["oidcName": String(repeating: "n", count: 51)], "oidcName"),
            (["oidcUserClaim": ""], "oidcUserClaim"), (["oidcGroupsClaim": ""], "oidcGroupsClaim"),
            (["oidcOperatorGroup": ""], "oidcOperatorGroup"), (["oidcClientSecret": ""], "oidcClientSecret"),
            (["oidcClientID": ""], "oidcClientID"), (["oidcPrivateHosts": "https://secret"], "oidcPrivateHosts"),
        ])
    func wrong(change: [String: String], name: String) {
        let faults = Self.read(Self.usual.merging(change) { $1 }).faults
        let flag = Setting.openID.first { $0.name == name }?.flag ?? ""
        #expect(faults.contains { $0.hasPrefix("--\(flag) ") }, "\(faults)")
        #expect(!faults.joined().contains("secret@") && !faults.joined().contains("=secret"))
        #expect(!faults.joined().contains("all-secret"))
    }

    @Test("ID tokens never count as users' tokens: where the keys are the same, users' tokens need their own audience")
    func tokens() async {
        func isRefused(_ given: [String: String]) async -> Bool {
            do {
                _ = try await ServerSettings(
                    flags: Self.usual.merging(given) { $1 }, configFile: nil, environment: [:])
                return false
            } catch {
                return "\(error)".contains("jwtAudience must be given and differ from oidcClientID")
            }
        }
        let (keys, issuer) = (["jwtJwksURL": "https://login.example/keys"], ["jwtIssuer": Self.usual["oidcIssuer"]!])
        let file = ["jwtJwksFile": "/keys"].merging(issuer) { $1 }
        for same in [keys, file] {
            for (audience, refused) in [(nil, true), ("kalends", true), ("calendar", false)] as [(String?, Bool)] {
                let given = same.merging(audience.map { ["jwtAudience": $0] } ?? [:]) { $1 }
                #expect(await isRefused(given) == refused, "\(given)")
            }
        }
        for other in [["jwtJwksURL": "https://host.example/keys"], ["jwtJwksFile": "/keys"], issuer, [:]] {
            #expect(await !isRefused(other), "\(other)")
        }
    }

    @Test("A setting without the issuer is refused, and an issuer without the client")
    func incomplete() {
        for setting in Setting.openID.dropFirst() {
            #expect(Self.read([setting.name: "members"]).faults.contains { $0.contains("needs oidcIssuer") })
        }
        #expect(
            Self.read(["oidcIssuer": "https://login.example"]).faults.contains { $0.contains("needs oidcClientID") })
    }
}
