// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage

extension Components {
    static func connections(_ kinds: ItemKinds) -> [(String, Schema)] {
        let config = ConnectionConfiguration.fields(kinds)
        return [
            ("ConnectionConfig", .object(config).described("The items that a connection keeps in step.")),
            (
                "Connection",
                .object(
                    Connections.Shown.view.fields + [
                        .required("config", .named("ConnectionConfig")), .required("isTwoWay", .bool),
                    ])
            ),
            (
                "Connections",
                .output(
                    .required("items", .array(of: .named("Connection"))),
                    .required("nextCursor", Schema.string.orNull.described("For the next page; null on the last.")),
                    .required(
                        "providers",
                        Schema.array(of: ConnectionSettings.provider.schema).described(
                            "The providers that can be connected here, and the settings that are missing for others."
                        )))
            ),
            ("ConnectionInput", Connections.Draft.schema(kinds)),
            ("ConnectionDevice", ConnectionDeviceRoute.body.schema),
            ("ConnectionChange", Connections.Change.schema(kinds)),
        ]
    }
}
