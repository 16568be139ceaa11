// SPDX-License-Identifier: Apache-2.0
// What first-hour.mts uses of Node, where npm's @types/node cannot be had; Debian's compiler comes without it.

declare const process: { env: Record<string, string | undefined>; argv: string[] };
interface Buffer extends Uint8Array {}
declare const Buffer: {
  from(text: string, encoding: "base64" | "base64url"): Buffer;
  concat(pieces: Buffer[]): Buffer;
};
declare module "node:crypto" {
  interface Hmac { update(data: string | Uint8Array): Hmac; digest(): Buffer }
  export function createHmac(algorithm: "sha256", key: Uint8Array): Hmac;
  export function timingSafeEqual(one: Uint8Array, other: Uint8Array): boolean;
}
declare module "node:http" {
  export interface IncomingHttpHeaders { [name: string]: string | string[] | undefined }
  interface IncomingMessage {
    headers: IncomingHttpHeaders;
    on(event: "data", listener: (piece: Buffer) => void): this;
    on(event: "end", listener: () => void): this;
    destroy(): void;
  }
  interface ServerResponse { writeHead(status: number): this; end(): void }
  interface Server {
    listen(port: number, host: string, listening: () => void): this;
    address(): string | { port: number } | null;
    close(): this;
    closeAllConnections(): void;
  }
  export function createServer(listener: (request: IncomingMessage, response: ServerResponse) => void): Server;
}
