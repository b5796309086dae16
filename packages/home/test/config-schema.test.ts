/** The published schema of config.yml and the parser: the schema refuses nothing that loads. */
import { readFileSync } from "node:fs";
import type { JsonObject, JsonValue } from "@acp/core";
import { readYaml } from "@acp/core/yaml";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isDeep } from "../../../tools/deep.js";
import { configSchema, parseConfig } from "../src/config.js";
import { CONFIG_TEMPLATE } from "../src/templates.js";
import { ways, withAt } from "./changes.js";
import { CONFIG_MISTAKES } from "./mistakes.js";

const ORIGINS = { homeDir: "/home/ada", cwd: "/home/ada/.acp" };
const fits = new Ajv2020({ validateFormats: false, strict: true, strictRequired: false }).compile(
  configSchema(),
);

function loads(text: string): boolean {
  try {
    parseConfig(text, ORIGINS);
    return true;
  } catch {
    return false;
  }
}

function valueOf(text: string): JsonValue {
  return readYaml(text, { name: "config", code: "config_invalid" }).value;
}

/** Every key of the file, with a value that loads. */
const FULL: readonly JsonObject[] = [
  {
    version: "1",
    channel: ["prompt", "telegram", "webhook"],
    telegram: { bot_token: "encrypted:abc", chat_id: "17", api_root: "https://bots.example" },
    webhook: {
      url: "https://h.example/x",
      secret: "whsec_abc",
      listen: "127.0.0.1:8787",
      link_url: "https://l.example",
      allow_private_hosts: ["h.example"],
    },
    proxy: {
      port: 8443,
      http_port: 8788,
      private_hosts: ["localhost:3000"],
      http: {
        agents: [
          { id: "researcher", token: "t", policy: "r.yml" },
          { id: "deployer", token: "u" },
        ],
        attribution: "x-agent-id",
        require_sni: true,
        upgrade_hosts: ["ws.example.com"],
        host_approval: "site",
      },
      upstream_servers: [
        {
          name: "files",
          command: "npx -y server",
          args: ["--root", ""],
          env: { TOKEN: "x" },
          cwd: "~/notes",
          sandbox: "auto",
          workspace: "read",
          read: ["/srv"],
          write: [],
          network: ["api.example"],
        },
        { name: "remote", url: "http://localhost:3001" },
        {
          name: "tracker",
          url: "https://mcp.example/mcp",
          headers: { "X-Team": "docs" },
          oauth: {
            client_id: "3f0c7a",
            client_secret: "TRACKER",
            redirect_uri: "http://127.0.0.1:8976/callback",
            issuer: "https://auth.example",
            scopes: ["issues:read"],
          },
        },
      ],
    },
    defaults: { timeout_seconds: 120, prompt_limit: "30/hour", policy: "~/p.yml" },
    approvers: [{ id: "ada", channel: "terminal", subject: "local" }],
    groups: { finance: ["ada"], nobody: [] },
    audit: {
      format: "v0.3",
      rotate_megabytes: 64,
      rotate_days: 30,
      keep_files: 100,
      checkpoint_events: 1000,
      checkpoint_seconds: 60,
      witnesses: [{ directory: "/media/backup" }, { url: "https://w.example" }],
    },
  },
  {
    escalation: [
      { channel: "prompt", approvers: ["ada"] },
      { channel: ["terminal"], after_seconds: 60, approvers: ["ada"] },
    ],
    approvers: [{ id: "ada", channel: "terminal", subject: "local" }],
    webhook: { url: "http://h", secret: "s", listen: 8787 },
    proxy: { upstream_servers: [{ name: "a", command: "x", sandbox: "none" }] },
    defaults: { prompt_limit: "none" },
  },
];

