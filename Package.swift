// swift-tools-version: 6.2

import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

// What tests of a server and their helpers use.
let aroundServer: [Target.Dependency] = [
    "Base", "CalDAVServer", "Calendar", "CalendarSync", "FeedTokens", "ICalBridge", "KalendsCore", "KalendsFront",
    "Outbound", "Server", "Storage", "TestSupport", "WebhookSending",
    .product(name: "AsyncHTTPClient", package: "async-http-client"),
    .product(name: "HTTPTypes", package: "swift-http-types"),
    .product(name: "Hummingbird", package: "hummingbird"),
    .product(name: "HummingbirdTesting", package: "hummingbird"),
    .product(name: "Logging", package: "swift-log"),
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOHTTP1", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"),
]

/// Tests of a server as a whole that are about one subject.
func serverTests(_ name: String, _ more: [Target.Dependency] = [], hasOracles: Bool = false) -> Target {
    .testTarget(
        name: name, dependencies: aroundServer + ["ServerTestSupport"] + more, exclude: hasOracles ? ["Oracles"] : [])
}

let package = Package(
    name: "kalends",
    // The Apple platforms are for the package in Companion; the server runs on Linux.
    platforms: [.iOS(.v17), .macOS(.v14)],
    products: [
        .executable(name: "kalends", targets: ["FeedServer"]),
        // What the package in Companion uses; TestSupport is for its tests.
        .library(name: "Base", targets: ["Base"]),
        .library(name: "Calendar", targets: ["Calendar"]),
        .library(name: "ICalBridge", targets: ["ICalBridge"]),
        .library(name: "OfficeDays", targets: ["OfficeDays"]),
        .library(name: "PhoneTexts", targets: ["PhoneTexts"]),
        .library(name: "TestSupport", targets: ["TestSupport"]),
    ],
    // The package in Companion asks for no trait: what only the server uses is not even fetched for it.
    traits: [.default(enabledTraits: ["Server"]), .trait(name: "Server")],
    // Each version is exact; `make newer` shows what is newer, and tries it.
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics.git", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", exact: "2.1.1"),

        // What these bring along into the program, and `broughtAlong` names.
        .package(url: "https://github.com/apple/swift-algorithms.git", exact: "1.2.1"),
        .package(url: "https://github.com/apple/swift-asn1", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-async-algorithms.git", exact: "1.1.4"),
        .package(url: "https://github.com/apple/swift-atomics.git", exact: "1.3.0"),
        .package(url: "https://github.com/apple/swift-collections.git", exact: "1.6.0"),
        // Without its traits, as others ask for it: its readers of files are not compiled.
        .package(url: "https://github.com/apple/swift-configuration.git", exact: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", exact: "1.7.3"),
        .package(url: "https://github.com/apple/swift-nio-http2", exact: "1.46.0"),
        .package(url: "https://github.com/apple/swift-numerics.git", exact: "1.1.1"),
        .package(url: "https://github.com/apple/swift-service-context.git", exact: "1.5.1"),
        .package(url: "https://github.com/apple/swift-system.git", exact: "1.8.1"),
    ],
    targets: [
        // Values that every other module needs. No I/O.
        .target(name: "Base"),

        // The vocabulary of calendars: dates, zones, events, recurrence. Pure; phones and the server use the same code.
        .target(name: "Calendar", dependencies: ["Base"]),

        // iCalendar text: reading, writing, forms, verdicts; libical in C below.
        .systemLibrary(name: "CLibical", providers: [.apt(["libical-dev"])]),
        .target(name: "ICalBridge", dependencies: ["Base", "CLibical", "Calendar"]),

        // Compresses feeds for clients that accept gzip.
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),

        // Drops the privileges of the process that reads files from outside.
        .target(name: "CSandbox"),

        // Looks up the DNS records that name a domain's services.
        .target(name: "CResolver", linkerSettings: [.linkedLibrary("resolv")]),

        // What is stored: records, the operations on them, the schema, the SQL. No engine.
        .target(name: "Storage", dependencies: ["Base", .product(name: "Crypto", package: "swift-crypto")]),

        // The embedded engine, and the only target that uses GRDB.
        .target(
            name: "StorageSQLite",
            dependencies: [
                "Base", "Storage", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),

        // The engine for a database server: PostgreSQL through libpq, and the only target that uses either.
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .target(name: "StoragePostgreSQL", dependencies: ["Base", "CPostgres", "Storage"]),

        // Secret tokens: minting, hashing, sealing, verifying, regenerating, revoking, counting.
        .target(
            name: "FeedTokens",
            dependencies: ["Base", "Storage", .product(name: "Crypto", package: "swift-crypto")]),

        // All outgoing HTTP requests, with the guards for each kind of destination.
        .target(
            name: "Outbound",
            dependencies: [
                "Base", "CResolver",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),

        // Synchronized calendars: the merge, the run, the providers. No database, no HTTP library.
        .target(
            name: "CalendarSync",
            dependencies: ["Base", "Calendar", "ICalBridge", .product(name: "Crypto", package: "swift-crypto")]),

        // Where a person worked, and the events that record it. No I/O; phones and the server use the same code.
        .target(name: "OfficeDays", dependencies: ["Base", "Calendar"]),

        // What a person reads in the phone app. The companion uses it, and tests compare the web pages' words with it.
        .target(name: "PhoneTexts", dependencies: ["Base"]),

        // Renders web pages from given facts: templates, words, pictures. No server, no store.
        .target(
            name: "Pages",
            dependencies: ["Base", "Calendar", "ProgramFiles", .product(name: "Mustache", package: "swift-mustache")],
            exclude: ["Templates", "Styles", "Scripts", "Words"]),

        // Takes the place of ICU's tables in a program that is linked statically.
        .target(name: "CEmptyICU"),

        // The files that are part of the program, which C embeds.
        .target(name: "CFiles"),
        .target(name: "ProgramFiles", dependencies: ["CFiles"]),
        // The product: its rules, its use cases and its background work. No HTTP, no sockets, no engine.
        .target(
            name: "KalendsCore",
            dependencies: [
                "Base", "CSandbox", "CZlib", "Calendar", "CalendarSync", "FeedTokens", "ICalBridge", "OfficeDays",
                "Outbound", "ProgramFiles", "Storage",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            exclude: ["People/Rules/Passwords/common-passwords.txt"]),

        // Sends what changed to the addresses of host applications.
        .target(
            name: "WebhookSending",
            dependencies: [
                "Base", "FeedTokens", "KalendsCore", "Outbound", "Storage",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),

        // Everything that answers HTTP requests: routes, pages, the OpenAPI document, and the fast path for polls in
        // front of them.
        .target(
            name: "KalendsFront",
            dependencies: [
                "Base", "CZlib", "Calendar", "CalendarSync", "FeedTokens", "ICalBridge", "KalendsCore", "OfficeDays",
                "Pages", "Storage",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),

        // Calendars over CalDAV: the methods, the properties and the reports, in front of the use cases.
        .target(
            name: "CalDAVServer",
            dependencies: [
                "Base", "Calendar", "FeedTokens", "ICalBridge", "KalendsCore", "KalendsFront", "Storage",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ]),

        // A server: its assembly, its ports, its work in the background, and what calls it on its machine.
        .target(
            name: "Server",
            dependencies: [
                "Base", "CSandbox", "CalDAVServer", "FeedTokens", "ICalBridge", "KalendsCore", "KalendsFront",
                "ProgramFiles", "Storage", "StoragePostgreSQL", "StorageSQLite", "WebhookSending",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOExtras", package: "swift-nio-extras"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]),

        // The executable `kalends`: its commands.
        .executableTarget(
            name: "FeedServer",
            dependencies: [
                "Base", "CEmptyICU", "CSandbox", "FeedTokens", "ICalBridge", "KalendsCore", "KalendsFront", "Server",
                "Storage",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
            ]),

        // Compares its speed with libical's and other libraries'; not part of the product.
        .executableTarget(
            name: "kalends-bench",
            dependencies: [
                "CLibical", "CSandbox", "CalendarSync", "FeedTokens", "ICalBridge", "Storage", "StorageSQLite",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Benchmarks/kalends-bench"),

        // A host application's first hour, which the tests run; not part of the product.
        .executableTarget(
            name: "FirstHour",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Samples/first-hour", exclude: ["first-hour.mts", "first_hour.py", "generated"]),

        // Helpers that several suites share: running programs, seeded random numbers, tables in documents.
        .target(name: "TestSupport", dependencies: ["Base"], path: "Tests/TestSupport"),
        // The tests that every storage engine must pass, and a store that runs each body twice.
        .target(
            name: "StoreConformance", dependencies: ["Base", "Storage", "StoragePostgreSQL", "StorageSQLite"],
            path: "Tests/StoreConformance"),
        .testTarget(name: "BaseTests", dependencies: ["Base", "TestSupport"]),
        .testTarget(
            name: "ICalBridgeTests", dependencies: ["Base", "Calendar", "ICalBridge", "TestSupport"],
            exclude: ["Oracles"]),
        .testTarget(
            name: "StorageTests",
            dependencies: [
                "Base", "Storage", "StoragePostgreSQL", "StorageSQLite", "StoreConformance", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"), .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .testTarget(
            name: "FeedTokensTests",
            dependencies: ["Base", "FeedTokens", "Storage", "StorageSQLite", "StoreConformance", "TestSupport"]),
        .testTarget(
            name: "OfficeDaysTests", dependencies: ["Base", "Calendar", "OfficeDays", "TestSupport"],
            exclude: ["Oracles"]),
        .testTarget(
            name: "PagesTests",
            dependencies: ["Base", "Calendar", "Pages", "PhoneTexts", "ProgramFiles", "TestSupport"],
            exclude: ["Browser"]),
        .testTarget(
            name: "CalendarSyncTests", dependencies: ["Base", "Calendar", "CalendarSync", "ICalBridge", "TestSupport"]),
        .testTarget(name: "PhoneTextsTests", dependencies: ["Base", "PhoneTexts", "TestSupport"]),
        .testTarget(
            name: "OutboundTests",
            dependencies: [
                "Base", "Outbound", "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            exclude: ["Oracles"]),
        .testTarget(
            name: "KalendsCoreTests",
            dependencies: [
                "Base", "CalendarSync", "FeedTokens", "ICalBridge", "KalendsCore", "Storage", "StorageSQLite",
                "TestSupport",
            ]),
        .testTarget(
            name: "KalendsFrontTests",
            dependencies: [
                "Base", "FeedTokens", "ICalBridge", "KalendsCore", "KalendsFront", "Pages", "Storage", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]),
        // A server in the process of the tests, with a clock that they move, and the doubles of what is around it.
        .target(
            name: "ServerTestSupport", dependencies: aroundServer + ["StoreConformance"],
            path: "Tests/ServerTestSupport", exclude: ["Oracles"]),
        serverTests("CalDAVServerTests"),
        serverTests("FeedsTests", hasOracles: true),
        serverTests(
            "ImportsTests",
            [
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ], hasOracles: true),
        serverTests(
            "PagesFrontTests",
            [
                "Pages", "PhoneTexts", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ]),
        serverTests("PeopleTests", ["StorageSQLite", .product(name: "Crypto", package: "swift-crypto")]),
        serverTests("PhonesTests"),
        serverTests("ScheduleTests", ["OfficeDays", "Pages"], hasOracles: true),
        serverTests(
            "ServerTests",
            [
                "StorageSQLite",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
        serverTests("SyncTests"),
        serverTests(
            "FeedServerTests", ["FeedServer", "ProgramFiles", "StorageSQLite", "StoreConformance"], hasOracles: true),
    ],
    swiftLanguageModes: [.v6]
)

// What is checked of each reader of text from outside: fed by libFuzzer in a program of its own, and in the tests with
// the corpus that the program found.
let readers: [Target.Dependency] = [
    "Base", "CalDAVServer", "Calendar", "CalendarSync", "FeedTokens", "ICalBridge", "KalendsCore", "KalendsFront",
    "OfficeDays", "Outbound", "Storage",
    .product(name: "HTTPTypes", package: "swift-http-types"),
    .product(name: "Hummingbird", package: "hummingbird"),
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOEmbedded", package: "swift-nio"),
    .product(name: "NIOHTTP1", package: "swift-nio"),
]
// Files in the same folder that only scripts use.
let scriptFiles = ["keep.py", "readers.dict", "seeds.py"]
// The path of libFuzzer without its `main`, when Scripts/fuzz.sh builds the package: the targets with readers then report
// their branches to it.
if let fuzzer = Context.environment["KALENDS_FUZZER"] {
    let watching = SwiftSetting.unsafeFlags(["-sanitize=fuzzer,address", "-O"])
    let watched = [
        "Base", "Calendar", "ICalBridge", "CalendarSync", "Outbound", "KalendsCore", "KalendsFront", "CalDAVServer",
    ]
    for target in package.targets where watched.contains(target.name) { target.swiftSettings = [watching] }
    package.targets.append(
        .executableTarget(
            name: "kalends-fuzz", dependencies: readers, path: "Tests/Fuzz/Readers",
            exclude: ["Replay"] + scriptFiles,
            swiftSettings: [watching],
            linkerSettings: [.unsafeFlags(["-sanitize=address", fuzzer, "-lstdc++"])]))
} else {
    package.targets.append(
        .testTarget(
            name: "ReaderPromisesTests", dependencies: readers, path: "Tests/Fuzz/Readers",
            exclude: ["Program"] + scriptFiles))
}

// Everything that is Swift is compiled with the same settings.
let withoutSwift = ["CEmptyICU", "CFiles", "CResolver", "CSandbox"]
for target in package.targets where target.type != .system && !withoutSwift.contains(target.name) {
    target.swiftSettings = strict + (target.swiftSettings ?? [])
}

// The limits of a reading process are for code that no sanitizer watches; Scripts/sanitize.sh sets this.
if Context.environment["KALENDS_SANITIZED"] != nil {
    for target in package.targets where target.name == "KalendsCore" {
        target.swiftSettings?.append(.define("SANITIZED"))
    }
}

// The tests' own code runs for a moment, and would keep the optimizer busy for many minutes.
for target in package.targets where target.type == .test {
    target.swiftSettings?.append(.unsafeFlags(["-Onone"], .when(configuration: .release)))
}

// What runs once, or a command's own text, needs no speed, and half of the program's size is code.
for target in package.targets where ["Server", "FeedServer"].contains(target.name) {
    target.swiftSettings?.append(.unsafeFlags(["-Osize"], .when(configuration: .release)))
}

// Not imported. SwiftPM warns of a package that no target uses, and other packages ask for these by ranges of versions.
let broughtAlong: [Target.Dependency] = [
    .product(name: "Algorithms", package: "swift-algorithms"),
    .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
    .product(name: "Atomics", package: "swift-atomics"),
    .product(name: "Configuration", package: "swift-configuration"),
    .product(name: "DequeModule", package: "swift-collections"),
    .product(name: "NIOHTTP2", package: "swift-nio-http2"),
    .product(name: "RealModule", package: "swift-numerics"),
    .product(name: "ServiceContextModule", package: "swift-service-context"),
    .product(name: "SwiftASN1", package: "swift-asn1"),
    .product(name: "SystemPackage", package: "swift-system"),
    .product(name: "Tracing", package: "swift-distributed-tracing"),
]
for target in package.targets where target.name == "FeedServer" { target.dependencies += broughtAlong }

// Other packages are only for the server's targets, except what these use.
let shared = ["Base", "Calendar", "ICalBridge", "OfficeDays", "PhoneTexts", "TestSupport"]
for target in package.targets where !shared.contains(target.name) {
    target.dependencies = target.dependencies.map { dependency in
        guard case .productItem(let name, let package?, _, nil) = dependency else { return dependency }
        return .product(name: name, package: package, condition: .when(traits: ["Server"]))
    }
}
