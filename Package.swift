// swift-tools-version: 6.2

import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "kalends",
    // For the companion; the server runs on Linux.
    platforms: [.iOS(.v17), .macOS(.v14)],
    products: [
        .executable(name: "kalends", targets: ["FeedServer"]),
        .executable(name: "kalends-companion", targets: ["CompanionTool"]),
        .library(name: "KalendsCompanion", targets: ["KalendsCompanion", "KalendsEventKit"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        // Values that everybody needs. No I/O.
        .target(name: "Base", swiftSettings: strict),

        // The calendar language: C below, Swift values above. No database, no HTTP.
        .systemLibrary(name: "CLibical", providers: [.apt(["libical-dev"])]),
        .target(name: "ICalBridge", dependencies: ["Base", "CLibical"], swiftSettings: strict),

        // Packs feeds for readers that take gzip.
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),

        // What the process that reads strangers' files gives up first.
        .target(name: "CSandbox"),

        // The DNS records that name a domain's services.
        .target(name: "CResolver", linkerSettings: [.linkedLibrary("resolv")]),

        // What is stored: records, their verbs, the schema, the SQL. No engine.
        .target(
            name: "Storage", dependencies: ["Base", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: strict),

        // The embedded engine, and the only place that knows GRDB.
        .target(
            name: "StorageSQLite",
            dependencies: ["Base", "Storage", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: strict
        ),

        // The engine on a server: PostgreSQL by libpq, and the only place that knows either.
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .target(
            name: "StoragePostgreSQL", dependencies: ["Base", "CPostgres", "Storage"], swiftSettings: strict),

        // Secret tokens: mint, hash, seal, verify, regenerate, revoke, count.
        .target(
            name: "FeedTokens",
            dependencies: ["Base", "Storage", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: strict
        ),

        // Everything that goes out over HTTP, with the guards for its kind of destination.
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
            ],
            swiftSettings: strict
        ),

        // Calendars in step: the merge, the run, the providers. No database, no HTTP library.
        .target(
            name: "CalendarSync",
            dependencies: ["Base", "ICalBridge", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: strict
        ),

        // Where somebody worked, and the events that say so. No I/O; a phone uses it as the server does.
        .target(
            name: "OfficeDays",
            dependencies: ["Base", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: strict
        ),

        // What a person reads of a phone's calendars, once for phones and pages.
        .target(name: "PhoneTexts", dependencies: ["Base"], swiftSettings: strict),

        // Calendars of a device in step with a server, and office days on a device by itself. No server code.
        .target(name: "KalendsCompanion", dependencies: ["Base", "OfficeDays", "PhoneTexts"], swiftSettings: strict),

        // A folder of .ics files as a store, as vdirsyncer and khal keep it.
        .target(
            name: "CompanionFolder",
            dependencies: [
                "Base", "ICalBridge", "KalendsCompanion", "OfficeDays",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict),

        // The executable `kalends-companion`.
        .executableTarget(
            name: "CompanionTool",
            dependencies: [
                "Base", "CompanionFolder", "KalendsCompanion", "PhoneTexts",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict
        ),

        // Apple's calendars as a store. Where there is no EventKit it is compiled against a stand-in with EventKit's manners.
        .target(
            name: "KalendsEventKit",
            dependencies: [
                "Base", "KalendsCompanion", "OfficeDays",
                .target(name: "EventKitStandIn", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict
        ),
        .target(name: "EventKitStandIn", swiftSettings: strict),

        // What a browser shows, made of facts: templates, words, pictures. No server, no store. Its files are put into
        // the program, which stays one file.
        .target(
            name: "Pages",
            dependencies: ["Base", .product(name: "Mustache", package: "swift-mustache")],
            resources: [
                .embedInCode("Templates"), .embedInCode("Styles"), .embedInCode("Scripts"), .embedInCode("Words"),
            ],
            swiftSettings: strict
        ),

        // The product: its rules, its use cases and its background work. No HTTP, no sockets, no engine.
        .target(
            name: "KalendsCore",
            dependencies: [
                "Base", "CSandbox", "CZlib", "CalendarSync", "FeedTokens", "ICalBridge", "OfficeDays",
                "Outbound", "Storage",
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            resources: [.embedInCode("Identity/Passwords/common-passwords.txt")],
            swiftSettings: strict
        ),

        // What answers over HTTP: routes, pages, the document, and the way of a poll in front of them.
        .target(
            name: "KalendsFront",
            dependencies: [
                "Base", "CZlib", "CalendarSync", "FeedTokens", "ICalBridge", "KalendsCore", "OfficeDays",
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
            ],
            swiftSettings: strict
        ),

        // The executable `kalends`: commands, and the assembly of what they start.
        .executableTarget(
            name: "FeedServer",
            dependencies: [
                "Base", "CSandbox", "FeedTokens", "ICalBridge", "KalendsCore", "KalendsFront", "Storage",
                "StoragePostgreSQL", "StorageSQLite",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
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
            ],
            swiftSettings: strict
        ),

        // Times beside libical and other people's libraries; no part of the product.
        .executableTarget(
            name: "kalends-bench",
            dependencies: [
                "CLibical", "CSandbox", "CalendarSync", "FeedTokens", "ICalBridge", "Storage", "StorageSQLite",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Benchmarks/kalends-bench", swiftSettings: strict),

        // A host application's first hour, which the tests run; no part of the product.
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
            path: "Samples/first-hour", exclude: ["first-hour.mts", "first_hour.py"], swiftSettings: strict),

        // What several suites need: programs beside the tests, numbers from a seed, tables in documents.
        .target(name: "TestSupport", dependencies: ["Base"], path: "Tests/TestSupport", swiftSettings: strict),
        // What every engine of the store is put through, and a store that runs each body twice.
        .target(
            name: "StoreConformance", dependencies: ["Base", "Storage", "StoragePostgreSQL", "StorageSQLite"],
            path: "Tests/StoreConformance",
            swiftSettings: strict),
        .testTarget(name: "BaseTests", dependencies: ["Base", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "ICalBridgeTests", dependencies: ["Base", "ICalBridge", "TestSupport"], exclude: ["Oracles"],
            swiftSettings: strict),
        .testTarget(
            name: "StorageTests",
            dependencies: [
                "Base", "Storage", "StoragePostgreSQL", "StorageSQLite", "StoreConformance", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FeedTokensTests",
            dependencies: ["Base", "FeedTokens", "Storage", "StorageSQLite", "StoreConformance", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "OfficeDaysTests", dependencies: ["Base", "OfficeDays", "TestSupport"], exclude: ["Oracles"],
            swiftSettings: strict),
        .testTarget(
            name: "PagesTests", dependencies: ["Base", "Pages", "PhoneTexts"], exclude: ["Browser"],
            swiftSettings: strict),
        .testTarget(
            name: "CalendarSyncTests", dependencies: ["Base", "CalendarSync", "ICalBridge", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "KalendsCompanionTests",
            dependencies: [
                "Base", "EventKitStandIn", "ICalBridge", "KalendsCompanion", "KalendsEventKit", "OfficeDays",
                "PhoneTexts", "TestSupport",
            ],
            exclude: ["Servers"], swiftSettings: strict),
        .testTarget(
            name: "CompanionFolderTests",
            dependencies: ["Base", "CompanionFolder", "ICalBridge", "KalendsCompanion", "OfficeDays"],
            swiftSettings: strict),
        .testTarget(
            name: "CompanionToolTests",
            dependencies: [
                "Base", "CompanionTool", "KalendsCompanion", "PhoneTexts",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .testTarget(name: "PhoneTextsTests", dependencies: ["Base", "PhoneTexts"], swiftSettings: strict),
        .testTarget(
            name: "OutboundTests",
            dependencies: [
                "Base", "Outbound", "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            exclude: ["Oracles"], swiftSettings: strict),
        .testTarget(
            name: "KalendsCoreTests",
            dependencies: ["Base", "FeedTokens", "KalendsCore", "Storage", "StorageSQLite", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "KalendsFrontTests", dependencies: ["Base", "KalendsCore", "KalendsFront", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "FeedServerTests",
            dependencies: [
                "Base", "CalendarSync", "FeedServer", "FeedTokens", "ICalBridge", "KalendsCore", "KalendsFront",
                "OfficeDays", "Outbound", "Pages", "PhoneTexts", "Storage", "StorageSQLite", "StoreConformance",
                "TestSupport",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            exclude: ["Oracles"],
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)
