/**
 * What callers say and hear about connections. No type of the WebSocket library stands here or in a
 * file that this package exports from: its types are a package that users do not get.
 */

/** Where a gateway is, and how to authenticate. */
export interface GatewayAddress {
  /**
   * Address of the gateway: `wss://…`, or `ws://` for 127.0.0.0/8, `[::1]` and `localhost` only.
   */
  readonly url: string;
  /** The device's secret token; the gateway has only its hash. */
  readonly token: string;
  /** Certificates in PEM to trust instead of the system's. */
  readonly ca?: string;
}

/** Options of `Gateway.listen`. */
export interface ListenOptions {
  /** Port to listen on; a free one unless given. */
  readonly port?: number;
  /**
   * An address that other machines can reach; loopback unless given. Tokens and commands would
   * cross the network unencrypted: put a TLS proxy in front, or pass an https server to
   * `Gateway.attach` instead.
   */
  readonly dangerouslyListenOn?: string;
}

/**
 * Why a client is no longer connected and does not try again: its owner closed it, the gateway
 * refused it, or a newer connection of the same device replaced it.
 */
export type ClosedReason = "closed" | "refused" | "replaced";

/** What happens to a client's connection. */
export type UplinkEvent =
  | { readonly type: "connected" }
  | { readonly type: "disconnected"; readonly reason: string; readonly retryInMs: number }
  /**
   * For good: closed by its owner, turned away by the gateway, or replaced by a newer connection of
   * the same device.
   */
  | { readonly type: "closed"; readonly reason: ClosedReason };
