// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import TestSupport
import Testing

@testable import CalDAVServer
@testable import CalendarSync
@testable import ICalBridge
@testable import KalendsCore
@testable import KalendsFront
@testable import Outbound
@testable import ServerTestSupport

/// Each way by which bytes of strangers come in, with what it may use; the table in docs/limits.md is made from them.
@Suite("Ways in")
struct WaysInTests {
    /// What a route's body is, which decides how much of it is read.
    private enum Body: String, CaseIterable {
        case json, lines, file, phone, form

        init?(_ route: RouteTable.Route) {
            guard let body = route.operation.body else { return nil }
            switch body.contents[0].type {
            case "application/x-ndjson": self = .lines
            case "text/calendar": self = .file
            case "application/json":
                let isPhone = ["/sync/apple/events/upsert", "/api/apple_sync/planned_upsert"].contains(route.path)
                self = isPhone ? .phone : .json
            case "application/x-www-form-urlencoded": self = .form
            default: return nil
            }
        }

        func limit(_ settings: ServerSettings) -> Int {
            switch self {
            case .json: Request.jsonLimit
            case .lines: BatchCounts.mostBytes
            case .file: settings.maxImportBytes
            case .phone: PhoneRoutes.mostBytes
            case .form: PageForm.mostBytes
            }
        }
    }

    /// What the sources write where they ask another host, or make what asks it.
    private static let asking = [
        "AccountHTTP(", "ExchangeClient(", "OperatorClient", "client.execute(", "getaddrinfo(", "kalends_ask_dns(",
        "transport.send(",
    ]

    /// Where the sources begin a request to another host, by file, with the row that says what its answer may use.
    private static let outgoing = [
        "Outbound/Resolver.swift": "name servers: addresses (A, AAAA)",
        "Outbound/SystemServiceResolver.swift": "name servers: calendar services of a domain (SRV, TXT)",
        "Outbound/RequestTransport.swift": "calendars that are followed or imported by address",
        "Outbound/ExchangeClient.swift": "calendar servers and providers",
        "Outbound/OperatorClient.swift": "receivers of webhooks",
        "KalendsCore/Shared/Installation/Services.swift":
            "the provider at which people sign in: its document, its keys, what it says about a person",
        "KalendsCore/Sync/Rules/ConnectionProviders.swift": "calendar servers and providers",
        "KalendsCore/Calendars/UseCases/PushRegistrations+Sending.swift": "push services of calendar apps",
        "KalendsCore/Sync/Rules/AccountHTTP.swift": "calendar servers and providers",
        "KalendsCore/Shared/Fetching/GuardedFetcher.swift": "calendars that are followed or imported by address",
        "KalendsCore/People/Rules/Tokens/KeyAddress.swift": "keys of user tokens",
        "WebhookSending/WebhookDispatch.swift": "receivers of webhooks",
        "WebhookSending/WebhookSender.swift": "receivers of webhooks",
    ]

    private static func size(_ bytes: Int) -> String {
        bytes >= 1 << 20 ? "\(bytes >> 20) MiB" : bytes >= 1024 ? "\(bytes >> 10) KiB" : "\(bytes) bytes"
    }

    private static func seconds(_ time: Duration) -> String { "\(time / .seconds(1))".replacing(".0", with: "") + " s" }