/** What somebody may write in any place. */
const VALUES: readonly JsonValue[] = [
  "",
  "a",
  "A b",
  "a__b",
  "-",
  "1",
  "1.5",
  "none",
  "prompt",
  "terminal",
  "webhook",
  "read",
  "auto",
  "v0.2",
  "host",
  "5/second",
  "1000001/day",
  "5/week",
  "x-agent-id",
  "localhost:80",
  "[::1]:8080",
  "https://h.example",
  "HTTP://H",
  " http://h ",
  "ftp://h",
  "http://a:b@h",
  "~/x",
  "~bob",
  "/x/y",
  "encrypted:abc",
  "x | y",
  "\u0007",
  "a\nb",
  "a\tb",
  "\u{1f600}",
  "x".repeat(300),
  "\u{1f600}".repeat(40),
  0,
  1,
  1.5,
  -1,
  80,
  65535,
  65536,
  86400,
  604800,
  604801,
  1e21,
  true,
  false,
  null,
  [],
  [""],
  ["a"],
  ["a", "a"],
  ["prompt", "terminal"],
  [{}],
  {},
  { a: "b" },
  { a: ["ada"] },
  { name: "n", command: "c" },
  [{ name: "n", url: "http://h" }],
  [{ directory: "/d" }],
  [{ id: "ada", channel: "c", subject: "s" }],
  [{ channel: "prompt" }],
];

const KEYS = [...new Set(FULL.flatMap((each) => ways(each)).map((path) => String(path.at(-1))))];

/** True if it loads; then the schema must take it. */
function agrees(value: JsonValue): boolean {
  const isLoaded = loads(JSON.stringify(value));
  if (isLoaded && !fits(value))
    throw new Error(`${JSON.stringify(value)}: ${JSON.stringify(fits.errors)}`);
  return isLoaded;
}

describe("configSchema()", () => {
  it("is what is published in spec/schemas", () => {
    const published = new URL("../../../spec/schemas/config.schema.json", import.meta.url);
    // To publish another one: acp config schema > spec/schemas/config.schema.json
    expect(JSON.parse(readFileSync(published, "utf8"))).toEqual(configSchema());
  });

  it("takes what acp init writes, and a file with every key", () => {
    expect(agrees(valueOf(CONFIG_TEMPLATE))).toBe(true);
    expect(FULL.map(agrees)).toEqual([true, true]);
  });

  it("takes whatever loads of a file with one value changed, added or left out", () => {
    const changed = FULL.flatMap((full) =>
      ways(full).flatMap((path) => [
        ...[...VALUES, undefined].map((value) => withAt(full, path, value)),
        ...KEYS.map((key) => withAt(full, [...path, key], "a")),
      ]),
    );
    const tried = isDeep ? changed : changed.filter((_, at) => at % 11 === 0);
    const loaded = tried.filter(agrees).length;
    // Neither everything nor nothing loads, or this would show nothing.
    expect(loaded).toBeGreaterThan(40);
    expect(tried.length - loaded).toBeGreaterThan(100);
  });

  it("takes whatever loads of a file with several changes", () => {
    const change = fc.record({
      path: fc.constantFrom(...FULL.flatMap((each) => ways(each))),
      key: fc.option(fc.constantFrom(...KEYS)),
      value: fc.option(fc.constantFrom(...VALUES), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.constantFrom(...FULL), fc.array(change, { maxLength: 4 }), (full, changes) => {
        agrees(
          changes.reduce<JsonValue>(
            (value, { path, key, value: put }) =>
              withAt(value, key === null ? path : [...path, key], put),
            full,
          ),
        );
      }),
    );
  });

  /** What no schema says: what a text means, what is unique, and what names something else. */
  const PARSER_ONLY: readonly string[] = [
    "a channel without its settings",
    "a channel twice",
    "a first stage that waits",
    "stages out of order",
    "approvers in some stages",
    "a stage for nobody known",
    "a stage's channel without its settings",
    "a webhook that is no URL",
    "a webhook of another scheme",
    "a webhook with a password",
    "another user's path",
    "a shell's command",
    "two servers of one name",
    "a variable with a NUL",
    "one subject twice",
    "two spellings of one subject",
    "two spellings of one name",
    "a name that nobody sees",
    "two groups of one name",
    "a group of strangers",
    "a group named like an approver",
    "an encrypted text where none is opened",
    "an encrypted chat",
  ];
  const readable = CONFIG_MISTAKES.filter(([, text]) => {
    try {
      valueOf(text);
      return true;
    } catch {
      return false;
    }
  });
  it("refuses the same mistakes, but for those that no schema can see", () => {
    const unseen = readable.filter(([, text]) => fits(valueOf(text))).map(([name]) => name);
    expect(unseen).toEqual(PARSER_ONLY);
  });
});
