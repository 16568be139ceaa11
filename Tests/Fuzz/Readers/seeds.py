# SPDX-License-Identifier: Apache-2.0
"""Writes inputs for the fuzzer: real text for each reader, with the reader's number before it.

   seeds.py FOLDER [CORPORA]

The numbers are those of Tests/Fuzz/Readers/Promises: a group in the upper half of the byte, a place in the lower one.
"""
import gzip
import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
root = pathlib.Path(__file__).resolve().parents[3]
written = 0


def numbers():
    """The number of each reader by its name, as the sources have them."""
    order = ["texts", "network", "formats", "heads", "bodies", "providers", "exchange"]
    found = {}
    for file in sorted((root / "Tests/Fuzz/Readers/Promises").glob("*Readers.swift")):
        text = file.read_text()
        group = order.index(re.search(r"static let (\w+) = \[", text)[1])
        for place, name in enumerate(re.findall(r'Reader\(name: "([^"]+)"', text)):
            found[name] = group << 4 | place
    return found


NUMBERS = numbers()


def write(reader, content):
    global written
    written += 1
    content = content.encode() if isinstance(content, str) else content
    (folder / f"{written:05}-{reader}").write_bytes(bytes([NUMBERS[reader]]) + content)


TOKEN = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
POLL = f"GET /feeds/{TOKEN}/Care.ics HTTP/1.1\r\nHost: calendar.example\r\nAccept: */*\r\nUser-Agent: iOS/26.5 dataaccessd/1.0\r\n" \
       "If-None-Match: \"0123456789abcdef\"\r\n\r\n"
POST = "POST /v1/circles HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
CHUNKS = "PUT /v1/circles/c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4;x=y\r\n\r\n\r\n\r\n0\r\nTrailer: z\r\n\r\n"
OLD = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
OPENID = '{"issuer":"https://login.example","authorization_endpoint":"https://login.example/a","token_endpoint":' \
         '"https://login.example/t","jwks_uri":"https://login.example/k","userinfo_endpoint":"https://login.example/u",' \
         '"end_session_endpoint":"https://login.example/e","response_types_supported":["code"],' \
         '"id_token_signing_alg_values_supported":["PS256"],"token_endpoint_auth_methods_supported":["client_secret_post"],' \
         '"authorization_response_iss_parameter_supported":true}'
JSON = ['{"a":[1,-2.5e3,true,null,"\\u00e9\\ud83d\\ude00\\n"],"b":{}}', "[]", '"x"', "0", '{"a":1,"a":2}', "[[[[[[1]]]]]]", '"\\ud800"']
RULE = '{"rrule":"FREQ=WEEKLY;BYDAY=MO,WE;COUNT=8","exdates":["2026-01-21"],"rdates":["2026-02-03"]}'
ITEM = '{"title":"Early shift","notes":"a\\nb","startsAt":"2026-01-21T09:00:00-08:00","endsAt":"2026-01-21T17:00:00-08:00",' \
       '"timeZone":"America/Los_Angeles","reminders":[10,60],"status":"open","date":"2026-01-21","patientId":"p-1","allDay":false}'
XML = '<?xml version="1.0" encoding="utf-8"?><d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><d:response>' \
      '<d:href>/calendars/a/1.ics</d:href><d:propstat><d:prop><d:getetag>"1"</d:getetag><c:calendar-data><![CDATA[BEGIN]]>' \
      '</c:calendar-data></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response><d:sync-token>t&amp;1</d:sync-token>' \
      '</d:multistatus>'
OBJECT = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:u1\r\nDTSTAMP:20260101T000000Z\r\n" \
         "DTSTART;TZID=Europe/Berlin:20260302T090000\r\nDTEND;TZID=Europe/Berlin:20260302T100000\r\nRRULE:FREQ=WEEKLY;COUNT=4\r\n" \
         "EXDATE;TZID=Europe/Berlin:20260309T090000\r\nSUMMARY:Care\\, early\r\nBEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT10M\r\n" \
         "END:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
GOOGLE = '{"id":"e1","etag":"\\"1\\"","status":"confirmed","summary":"Care","description":"a<br>b","updated":"2026-01-01T00:00:00Z",' \
         '"start":{"dateTime":"2026-03-02T09:00:00+01:00","timeZone":"Europe/Berlin"},"end":{"dateTime":"2026-03-02T10:00:00+01:00",' \
         '"timeZone":"Europe/Berlin"},"recurrence":["RRULE:FREQ=DAILY;COUNT=5","EXDATE;TZID=Europe/Berlin:20260303T090000"],' \
         '"reminders":{"useDefault":false,"overrides":[{"method":"popup","minutes":10}]},"transparency":"opaque",' \
         '"extendedProperties":{"private":{"kalends":"x"}},"items":[{"id":"e1_2","recurringEventId":"e1","status":"cancelled",' \
         '"originalStartTime":{"dateTime":"2026-03-04T09:00:00+01:00"}}]}'
