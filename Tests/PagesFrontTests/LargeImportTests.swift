// SPDX-License-Identifier: Apache-2.0

import Outbound
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("A file that is too large, on the import's page")
struct LargeImportTests {
    private static let path = "/app/circles/c/import"

    @Test("A file that is too large is said at the address that it was fetched from, or at the file that was uploaded")
    func tooLarge() async throws {
        var settings = ServerSettings()
        settings.maxImportBytes = 10
        settings.fetching.resolver = NamedHosts(["cal.example": [["198.51.101.7"]]])
        settings.fetching.transport = ConnectRecorder()
        try await TestServer.withPasswords(settings: settings) { server in
            let ann = try await Browser.signedIn("ann", server)
            let start = try await ann.open(Self.path).expect(200)
            let form = try #require(HTMLForm.all(in: start.text).last { $0.names.contains("url") })
            let address = ["url": "https://cal.example/a.ics"]
            let fetched = try await ann.post(Self.path, form.filled(address)).expect(422).text
            #expect(
                fetched.contains("The file is larger than") && fetched.contains("url-error\"")
                    && !fetched.contains("file-error\""))
            let uploaded = try await ann.upload(start, to: Self.path, "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n").expect(
                422
            ).text
            #expect(uploaded.contains("file-error\"") && !uploaded.contains("url-error\""))
        }
    }
}
