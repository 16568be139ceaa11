// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Testing

/// Held to what public projects generate for the same apps.
@Suite struct SubscriptionFormTests {
    private let url = "https://calendar.example/feeds/kal_1/Our-family.ics"

    @Test(
        arguments: [
            (SubscriptionForm.apple, "webcal://calendar.example/feeds/kal_1/Our-family.ics"),
            (
                .google,
                "https://calendar.google.com/calendar/r?cid=webcal%3A%2F%2Fcalendar.example%2Ffeeds%2Fkal_1%2FOur-family.ics"
            ),
            (.outlook, "webcal:https://calendar.example/feeds/kal_1/Our-family.ics"),
            (
                .outlookWeb,
                "https://outlook.live.com/calendar/0/addfromweb?"
                    + "url=https%3A%2F%2Fcalendar.example%2Ffeeds%2Fkal_1%2FOur-family.ics&name=Our%20family%20%26%20J%C3%B6rg"
            ),
            (
                .outlookWork,
                "https://outlook.office.com/calendar/0/addfromweb?"
                    + "url=https%3A%2F%2Fcalendar.example%2Ffeeds%2Fkal_1%2FOur-family.ics&name=Our%20family%20%26%20J%C3%B6rg"
            ),
            (.thunderbird, "https://calendar.example/feeds/kal_1/Our-family.ics"),
            (.android, "webcals://calendar.example/feeds/kal_1/Our-family.ics"),
            (.other, "https://calendar.example/feeds/kal_1/Our-family.ics"),
        ] as [(SubscriptionForm, String)])
    func `each app gets the form that it takes`(form: SubscriptionForm, address: String) {
        #expect(form.address(of: url, name: "Our family & Jörg") == address)
    }

    @Test func `ICSx5 is asked to encrypt only where the server does`() {
        #expect(
            SubscriptionForm.android.address(of: "http://localhost:8080/feeds/a/b.ics", name: "")
                == "webcal://localhost:8080/feeds/a/b.ics")
        #expect(
            SubscriptionForm.outlook.address(of: "http://localhost:8080/feeds/a/b.ics", name: "")
                == "webcal:http://localhost:8080/feeds/a/b.ics")
    }
}
