// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Storage
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("Pages are packed")
struct PackedPageTests {
    @Test("A browser that takes gzip gets a page packed, with another token in each and none that a size could tell")
    func packed() async throws {
        try await TestServer.withPasswords { server in
            let ann = try await Browser.signedIn("ann", server)
            let plain = try await ann.open("/app/office-days").expect(200)
            #expect(plain.headers[.contentEncoding] == nil)
            let packed = try await ann.open("/app/office-days", headers: [.acceptEncoding: "gzip, br"]).expect(200)
            #expect(packed.headers[.contentEncoding] == "gzip" && packed.body.starts(with: [0x1F, 0x8B]))
            #expect(packed.headers[.vary]?.contains("Accept-Encoding") == true)
            #expect(packed.body.count * 3 < plain.body.count)
            let again = try await ann.open("/app/office-days").expect(200)
            let tokens = [plain, again].compactMap { HTMLForm.all(in: $0.text).first?.token }
            #expect(tokens.count == 2 && tokens[0] != tokens[1])
            // Each of them opens the session's forms, and those of nobody else.
            for token in tokens {
                try await ann.post("/app/account", [("token", token), ("language", "en"), ("timeZone", "")]).expect(200)
            }
            let ben = try await Browser.signedIn("ben", server)
            try await ben.post("/app/account", [("token", tokens[0])]).expect(403)
        }
    }

    @Test("A page names its picture, so that no browser asks for another")
    func icon() async throws {
        try await TestServer.withPasswords { server in
            let page = try await Browser(server).open("/app/sign-in").expect(200)
            let path = try #require(page.text.firstMatch(of: /<link rel="icon" href="([^"]+)">/)?.1)
            let icon = try await server.raw(.get, String(path)).expect(200)
            #expect(icon.headers[.contentType] == "image/svg+xml" && icon.text.hasPrefix("<svg"))
        }
    }
}