GRAPH = '{"id":"g1","@odata.etag":"W/\\"1\\"","type":"seriesMaster","subject":"Care","body":{"contentType":"text","content":"a"},' \
        '"start":{"dateTime":"2026-03-02T08:00:00.0000000","timeZone":"UTC"},"end":{"dateTime":"2026-03-02T09:00:00.0000000",' \
        '"timeZone":"UTC"},"originalStartTimeZone":"W. Europe Standard Time","isAllDay":false,"showAs":"busy","recurrence":{"pattern":' \
        '{"type":"weekly","interval":1,"daysOfWeek":["monday"],"firstDayOfWeek":"sunday"},"range":{"type":"numbered","startDate":' \
        '"2026-03-02","numberOfOccurrences":4,"recurrenceTimeZone":"W. Europe Standard Time"}},"exceptionOccurrences":[],' \
        '"cancelledOccurrences":["OID.g1.2026-03-09"],"location":{"displayName":"Room"},"isReminderOn":true,"reminderMinutesBeforeStart":15}'
PART = "--b\r\nContent-Type: application/http\r\nContent-ID: <response-item-0>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" \
       "\r\n{\"id\":\"a\"}\r\n--b--\r\n"
DNS = bytes.fromhex("12348180000100010000000007_63616c64617673".replace("_", "")) + b"\x04_tcp\x07example\x03org\x00\x00\x21\x00\x01" \
      b"\xc0\x0c\x00\x21\x00\x01\x00\x00\x0e\x10\x00\x17\x00\x0a\x00\x05\x01\xbb\x03dav\x07example\x03org\x00"
