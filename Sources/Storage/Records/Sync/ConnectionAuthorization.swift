// SPDX-License-Identifier: Apache-2.0

/// A sign-in at a provider that is under way.
public struct ConnectionAuthorization: Hashable, Sendable {
    /// The hash of the secret that the provider returns; of a pending sign-in, of the code with which its user ends it.
    public var stateHash = ""
    public var connectionID = ""
    /// The user who began it.
    public var userID = ""
    /// The session of the browser that began it; nil when it was begun with a token.
    public var sessionID: String?
    public var sealedVerifier = ""
    public var returnTo = ""
    public var expiresAt = 0
    /// The provider's answer, for a pending sign-in; nil while the provider has not answered.
    public var sealedCode: String?
}

extension ConnectionAuthorization: StoredRow {
    public init(
        stateHash: String, connectionID: String, userID: String, sessionID: String?, sealedVerifier: String,
        returnTo: String, expiresAt: Int
    ) {
        self.init(
            stateHash: stateHash, connectionID: connectionID, userID: userID, sessionID: sessionID,
            sealedVerifier: sealedVerifier, returnTo: returnTo, expiresAt: expiresAt, sealedCode: nil)
    }

    static let table = RecordTable<ConnectionAuthorization>(
        "connection_authorizations",
        [
            .once("state_hash", \.stateHash), .once("connection_id", \.connectionID), .once("user_id", \.userID),
            .once("session_id", \.sessionID), .once("sealed_verifier", \.sealedVerifier),
            .once("sealed_code", \.sealedCode), .once("return_to", \.returnTo), .once("expires_at", \.expiresAt),
        ])
}

extension WriteTransaction {
    /// Stores a sign-in and keeps only the latest few of the connection.
    ///
    /// - Parameter most: how many a connection has at most.
    public func insertAuthorization(_ own: ConnectionAuthorization, most: Int) throws {
        try insert(new: own)
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
    ///   - isPending: whether the provider has answered; the secret of one state does not work in the other.
    ///   - connection: the connection that it has to belong to; nil for any.
    public func takeAuthorization(
        stateHash: String, isPending: Bool, of connection: String? = nil, now: Int
    ) throws -> ConnectionAuthorization? {
        let found: ConnectionAuthorization? = try first("WHERE state_hash = $1", [.text(stateHash)])
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
