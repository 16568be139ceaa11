// SPDX-License-Identifier: Apache-2.0

import KalendsCore

/// The named schemas of the document.
enum Components {
    static func all(_ kinds: ItemKinds) -> [ByteString: Schema] {
        Dictionary(
            uniqueKeysWithValues: basic(kinds) + circles + schedule(kinds) + reach + feeds(kinds) + imports + keys
                + audit + users + secondFactors + changes(kinds) + connections(kinds) + syncRecords(kinds) + syncing
                + statistics
                + officeDays + phones + appPasswords(kinds))
    }

    /// The faults of a problem document or of a rejected line.
    static let faults = Schema.array(of: .named("Fault"), maximum: FaultList.most)
        .described("The faults of the request, the first \(FaultList.most) of them.")
    static let faultsLeftOut = Schema.integer(1...Int.max).described("The number of faults that are not in `errors`.")

    private static func basic(_ kinds: ItemKinds) -> [(String, Schema)] {
        let codes = Schema.known(ProblemCode.known(with: kinds).map(\.rawValue))
        return [
            (
                "Problem",
                .output(
                    .required("type", .string), .required("title", .string), .required("status", .integer(400...599)),
                    .required("code", codes.described("The kind of problem, for programs.")),
                    .required("detail", .string), .optional("errors", faults),
                    .optional("errorsLeftOut", faultsLeftOut),
                    .optional("feedId", .string.described("The feed that already has the label.")),
                    .optional("subscriptionId", .string.described("The subscription that already has the address.")),
                    .optional("connectionId", .string.described("The connection that already has the label.")),
                    .optional("runId", .string.described("The run that is held.")),
                    .optional(
                        "settings", Schema.array(of: .string).described("The settings that the operator has not set.")),
                    .optional("oldest", .count),
                    .optional("latest", .count.described("The number of the latest change.")),
                    .optional("by", Schema.string.orNull.described("Who has changed the same item since.")),
                    .optional("at", Schema.instant.described("When that was.")),
                    .optional("number", .count.described("The number of that change.")),
                    .optional("undoneBy", .count.described("The change that undid this one.")),
                    .optional("partOf", .count.described("The change that includes this one."))
                ).described("The problem details of a request that failed (RFC 9457).")
            ),
            (
                "Fault",
                .output(
                    .required("pointer", Schema.string.described("The place of the fault (RFC 6901).")),
                    .required(
                        "code",
                        Schema.known(Fault.Code.allCases.map(\.rawValue)).described("The kind of fault, for programs.")),
                    .required("message", Schema.string.described("The fault in one sentence."))
                )
            ),
            (
                "EventTime",
                ShownTime.schema.described("A time with its zone and instant, a time without a zone, or a day.")
            ),
        ]
    }
}
