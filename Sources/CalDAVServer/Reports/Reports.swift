// SPDX-License-Identifier: Apache-2.0

/// All reports that are answered here.
enum Reports {
    static let all: [any Report.Type] = [
        CalendarMultiget.self, CalendarQuery.self, FreeBusyQuery.self, SyncCollection.self, ExpandProperty.self,
        PrincipalPropertySearch.self, PrincipalSearchPropertySet.self,
    ]

    static func named(_ name: PropertyName) -> (any Report.Type)? { all.first { $0.name == name } }
}