PLAIN = {
    "json": JSON, "json-node": JSON, "base64url": ["AAEC", TOKEN, "ab", "a"], "utf-8": ["é€\U0001F600", b"\xed\xa0\x80"],
    "text": ["a,b", "e" + "\u0301" * 40, "\u202eabc", "\U0001F469\u200d\u2695\ufe0f"],
    "zone": ["Europe/Berlin", "UTC", "W. Europe Standard Time", "Etc/GMT+5", "America/Argentina/Buenos_Aires"],
    "time": ["2026-01-21T09:00:00-08:00", "2026-01-21", "20260121T090000", "2026-12-31T23:59:60Z"],
    "ip-address": ["192.0.2.1", "[2001:db8::1%eth0]", "::ffff:10.0.0.1", "10.0.0.0/8", "2001:db8::/32"],
    "public-url": ["https://example.org:8443/a%20b?c=d#e\n../x?y", "webcal://[2001:db8::1]/a\n//b.example/", "https://münchen.example/ä"],
    "dns": [DNS], "host": ["example.org", "münchen.example", "xn--mnchen-3ya.example", "[::1]"],
    "webhook-address": ["https://hooks.example:8443/x?y=1", "http://localhost/"],
    "return-address": ["/app/circles/x?y#z", "https://app.example/done?x=1#y", "http://localhost:3000/"],
    "page-path": ["/app/circles/x?y=%20z", "/app/a%41/b"],
    "gzip": [gzip.compress(b"BEGIN:VCALENDAR\r\n" * 20, mtime=0), gzip.compress(b"a", mtime=0) + gzip.compress(b"b", mtime=0)],
    "signed-token": ["eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImEifQ.eyJzdWIiOiJ1IiwiZXhwIjoxfQ.AAEC"],
    "password-hash": ["scrypt$15$8$3$AAECAwQFBgcICQoLDA0ODw$" + TOKEN],
    "media-type": ["text/calendar; charset=\"utf-8\"; component=VEVENT", "multipart/form-data; boundary=\"a;b\""],
    "http-date": ["Mon, 02 Mar 2026 12:00:00 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"],
    "settings": ["# x\nport = 8080\ntrustedProxies=10.0.0.0/8,::1\npublicURL = https://k.example\n", '{"port":8080,"trustedProxies":["::1"]}'],
    "audit-head": ["12:" + "0123456789abcdef" * 4], "recurrence": [RULE], "items": [ITEM], "path-component": ["a b/é"],
    "worker-frames": [b"p\0\0\0\x04500;", b"b\0\0\0\x01xc\0\0\0\x02{}", b"r\0\0\0\x03a;0"],
    "query": ["cursor=MTIz&limit=10", "from=2026-01-01&limit=1000&x=y", "limit=1&limit=2"],
    "cookie": ["a=b; kalends_session=kal_se_" + TOKEN, "__Host-kalends_operator=kal_op_" + TOKEN],
    "authorization": ["Bearer kal_sk_" + TOKEN, "Device kal_dv_" + TOKEN, "Bearer a.b.c", "bearer kal_se_" + TOKEN],
    "accept": ["text/calendar;q=0.5, application/calendar+json", "gzip;q=0.5, br\n*", "respond-async; wait=5"],
    "conditions": ["Mon, 02 Mar 2026 12:00:00 GMT\nW/\"a,b\", \"0123456789abcdef\"\n*", "\n\"0123456789abcdef\""],
    "feed-path": [f"/feeds/{TOKEN}/Care.ics", f"/feeds/{TOKEN}", f"/functions/v1/ical-feed/{TOKEN}.ics"],
    "forwarded-for": ["192.0.2.7, 10.0.0.2\n[2001:db8::1]", "::1,10.1.1.1"], "target-marks": ["/x?" + "e" + "%CC%81" * 40, "/" + "\u0301" * 40],
    "multipart": ["b\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.ics\"\r\nContent-Type: text/calendar\r\n\r\nX\r\n--b--\r\n"],
    "lines": ["{}\n{\"a\":1}\r\n\n" + "x" * 80 + "\n{}"], "form": ["a=b+c%20d&e=%C3%A9&f", "name=x&kinds=a&kinds=b"],
    "edge": ["\0" + POLL + POLL, "\1" + POLL + POST + POLL, "\0" + POST + CHUNKS + POLL, "\1" + CHUNKS + OLD, "\0" + OLD + POLL,
             "\0CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n" + POLL, "\0GET / HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n" + POLL],
    "push": ["validationToken=abc%20d&state=s&code=c", '{"value":[{"subscriptionId":"s","clientState":"c","changeType":"updated"}]}',
             "X-Goog-Channel-ID: c\nX-Goog-Resource-State: exists\nX-Goog-Channel-Token: t\nX-Goog-Resource-ID: r"],
    "multistatus": [XML, '<d:error xmlns:d="DAV:"><d:valid-sync-token/></d:error>'], "calendar-object": [OBJECT],
    "dav-address": ["/calendars/a/b%20c.ics", "https://dav.example:8443/x/", "../x", "b.ics"],
    "sync-cursor": ["p12 \"etag\"", "own\n20260302T080000Z \"1\"", '{"calendar":"c","from":1,"to":2,"link":"l","series":["a"]}',
                    "token\n0123456789abcdef\n12\nt"],
    "google-event": [GOOGLE], "google-batch": [PART, '{"error":{"code":403,"errors":[{"reason":"rateLimitExceeded"}]}}'], "graph-event": [GRAPH],
    "oauth": ['{"access_token":"a","token_type":"Bearer","expires_in":3600,"refresh_token":"r","scope":"x y"}',
              '{"accessToken":"a","refreshToken":null,"expiresAt":1,"scopes":["x"]}', '{"error":"invalid_grant"}'],
    "openid": ["ann@example.org", "f:1:ann", OPENID, '{"kty":"RSA","kid":"r1","use":"sig","alg":"PS256","e":"AQAB","n":"' + "_" * 342 + '"}',
               '{"kty":"EC","crv":"P-256","kid":"e1","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",'
               '"y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}',
               '{"iss":"https://login.example","sub":"ann","aud":["kalends","b"],"azp":"kalends","exp":1772453800,"iat":1772452800,'
               '"nbf":1772452800,"auth_time":1772452790,"email":"ann@example.org","email_verified":true,"groups":["ops"]}'],
    "percent": ["a%20b%C3%A9"], "notes": ["a<br>b &amp; <b>c</b>", "<p>x</p>\n", "W. Europe Standard Time"],
}
D = 'xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"'
PROP = "<d:prop><d:getetag/><c:calendar-data><c:expand start=\"20260301T000000Z\" end=\"20260401T000000Z\"/></c:calendar-data></d:prop>"
FILTER = '<c:filter><c:comp-filter name="VCALENDAR"><c:comp-filter name="VEVENT"><c:time-range start="20260301T000000Z" ' \
         'end="20260401T000000Z"/><c:prop-filter name="SUMMARY"><c:text-match negate-condition="yes" collation="i;ascii-casemap">' \
         'care</c:text-match></c:prop-filter></c:comp-filter></c:comp-filter></c:filter>'
TIME = '<c:time-range start="20260301T000000Z" end="20260401T000000Z"/>'
BERLIN = "BEGIN:VTIMEZONE\r\nTZID:Europe/Berlin\r\n" \
         "BEGIN:DAYLIGHT\r\nDTSTART:19810329T020000\r\nRRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\r\nTZOFFSETFROM:+0100\r\n" \
         "TZOFFSETTO:+0200\r\nEND:DAYLIGHT\r\nBEGIN:STANDARD\r\nDTSTART:19961027T030000\r\n" \
         "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\r\nTZOFFSETFROM:+0200\r\nTZOFFSETTO:+0100\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n"
