// swift-tools-version: 6.2

import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]
// The server's package is the folder above, and is called by that folder's name. Of its targets only these are compiled.
let server = Context.packageDirectory.split(separator: "/").dropLast().last.map { $0.lowercased() } ?? ""
let base = Target.Dependency.product(name: "Base", package: server)
let calendar = Target.Dependency.product(name: "Calendar", package: server)
let calendars = Target.Dependency.product(name: "ICalBridge", package: server)
let officeDays = Target.Dependency.product(name: "OfficeDays", package: server)
let texts = Target.Dependency.product(name: "PhoneTexts", package: server)

let package = Package(
    name: "KalendsCompanion",
    platforms: [.iOS(.v17), .macOS(.v14)],
    products: [
        .library(name: "KalendsCompanion", targets: ["KalendsCompanion", "KalendsEventKit"]),
        .executable(name: "kalends-companion", targets: ["CompanionTool"]),
    ],
    dependencies: [
        // Without its trait, which stands for the server: no other package of the server's is fetched.
        .package(path: "..", traits: []),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    ],
    targets: [
        // Synchronizes a device's calendars with a server, or keeps office days without a server.
        .target(name: "KalendsCompanion", dependencies: [base, calendar, officeDays, texts], swiftSettings: strict),

        // Apple's calendars as a store. Without EventKit it is compiled against a stand-in that behaves like EventKit.
        .target(
            name: "KalendsEventKit",
            dependencies: [
                base, calendar, "KalendsCompanion", officeDays,
                .target(name: "EventKitStandIn", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict
        ),
        .target(name: "EventKitStandIn", path: "Tests/EventKitStandIn", swiftSettings: strict),

        // A folder of .ics files as a store, in the layout of vdirsyncer and khal.
        .target(
            name: "CompanionFolder",
            dependencies: [base, calendar, calendars, "KalendsCompanion", officeDays], swiftSettings: strict),

        // The executable `kalends-companion`.
        .executableTarget(
            name: "CompanionTool",
            dependencies: [
                base, "CompanionFolder", "KalendsCompanion", texts,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict
        ),

        .testTarget(
            name: "KalendsCompanionTests",
            dependencies: [
                base, calendar, "EventKitStandIn", calendars, "KalendsCompanion", "KalendsEventKit", officeDays, texts,
                .product(name: "TestSupport", package: server),
            ],
            exclude: ["Servers"], swiftSettings: strict),
        .testTarget(
            name: "CompanionFolderTests",
            dependencies: [base, calendar, "CompanionFolder", calendars, "KalendsCompanion", officeDays],
            swiftSettings: strict),
        .testTarget(
            name: "CompanionToolTests",
            dependencies: [
                base, "CompanionTool", "KalendsCompanion", texts,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

// A Mac has EventKit itself, and libical is not tried there: tests that need the stand-in, the folder or the server's helpers
// are left out.
#if !os(Linux)
package.targets.removeAll { ["CompanionFolderTests", "CompanionToolTests"].contains($0.name) }
for target in package.targets where target.name == "KalendsCompanionTests" {
    target.dependencies = [base, calendar, "KalendsCompanion", officeDays, texts]
    target.exclude += ["FileDecodingTests.swift", "Phone"]
}
#endif