    @Test("Every route refuses a body of one byte more than its kind may have", arguments: [2 << 20])
    func bodies(maxImportBytes: Int) async throws {
        let settings = {
            var settings = ServerSettings()
            settings.maxImportBytes = maxImportBytes
            return settings
        }()
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            let paths = try await RoutePaths(server)
            var seen: [Body: Int] = [:]
            for route in try Routes.table(server.front, isLocal: false).described where route.operation.body != nil {
                let kind = try #require(Body(route), "\(route.path) takes a body of a kind that has no budget.")
                let type = try #require(route.operation.body?.contents[0].type)
                var headers: HTTPFields = [.authorization: "Bearer \(server.key)", .contentType: type]
                if RoutePaths.needsUser(route.operation.access) { headers[.kalendsUser] = "xia" }
                // One line of a batch is refused by itself, and what follows it is read.
                let limit = kind == .lines ? nil : kind.limit(settings)
                guard let limit else { continue }
                let body = ByteBuffer(repeating: 32, count: limit + 1)
                let answer = try await server.raw(route.method, paths.path(of: route), headers: headers, body: body)
                // Who may not call learns no more than that.
                if ![401, 403, 404, 409].contains(answer.status) {
                    #expect(answer.status == 413, "\(route.method) \(route.path)")
                    seen[kind, default: 0] += 1
                }
            }
            #expect(seen[.json, default: 0] > 30 && seen[.phone, default: 0] > 0 && seen[.file, default: 0] > 0)
            #expect(seen[.form, default: 0] > 0)
        }
    }

    @Test("A form with a file, and everything that calendar apps send, is refused with one byte more than it may have")
    func formsAndApps() async throws {
        var settings = ServerSettings()
        settings.maxImportBytes = 2 << 20
        try await TestServer.run(settings: settings) { [settings] server in
            try await server.makeCircle()
            let head = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.ics\"\r\n\r\n"
            var form = ByteBuffer(string: head)
            form.writeRepeatingByte(32, count: settings.maxImportBytes + 1)
            form.writeString("\r\n--x--\r\n")
            let headers: HTTPFields = [
                .authorization: "Bearer \(server.key)", .contentType: "multipart/form-data; boundary=x",
            ]
            let imported = try await server.raw(
                .post, "/v1/circles/c/imports?mode=preview", headers: headers, body: form)
            #expect(imported.status == 413)

            let made = try await server.call(.post, "/v1/app-passwords", ["label": "A phone"], as: "ann").expect(201)
            let password = try #require(made.json["password"]?.string)
            let credentials = Data("ann:\(password)".utf8).base64EncodedString()
            func send(_ method: String, _ path: String, _ bytes: Int) async throws -> Answer {
                let type = method == "PUT" ? "text/calendar" : "text/xml"
                let headers: HTTPFields = [.authorization: "Basic \(credentials)", .contentType: type]
                return try await server.raw(
                    try #require(HTTPRequest.Method(rawValue: method)), path, headers: headers,
                    body: ByteBuffer(repeating: 32, count: bytes))
            }
            let home = "/dav/calendars/ann/"
            try await send("MKCALENDAR", "\(home)own/", 0).expect(201)
            for (method, path) in [
                ("PROPFIND", home), ("PROPPATCH", "\(home)own/"), ("REPORT", "\(home)own/"), ("POST", "\(home)own/"),
                ("MKCALENDAR", "\(home)other/"), ("MKCOL", "\(home)other/"),
            ] {
                #expect(try await send(method, path, RequestXML.limit + 1).status == 413, "\(method)")
            }
            let put = try await send("PUT", "\(home)own/a.ics", CalendarCollection.maxResourceSize + 1).expect(403)
            #expect(put.text.contains("max-resource-size"))
        }
    }

    @Test("Every place in the sources that asks another host has a row")
    func sources() throws {
        let root = packageRoot.appending(path: "Sources")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path).filter {
            $0.hasSuffix(".swift") && !$0.contains("Companion")
                // It asks this server itself.
                && $0 != "Server/Local/LocalClient.swift"
        }
        let asks = try paths.filter { path in
            let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
            return Self.asking.contains { text.contains($0) }
        }
        #expect(Set(asks) == Set(Self.outgoing.keys))
    }

    @Test("The table of them in docs/limits.md is the program's; KALENDS_WRITE_DOCS=1 writes it")
    func table() throws {
        let (limits, settings) = (ConnectionLimits(), ServerSettings())
        let arrival =
            "\(Self.size(limits.bodyRate)) a second, never \(Self.seconds(limits.bodyIdle)) without a byte"
        let rules = "\(RecurrenceBudget.perSeries) steps a series"
        let reader = CalendarReader.Options(ofWorker: "UTC", charset: nil, limit: settings.maxImportBytes)
        let worker = "2 s, and 2 s a MiB, in a process of its own"
        let events = "\(Self.size(settings.eventLimits.bytes)) of events a circle"
        let threads = "threads of their own, in turns by user; a quarter of a processor in the long run"
        let dnsTurns =
            "threads of their own, in turns by who named the host, one question at a time; others for those whose last was slow"
        let rows: [[String]] = [
            [
                "heads of requests", Self.size(limits.headerList) + ", \(limits.headerCount) fields",
                Self.seconds(limits.header), "as they arrive", "none",
            ],
            [
                "JSON of the API", Self.size(Body.json.limit(settings)), arrival, "in turns above 64 KiB",
                "quotas, above",
            ],
            [
                "lines of a batch", "\(Self.size(Body.lines.limit(settings))) a line", arrival,
                "line by line, " + rules,
                "`maxItemsPerCircle`",
            ],
            [
                "files that are imported", "`maxImportBytes` (\(Self.size(Body.file.limit(settings))))", arrival,
                worker,
                "`maxEventsPerCircle`, `maxImportsPerDay`, \(events)",
            ],
            [
                "what phones send", Self.size(Body.phone.limit(settings)), arrival, "in turns, " + rules,
                "`maxPersonalEventsPerUser`, `maxPlannedEventsPerUser`",
            ],
            [
                "a form that sends a file: the header of each part", Self.size(MultipartStream.headLimit), arrival,
                "each byte is searched once", "none",
            ],
            [
                "files within imported events that are kept",
                "\(Self.size(reader.limits.attachmentBytes)) an event", "the file's", "the file's", "the event's",
            ],
            [
                "forms of pages", "\(Self.size(PageForm.mostBytes)), \(PageForm.mostFields) fields", arrival,
                "as they arrive", "quotas, above",
            ],
            [
                "what a form leaves out of an import (`left`)", "the form's", arrival, "one bit an event",
                "\(LeftOut.most) events",
            ],
            [
                "reports of changes by providers", Self.size(GraphPush.longestBody), arrival, "as they arrive",
                "\(GraphPush.mostNotices) notices, each a look at one connection",
            ],
            [
                "what calendar apps ask",
                "\(Self.size(RequestXML.limit)), \(XMLReader.Limits.request.elements) elements, "
                    + "\(XMLReader.Limits.request.depth) levels",
                arrival, "threads of their own, in turns by user", "none",
            ],
            [
                "reports of calendar apps, and lists of collections: their answers",
                "\(Self.size(limits.reportBytes)), \(Self.size(CalendarCollection.pageBytes)) at a time or one text; "
                    + "\(Self.size(limits.reportMemory)) of all for the addresses in their bodies",
                "\(Self.seconds(limits.reportPatience)) for one of \(limits.reportsOfAPerson) places of a person and "
                    + "\(limits.reports) in all; as long as the client is there and reads",
                "\(Self.seconds(limits.reportTime)) a report, in turns by user; "
                    + "a minute of a user's at once, then half of one processor",
                "\(MemberAnswer.page) texts or \(Listing.page) members a read; what is left follows another token",
            ],
            [
                "one resource whose tag an app needs: PROPFIND with depth 0, PROPPATCH, MOVE, COPY",
                "\(Self.size(Quotas.occurrenceBytesPerItem)) of changed occurrences",
                "the report's place until it is read",
                "the report's, with what the database's reader takes", "none",
            ],
            [
                "one resource in a report", Self.size(CalendarCollection.maxResourceSize), "the report's",
                "\(CalendarFilter.mostConditions) conditions, each text folded once; "
                    + "\(RecurrenceBudget.perSeries) steps and \(ReportedObject.stepsOfAPart) a component, "
                    + "\(ReportedObject.mostOccurrences) occurrences", "none",
            ],
            [
                "reads of a feed's address with CalDAV",
                "the report's; \(Self.size(KeptFeedMembers.limit)) of all that is kept",
                "the report's", "made once for all pages, in turns by owner", "the feed's",
            ],
            [
                "calendar objects that calendar apps store", Self.size(CalendarCollection.maxResourceSize), arrival,
                "in turns by user", "quotas, above",
            ],
            [
                "calendars that are followed or imported by address", "`maxImportBytes`",
                Self.seconds(DestinationRules().deadline), worker,
                "`maxEventsPerCircle`, `maxSubscriptionsPerCircle`, \(events)",
            ],
            [
                "calendar servers and providers",
                "\(Self.size(limits.providerMemory)) of all, a third of one user or host",
                "\(Self.seconds(LimitedProviderHTTP.timeOfRun)) a run, \(Self.seconds(LimitedProviderHTTP.timeOfQuestion)) a question",
                threads,
                "a connection: \(Quotas().conflictsPerConnection) open conflicts, "
                    + "\(Self.size(Quotas().conflictBytesPerConnection)) of them, "
                    + "\(Self.size(Quotas().recordBytesPerConnection)) of writes and as much of resolved conflicts; "
                    + "the quotas of what it becomes",
            ],
            [
                "tokens of providers", Self.size(TokenAnswer.longest), "60 s", "as they arrive", "one grant",
            ],
            [
                "keys of user tokens", Self.size(KeyAddress.limit), Self.seconds(KeyAddress.patience),
                "as they arrive", "none",
            ],
            [
                "the provider at which people sign in: its document, its keys, what it says about a person",
                Self.size(OpenIDProvider.longest), Self.seconds(OpenIDProvider.patience),
                "threads of their own; a network ends 30 sign-ins at once, and then one in two seconds", "none",
            ],
            [
                "passwords that are checked or set", "the JSON's or the form's", "in turns by network",
                "one thread of their own, or two with four processors or more; \(Passwords.longestQueue) wait, "
                    + "\(Passwords.longestOfNetwork) of one network, "
                    + "none more than half of what is free", "none",
            ],
            [
                "name servers: addresses (A, AAAA)", "what the system reads",
                "\(Self.seconds(SystemResolver.patience)), with the turns of others", dnsTurns, "none",
            ],
            [
                "name servers: calendar services of a domain (SRV, TXT)", Self.size(SystemServiceResolver.longest + 1),
                "\(Self.seconds(SystemResolver.patience)) a question, with the turns of others", dnsTurns, "none",
            ],
            ["push services of calendar apps", "1 KiB", "15 s", "none", "one message"],
            ["receivers of webhooks", "1 KiB", "15 s", "none", "one message"],
        ]
        #expect(Set(rows.map { $0[0] }).isSuperset(of: Self.outgoing.values))
        let lines = ["| way in | bytes | time | processor | rows |", "| --- | --- | --- | --- | --- |"]
        try expectTable("ways in", in: "docs/limits.md", lines + rows.map { "| \($0.joined(separator: " | ")) |" })
    }
}
