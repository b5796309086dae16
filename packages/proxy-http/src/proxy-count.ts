/**
 * Proxy count: what the proxy counts for metrics. Types only.
 */

/** One increment of a counter. */
export interface ProxyCount {
  /** Stable name of the counter. */
  readonly name:
    | "requests"
    | "tunnels"
    | "internal"
    | "refusals"
    | "bytes_up"
    | "bytes_down"
    | "connections";
  /** How much to add: bytes for `bytes_up` and `bytes_down`, otherwise 1. */
  readonly by: number;
  /** Labels, each with few possible values. */
  readonly labels: Readonly<Record<string, string>>;
}
