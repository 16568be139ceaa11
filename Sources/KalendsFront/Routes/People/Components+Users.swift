// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage

extension Components {
    private static let password = Schema(["type": "string", "minLength": 8, "maxLength": 1024])

    private static let code = Schema(["type": "string", "maxLength": .integer(FieldReader.longestCode)])

    static let secondFactors: [(String, Schema)] = [
        (
            "SecondFactor",
            .output(
                .required("isActive", .bool), .required("since", .instant.orNull),
                .required("recoveryCodesLeft", .count))
        ),
        ("SignInProof", SecondFactorRoutes.proof.schema),
        (
            "NewSecondFactor",
            .output(
                .required("secret", .string.described("The secret in base32, to be typed into an app.")),
                .required(
                    "algorithm",
                    Schema.one(of: ["SHA1", "SHA256"]).described("The hash of its codes; a strict server uses SHA-256.")
                ),
                .required("uri", .string.described("The secret as an `otpauth:` address, for a QR code.")))
        ),
        ("SecondFactorCode", SecondFactorRoutes.code.schema),
        (
            "RecoveryCodes",
            .output(
                .required(
                    "recoveryCodes", .array(of: .string).described("Each of them replaces the app once.")))
        ),
    ]

    static let users: [(String, Schema)] = [
        ("SignIn", SessionRoutes.body.schema),
        (
            "Session",
            .object(
                Session.view.fields + [
                    .required("current", .bool.described("Whether the request was made with this session."))
                ])
        ),
        (
            "NewSession",
            .object(
                Session.view.fields + [
                    .required("userId", .identifier),
                    .optional(
                        "token",
                        .string.described(
                            "The session's token, which is also set as a cookie; a strict server leaves it out.")),
                ])
        ),
        (
            "SessionToken",
            .output(
                .required("token", .string),
                .required("expiresAt", Schema.count.described("Milliseconds since 1970.")))
        ),
        ("User", ListedUser.view.schema), ("Erasure", ErasureReport.view.schema),
        (
            "PasswordInput",
            .input(
                .required("password", password),
                .optional(
                    "currentPassword",
                    Schema(["type": "string", "maxLength": 1024])
                        .described("Required from a user; refused from the host application.")),
                .optional("code", code.described("Required from a user who has a second factor.")),
                example: ["password": "correct horse battery"])
        ),
        ("SignInLinkInput", SignInLinkRoutes.body(SignInLinks.lifetimes).schema),
        (
            "SignInLink",
            .output(
                .required("url", Schema.string.described("Anyone who opens the link can sign in as the user, once.")),
                .required("expiresAt", .instant))
        ),
        ("Device", Device.view.schema),
        (
            "NewDevice",
            .output(
                .required("deviceToken", .string.described("The device's token, which is shown only here.")),
                .required("device", .named("Device")))
        ),
        ("DeviceInput", DeviceRoutes.body.schema),
    ]
}
