// SPDX-License-Identifier: Apache-2.0

internal import CPostgres
internal import Storage

/// A statement that the server keeps for a session, with the server's description of its parameters and columns.
final class PreparedStatement {
    let name: String
    private var parameters: [Oid] = []
    private(set) var columns: [String] = []
    private(set) var types: [Oid] = []

    init(name: String) { self.name = name }

    /// Takes the server's description.
    func describe(_ result: OpaquePointer) {
        parameters = (0..<(unsafe PQnparams(result))).map { unsafe PQparamtype(result, $0) }
        for index in 0..<(unsafe PQnfields(result)) {
            columns.append(unsafe String(cString: PQfname(result, index)))
            types.append(unsafe PQftype(result, index))
        }
    }

    /// Whether its parameters have the types of these arguments.
    func takes(_ arguments: [SQLValue]) -> Bool {
        guard parameters.count == arguments.count else { return false }
        return zip(parameters, arguments).allSatisfy { type, argument in
            switch argument {
            case .null: true
            case .integer: type == ServerType.bigint
            case .text: type == ServerType.text || type == ServerType.varchar
            }
        }
    }
}

/// The types of the server's catalog that the store's statements can return.
enum ServerType {
    static let bool = Oid(16)
    static let bigint = Oid(20)
    static let smallint = Oid(21)
    static let integer = Oid(23)
    static let text = Oid(25)
    static let varchar = Oid(1043)
    static let numeric = Oid(1700)
}
