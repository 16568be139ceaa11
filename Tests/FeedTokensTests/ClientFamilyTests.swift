// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import StorageSQLite
import Testing

@Suite("Families of clients")
struct ClientFamilyTests {
    static let table: [(userAgent: String?, family: ClientFamily)] = [
        // As the clients' sources and servers' logs have them.
        ("Google-Calendar-Importer", .google),
        ("iOS/16.5.1 (20F75) dataaccessd/1.0", .appleIOS),
        ("iOS/26.5 (23F77) dataaccessd/1.0", .appleIOS),
        ("iOS/7.1.1 (11D201) dataaccessd/1.0", .appleIOS),
        ("macOS/13.4 (22F66) dataaccessd/1.0", .appleMac),
        ("Mac+OS+X/10.12.2 (16C67) CalendarAgent/384", .appleMac),
        ("macOS/15.6 (24G84) CalendarAgent/1000", .appleMac),
        ("Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17126; Pro)", .outlook),
        ("Microsoft.Exchange/15.20 (Windows NT 10.0; Win64; x64)", .exchange),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Thunderbird/115.6.0", .thunderbird),
        ("Evolution/3.46.4", .evolution),
        ("Nextcloud Webcal Service", .nextcloud),
        ("NextCloud (Android 16) like Chrome/30", .nextcloud),
        ("HomeAssistant/2025.5.0.dev0 httpx/0.28.1 Python/3.13", .homeAssistant),
        ("vdirsyncer/0.19.2", .vdirsyncer),
        ("ICSx5/2.2.3 (ical4j/3.2.14 okhttp/4.12.0 Android/14)", .icsx5),
        ("DAVx5/4.4.3-ose (2024/11/20; dav4jvm; okhttp/4.12.0) Android/14", .davx5),
        ("KDE DAV groupware client", .kde),
        ("CalDavSynchronizer/4.4", .calDavSynchronizer),
        ("iOS/18.1 (22B83) remindd/1.0", .appleIOS),
        // Others that come by.
        ("curl/8.5.0", .commandLine),
        ("Wget/1.21.3", .commandLine),
        ("python-requests/2.31.0", .commandLine),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", .browser),
        // A mark within a word does not count: browsers on iOS, and a library of Node's.
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 CriOS/120.0 Mobile/15E148",
            .browser
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 FxiOS/120.0 Mobile/15E148",
            .browser
        ),
        ("axios/1.7.2", .other),
        ("", .other),
        (nil, .other),
        ("Bespoke/1.0", .other),
        (String(repeating: "x", count: 512) + " curl/8.5.0", .other),
    ]

    @Test("A User-Agent is recognised by its marks", arguments: table)
    func tells(userAgent: String?, family: ClientFamily) {
        #expect(ClientFamily(userAgent: userAgent) == family)
        #expect(ClientFamily(userAgent: userAgent?.uppercased()) == family)
    }

    @Test("Microsoft's are the two whose subscriptions break on a compressed answer")
    func knowsMicrosoft() {
        #expect(ClientFamily.allCases.filter(\.isMicrosoft) == [.outlook, .exchange])
    }

    @Test("No family's name holds a version or anything else of one reader")
    func namesNobody() {
        let names = ClientFamily.allCases.map(\.rawValue)
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { name in !name.contains { $0.isNumber && $0 != "5" } })
    }
}
