// SPDX-License-Identifier: Apache-2.0

/// A sign-in at a provider that is under way.
public struct ConnectionAuthorization: Hashable, Sendable {
    /// The hash of the secret that the provider returns; of a pending sign-in, of the code with which its user ends it.
    public var stateHash: String
    public var connectionID: String
    /// The user who began it.
    public var userID: String
    /// The session of the browser that began it; nil when it was begun with a token.
    public var sessionID: String?
    public var sealedVerifier: String
    public var returnTo: String
    public var expiresAt: Int
    /// What the provider returned, of a pending sign-in; nil while the provider has not answered.
    public var sealedCode: String?

    public init(
        stateHash: String, connectionID: String, userID: String, sessionID: String?, sealedVerifier: String,
        returnTo: String, expiresAt: Int
    ) {
        self.stateHash = stateHash
        self.connectionID = connectionID
        self.userID = userID
        self.sessionID = sessionID
        self.sealedVerifier = sealedVerifier
        self.returnTo = returnTo
        self.expiresAt = expiresAt
    }

    init(_ row: SQLRow) throws {
        stateHash = try row.text(required: "state_hash")
        connectionID = try row.text(required: "connection_id")
        userID = try row.text(required: "user_id")
        sessionID = row.text("session_id")
        sealedVerifier = try row.text(required: "sealed_verifier")
        returnTo = try row.text(required: "return_to")
        expiresAt = try row.integer(required: "expires_at")
        sealedCode = row.text("sealed_code")
    }
}

extension WriteTransaction {
    /// Stores a sign-in and keeps only the latest few of the connection.
    ///
    /// - Parameter most: how many a connection has at most.
    public func insertAuthorization(_ own: ConnectionAuthorization, most: Int) throws {
        try execute(
            """
            INSERT INTO connection_authorizations (state_hash, connection_id, user_id, session_id, sealed_verifier,
                return_to, expires_at, sealed_code)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            """,
            [
                .text(own.stateHash), .text(own.connectionID), .text(own.userID), SQLValue(own.sessionID),
                .text(own.sealedVerifier), .text(own.returnTo), .integer(own.expiresAt),
                SQLValue(own.sealedCode),
            ])
        try execute(
            """
            DELETE FROM connection_authorizations WHERE connection_id = $1 AND state_hash NOT IN (
                SELECT state_hash FROM connection_authorizations WHERE connection_id = $1
                ORDER BY expires_at DESC, state_hash LIMIT $2)
            """, [.text(own.connectionID), .integer(most)])
    }

    /// Removes and returns a sign-in: it can be used once, and only before it expires.
    ///
    /// - Parameters:
    ///   - isPending: whether the provider has answered; the secret of one state is of no use in the other.
    ///   - connection: the connection that it has to belong to; nil for any.
    public func takeAuthorization(
        stateHash: String, isPending: Bool, of connection: String? = nil, now: Int
    ) throws -> ConnectionAuthorization? {
        let found = try row("\(select: .connectionAuthorizations) WHERE state_hash = $1", [.text(stateHash)])
            .map(ConnectionAuthorization.init)
        guard let found, (found.sealedCode != nil) == isPending, connection.map({ $0 == found.connectionID }) ?? true
        else { return nil }
        try execute("DELETE FROM connection_authorizations WHERE state_hash = $1", [.text(stateHash)])
        return found.expiresAt > now ? found : nil
    }

    /// Removes some sign-ins that were not completed in time; returns false when none is left.
    public func pruneAuthorizations(before time: Int, limit: Int) throws -> Bool {
        try execute(
            """
            DELETE FROM connection_authorizations WHERE state_hash IN (
                SELECT state_hash FROM connection_authorizations WHERE expires_at <= $1 LIMIT $2)
            """, [.integer(time), .integer(limit)]) == limit
    }
}
