/**
 * What callers say and hear about connections. No type of the WebSocket library stands here or in a
 * file that this package exports from: its types are a package that users do not get.
 */

/** Where a gateway is, and as whom to connect. */
export interface GatewayAddress {
  /** `wss://…`; `ws://` for 127.0.0.0/8, `[::1]` and `localhost` alone. */
  readonly url: string;
  /** The device's secret, of which the gateway has only the hash. */
  readonly token: string;
  /** Certificates in PEM to trust in place of the usual ones. */
  readonly ca?: string;
}

/** Options of `Gateway.listen`. */
export interface ListenOptions {
  /** A free one unless given. */
  readonly port?: number;
  /**
   * An address that other machines reach. Tokens and commands would cross the network in the clear:
   * put a proxy that speaks TLS in front, or give an https server to `Gateway.attach` instead.
   */
  readonly dangerouslyListenOn?: string;
}

/** Why a client is not connected any more, for good. */
export type ClosedReason = "closed" | "refused" | "replaced";

/** What happens to a connection. */
export type UplinkEvent =
  | { readonly type: "connected" }
  | { readonly type: "disconnected"; readonly reason: string; readonly retryInMs: number }
  /**
   * For good: closed by its owner, turned away by the gateway, or replaced by a newer connection of
   * the same device.
   */
  | { readonly type: "closed"; readonly reason: ClosedReason };