ZONED = OBJECT.replace("BEGIN:VEVENT", f"{BERLIN}BEGIN:VEVENT")
# What calendar apps send, and requests of programs that are sent again or stay open.
PLAIN |= {
    "door-request": [
        f"<d:propfind {D}><d:allprop/><d:include><d:owner/></d:include></d:propfind>", f"<d:propfind {D}><d:propname/></d:propfind>",
        f"<d:propfind {D}><d:prop><d:resourcetype/><x:y xmlns:x=\"urn:x\"/></d:prop></d:propfind>",
        f"<d:propertyupdate {D}><d:set><d:prop><d:displayname>A &amp; b</d:displayname></d:prop></d:set>"
        "<d:remove><d:prop><x:y xmlns:x=\"urn:x\"/></d:prop></d:remove></d:propertyupdate>",
        f"<c:mkcalendar {D}><d:set><d:prop><d:displayname>N</d:displayname><c:calendar-timezone>BEGIN:VCALENDAR</c:calendar-timezone>"
        "</d:prop></d:set></c:mkcalendar>",
        f"<c:calendar-query {D}>{PROP}{FILTER}<c:timezone-id>Europe/Berlin</c:timezone-id></c:calendar-query>",
        f"<c:calendar-multiget {D}>{PROP}<d:href>/dav/calendars/a/c/1.ics</d:href><d:href>/x%20y</d:href></c:calendar-multiget>",
        f"<c:free-busy-query {D}>{TIME}</c:free-busy-query>",
        f"<d:sync-collection {D}><d:sync-token>x:1</d:sync-token><d:sync-level>1</d:sync-level><d:limit><d:nresults>5</d:nresults>"
        "</d:limit><d:prop><d:getetag/></d:prop></d:sync-collection>",
        f"<d:expand-property {D}><d:property name=\"owner\"><d:property name=\"displayname\"/></d:property></d:expand-property>",
        f"<d:principal-property-search {D}><d:property-search><d:prop><d:displayname/></d:prop><d:match>a</d:match>"
        "</d:property-search><d:prop><d:displayname/></d:prop></d:principal-property-search>",
        f"<d:principal-search-property-set {D}/>"],
    "door-object": [OBJECT, OBJECT.replace("VEVENT", "VTODO"), OBJECT.replace("BEGIN:VEVENT\r\n", "METHOD:PUBLISH\r\nBEGIN:VEVENT\r\n"),
                    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VFREEBUSY\r\nUID:f\r\nDTSTAMP:20260101T000000Z\r\n"
                    "FREEBUSY;FBTYPE=BUSY-TENTATIVE:20260302T090000Z/PT1H,20260303T090000Z/20260303T100000Z\r\nEND:VFREEBUSY\r\n"
                    "END:VCALENDAR\r\n"],
    "door-report": [
        f"<c:calendar-query {D}>{PROP}{FILTER}</c:calendar-query>\0{OBJECT}",
        f"<c:calendar-query {D}><d:prop><c:calendar-data><c:comp name=\"VCALENDAR\"><c:comp name=\"VEVENT\"><c:prop name=\"UID\"/>"
        "</c:comp></c:comp><c:limit-recurrence-set start=\"20260301T000000Z\" end=\"20260401T000000Z\"/></c:calendar-data>"
        f"</d:prop>{FILTER}</c:calendar-query>\0{ZONED}"],
    "once-key": ['"8e03978e-40d5"', "plain", '"a\\"b\\\\"', '"a\nb"', '"'],
    "event-stream": ["text/event-stream\n43\nsince=42", "text/html;q=0.1, Text/Event-Stream; q=0.5\n\nsince=1", "*/*\n-1\nsince=x"],
}
for name, texts in PLAIN.items():
    for text in texts:
        write(name, text)
missing = set(NUMBERS) - set(PLAIN)
if missing:
    sys.exit(f"seeds.py has no text for {', '.join(sorted(missing))}")

# Real files go to the readers that see such files.
LONGEST = 4000
real = [root / "Samples"] + [pathlib.Path(name) for name in sys.argv[2:]]
for file in sorted(path for place in real for path in place.rglob("*") if path.is_file() and path.stat().st_size <= LONGEST):
    content = file.read_bytes()
    if file.suffix in (".ics", ".vcs"):
        write("calendar-object", content)
    elif file.suffix in (".json", ".jcal"):
        for name in ("json", "google-event", "graph-event", "items"):
            write(name, content)
    elif file.suffix == ".xml":
        write("multistatus", content)
