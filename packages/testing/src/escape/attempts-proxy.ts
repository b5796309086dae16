/** Attempts through the gate's own proxy: the host's loopback and the cloud's metadata in every spelling. Data only. */
import type { EscapeAttempt } from "./attempt.js";

/** Spellings of the host's loopback, where a service listens on port 7101. */
const SPELLINGS: Readonly<Record<string, string>> = {
  plain: "127.0.0.1",
  short: "127.1",
  "hex-short": "0x7f.1",
  hex: "0x7f000001",
  octal: "0177.0.0.1",
  decimal: "2130706433",
  name: "localhost",
  "name-dot": "localhost.",
  any: "0.0.0.0",
  v6: "[::1]",
  "v6-any": "[::]",
  mapped: "[::ffff:127.0.0.1]",
  "mapped-hex": "[::ffff:7f00:1]",
  "own-address": "192.0.2.1",
  rebinding: "rebind.test",
  nul: "127.0.0.1\\0.public.test",
  "wide-digits": "127.0.0.\u{ff11}",
};

const at = (verb: string, target: string): readonly string[] => ["proxy.mjs", verb, "{proxyPort}", target, "{token}"];
const gate = { aspects: [], provenBy: "arrival" } as const;

export const PROXY_ATTEMPTS: readonly EscapeAttempt[] = [
  ...Object.entries(SPELLINGS).map(
    ([name, host]): EscapeAttempt => ({
      ...gate,
      id: `proxy-${name}`,
      title: `asks the proxy for ${host.replaceAll("\\0", "<NUL>")}`,
      run: at("connect", `${host}:7101`),
    }),
  ),
  { ...gate, id: "proxy-get", title: "fetches from the host's loopback", run: at("get", "127.0.0.1:7101") },
  { ...gate, id: "proxy-userinfo", title: "fetches with a user name that looks like a host", run: at("get", "public.test@127.0.0.1:7101") },
  { ...gate, id: "proxy-metadata", title: "asks the proxy for the cloud's metadata", run: at("connect", "169.254.169.254:80") },
  { ...gate, id: "proxy-metadata-get", title: "fetches the cloud's metadata", run: at("get", "169.254.169.254") },
  { ...gate, id: "proxy-metadata-mapped", title: "fetches the metadata by IPv6", run: at("get", "[::ffff:169.254.169.254]") },
  { ...gate, id: "proxy-host-header", title: "names another host in the header", run: at("host", "127.0.0.1:7101") },
  { ...gate, id: "proxy-tunnel-header", title: "names another host in a tunnel's header", run: at("connecthost", "127.0.0.1:7101") },
  { ...gate, id: "proxy-origin-form", title: "leaves the address to the header", run: at("origin", "127.0.0.1:7101") },
  { ...gate, id: "proxy-second", title: "hides a request behind another", run: at("second", "127.0.0.1:7101") },
  { ...gate, id: "proxy-smuggled", title: "hides a request in a body", run: at("smuggled", "127.0.0.1:7101") },
];
