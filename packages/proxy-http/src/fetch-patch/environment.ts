/**
 * Environment: which proxy a request of this process goes through, as HTTP_PROXY, HTTPS_PROXY and
 * NO_PROXY say. Stricter than others where they differ: one proxy stands in for the other, and an
 * entry of NO_PROXY exempts no more than it says.
 */

/** A proxy, and what it wants to be told about who asks. */
export interface Proxy {
  readonly origin: string;
  readonly host: string;
  readonly port: number;
  /** The value of `Proxy-Authorization`; left out where its URL holds no credentials. */
  readonly authorization?: string;
}

/** Where a request goes. */
export interface Target {
  readonly protocol: "http:" | "https:";
  /** Without brackets, small letters. */
  readonly host: string;
  readonly port: number;
}

/** The proxy of a target; `undefined` for what goes to its host directly. */
export type ProxyOf = (target: Target) => Proxy | undefined;

type Environment = Readonly<Record<string, string | undefined>>;

/** As curl has it: the small spelling goes before the large one. An empty variable is none. */
function valueOf(env: Environment, name: string): string | undefined {
  const value = env[name.toLowerCase()] ?? env[name];
  return value === undefined || value.trim() === "" ? undefined : value.trim();
}

function readProxy(env: Environment, name: string): Proxy | undefined {
  const text = valueOf(env, name);
  if (text === undefined) return undefined;
  // Never the value: it may hold a token.
  if (!URL.canParse(text))
    throw new Error(`Cannot use ${name}: it is not a URL such as http://127.0.0.1:8788`);
  const url = new URL(text);
  if (url.protocol !== "http:")
    throw new Error(`Cannot use ${name}: only http:// proxies are supported`);
  const authorization = authorizationOf(url);
  return {
    origin: url.origin,
    host: bareHost(url.hostname),
    port: makeTarget("http:", url.hostname, url.port).port,
    ...(authorization === undefined ? {} : { authorization }),
  };
}

function authorizationOf({ username, password }: URL): string | undefined {
  if (username === "" && password === "") return undefined;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(credentials).toString("base64")}`;
}

/** A host without the brackets of IPv6, in small letters, without the root's dot. */
function bareHost(host: string): string {
  return host
    .replaceAll(/^\[|\]$/g, "")
    .replace(/\.$/, "")
    .toLowerCase();
}

/** A target of what programs say: the port may be a text, or be left out. */
export function makeTarget(protocol: Target["protocol"], host: string, port: unknown): Target {
  const isGiven = (typeof port === "string" && port !== "") || typeof port === "number";
  return {
    protocol,
    host: bareHost(host),
    port: isGiven ? Number(port) : protocol === "http:" ? 80 : 443,
  };
}

/**
 * One entry of NO_PROXY: `*`, a host, or `.domain` (`*.domain`) for what is below it; each may end
 * in a port.
 */
function exemptionOf(entry: string): (target: Target) => boolean {
  if (entry === "*") return () => true;
  const [, name = "", port] = /^(\[[^\]]*\]|[^:]*|.*:.*:.*?)(?::([0-9]+))?$/.exec(entry) ?? [];
  const wanted = bareHost(name.replace(/^\*\./, "."));
  return (target) => {
    if (port !== undefined && target.port !== Number(port)) return false;
    return wanted.startsWith(".") ? target.host.endsWith(wanted) : target.host === wanted;
  };
}

/**
 * Reads the variables, once.
 *
 * @throws Error where none of them names a proxy: a program that is to be gated must not run beside
 *   its gate because a variable is missing.
 */
export function readEnvironment(env: Environment): ProxyOf {
  const [plain, secure] = [readProxy(env, "HTTP_PROXY"), readProxy(env, "HTTPS_PROXY")];
  const proxies = { "http:": plain ?? secure, "https:": secure ?? plain };
  if (plain === undefined && secure === undefined)
    throw new Error("Cannot use the proxy: neither HTTP_PROXY nor HTTPS_PROXY is set");
  const exempt = (valueOf(env, "NO_PROXY") ?? "")
    .split(/[\s,]+/)
    .flatMap((entry) => (entry === "" ? [] : [exemptionOf(entry)]));
  return (target) => {
    const proxy = proxies[target.protocol];
    const isProxy = [plain, secure].some(
      (each) => each?.host === target.host && each.port === target.port,
    );
    // Who speaks to the proxy by its own name, as axios does, knows what it does.
    return isProxy || exempt.some((isExempt) => isExempt(target)) ? undefined : proxy;
  };
}
