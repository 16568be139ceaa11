// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Testing

@Suite struct PushNoticeTests {
    private let body = """
        {"value":[
          {"id":"lsgTZMr9KwAAA","subscriptionId":"7c3a3290-142e-4176-ad54-4a040a2c7d36",
           "subscriptionExpirationDateTime":"2026-11-23T11:00:00Z","clientState":"secret","changeType":"updated",
           "resource":"Users/u/Events/AAkALg=","tenantId":"84bd8158-6d4d-4958-8b9f-9d6445542f95",
           "resourceData":{"@odata.type":"#Microsoft.Graph.Event","id":"AAkALg="}},
          {"subscriptionId":"7c3a3290-142e-4176-ad54-4a040a2c7d36","clientState":"secret","changeType":"created",
           "resource":"Users/u/Events/B"},
          {"subscriptionId":"aa","clientState":"other","lifecycleEvent":"subscriptionRemoved","resource":"x"},
          {"subscriptionId":"aa","clientState":"other","lifecycleEvent":"reauthorizationRequired","resource":"x"},
          {"subscriptionId":"bb","lifecycleEvent":"missed","resource":"x"}]}
        """

    @Test("Each kind of Graph's notices is read, and two changes of one subscription are one hint")
    func graph() throws {
        let notices = try #require(GraphPush.notices(body: Array(body.utf8)))
        #expect(notices.map(\.what) == [.changed, .ended, .renewalWanted, .missed])
        #expect(notices[0].channel == "7c3a3290-142e-4176-ad54-4a040a2c7d36")
        #expect(notices[0].secret == Concealed("secret"))
        #expect(notices[3].secret == nil)
    }

    @Test(
        "A body that is not Graph's gives no notices",
        arguments: [
            "", "null", "[]", "{}", #"{"value":{}}"#, #"{"value":[1"#, #"{"value":[],"value":[]}"#,
            String(repeating: "[", count: 100_000),
        ])
    func notGraph(_ text: String) {
        #expect(GraphPush.notices(body: Array(text.utf8)) == nil)
    }

    @Test(
        "A notice of the wrong shape is left out, and its neighbours count",
        arguments: [
            #"1"#, #"null"#, #"{"subscriptionId":7,"changeType":"updated"}"#,
            #"{"subscriptionId":"a b","changeType":"updated"}"#,
            #"{"subscriptionId":"a","changeType":"renamed"}"#, #"{"subscriptionId":"a","lifecycleEvent":["missed"]}"#,
            #"{"changeType":"updated"}"#,
        ])
    func oneBad(_ item: String) throws {
        let text = #"{"value":[\#(item),{"subscriptionId":"good","changeType":"deleted","clientState":"s"}]}"#
        #expect(try #require(GraphPush.notices(body: Array(text.utf8))).map(\.channel) == ["good"])
    }

    @Test("More notices than a body may have, and longer bodies, are not read")
    func tooMany() {
        let item = #"{"subscriptionId":"a","changeType":"updated"}"#
        let many = #"{"value":[\#(Array(repeating: item, count: 1001).joined(separator: ","))]}"#
        #expect(GraphPush.notices(body: Array(many.utf8)) == nil)
        #expect(GraphPush.notices(body: Array(repeating: 32, count: GraphPush.longestBody + 1)) == nil)
    }

    @Test("A validation token is given back as it is, and only one that can be")
    func validation() {
        let token = "Validation: Testing client application reachability for subscription Request-Id: 1f"
        #expect(GraphPush.validationToken(query: [("validationToken", token)]) == token)
        #expect(GraphPush.validationToken(query: [("token", token)]) == nil)
        #expect(GraphPush.validationToken(query: [("validationToken", "a"), ("validationToken", "b")]) == nil)
        #expect(GraphPush.validationToken(query: [("validationToken", "a\r\nSet-Cookie: b")]) == nil)
        #expect(GraphPush.validationToken(query: [("validationToken", String(repeating: "a", count: 5000))]) == nil)
    }

    @Test("Google's header fields are read in any case, and a field that is there twice is nobody's")
    func google() throws {
        let headers = [
            ("X-Goog-Channel-ID", "4ba78bf0"), ("X-Goog-Resource-State", "exists"), ("X-Goog-Message-Number", "10"),
            ("X-Goog-Resource-ID", "ret08u3rv24htgh289g"), ("X-Goog-Channel-Token", "secret"),
        ].map { (name: $0.0, value: $0.1) }
        let notice = try #require(GooglePush.notice(headers: headers))
        #expect(notice.channel == "4ba78bf0" && notice.what == .changed && notice.resourceID == "ret08u3rv24htgh289g")
        #expect(notice.secret == Concealed("secret"))
        #expect(GooglePush.notice(headers: headers + [("x-goog-channel-id", "b")]) == nil)
        #expect(GooglePush.isMeant(headers: headers) && !GooglePush.isMeant(headers: []))
        let first = [(name: "x-goog-channel-id", value: "a"), (name: "x-goog-resource-state", value: "sync")]
        #expect(GooglePush.notice(headers: first)?.what == .opened)
        #expect(GooglePush.notice(headers: [(name: "x-goog-channel-id", value: "a")]) == nil)
    }
}
