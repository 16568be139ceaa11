// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import KalendsCore

@Suite("Paths that a sign-in leads to")
struct PagePathTests {
    @Test(
        "A path below /app/ is taken as it is, with its query",
        arguments: [
            "/app/", "/app/circles/c", "/app/circles/a%3Ab/feeds/f", "/app/office-days?month=2026-03&day=2026-03-02",
            "/app/circles/c?kind=task&kind=shift", "/app/x?q=caf%C3%A9%20au+lait", "/app/a.b/c~d:e@f",
        ])
    func taken(_ text: String) { #expect(PagePath(text)?.text == text) }

    @Test(
        "Nothing else is: no other host, no way up, no mark in disguise",
        arguments: [
            "", "/", "/app", "/App/", "app/x", "/application/x", "//app/x", "/app//x", "/app//evil.example",
            "https://evil.example/app/", "http:/app/", "//evil.example/app/", "/\\evil.example", "/app/\\evil.example",
            "/app/..", "/app/../v1/keys", "/app/./x", "/app/x/../../v1", "/app/%2e%2e/v1", "/app/%2E%2e/v1",
            "/app/%252e%252e/v1", "/app/.%2e/v1", "/app/%2fevil.example", "/app/%5Cevil.example", "/app/%00",
            "/app/x%0d%0aSet-Cookie:a=b", "/app/x\r\nSet-Cookie: a=b", "/app/x y", "/app/x\tb", "/app/é", "/app/x#y",
            "/app/%", "/app/%4", "/app/%zz", "/app/%+1", "/app/x?to=%2F%2Fevil.example", "/app/<script>",
            "/app/\u{202E}x", "/app/x\u{7F}", "/app/\"x", "javascript:alert(1)//app/", "/app/;/..", "/app/x?y=\\\\z",
        ])
    func refused(_ text: String) { #expect(PagePath(text) == nil) }

    @Test("A path has 2,000 characters at most")
    func length() {
        #expect(PagePath("/app/" + String(repeating: "a", count: PagePath.longest - 5)) != nil)
        #expect(PagePath("/app/" + String(repeating: "a", count: PagePath.longest - 4)) == nil)
    }
}
