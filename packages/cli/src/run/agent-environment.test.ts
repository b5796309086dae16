import { describe, expect, it } from "vitest";
import { checkNamed, makeAgentEnvironment } from "./agent-environment.js";

const INSIDE = { port: 8443, files: "/run/acp/inside", home: "/home/agent" };
const PROXY = "http://127.0.0.1:8443";

function make(
  env: Readonly<Record<string, string>>,
  named: readonly string[] = [],
): Readonly<Record<string, string>> {
  return makeAgentEnvironment({ env, named, sandbox: "namespace" }, INSIDE);
}

describe("makeAgentEnvironment()", () => {
  it("is what leads to the gate, and nothing else where nothing else is set", () => {
    expect(make({})).toEqual({
      HOME: "/home/agent",
      PATH: "/run/acp/inside:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      HTTP_PROXY: PROXY,
      http_proxy: PROXY,
      HTTPS_PROXY: PROXY,
      https_proxy: PROXY,
      ALL_PROXY: PROXY,
      all_proxy: PROXY,
      NO_PROXY: "localhost,127.0.0.1,::1",
      no_proxy: "localhost,127.0.0.1,::1",
      NODE_OPTIONS: "--import=file:///run/acp/inside/fetch-patch.mjs",
      ACP_PROXY_PORT: "8443",
      ACP_SANDBOX: "namespace",
    });
  });

  it("passes a terminal's, a language's and a time zone's variables, and no others", () => {
    const passed = {
      TERM: "xterm",
      LANG: "C",
      LC_ALL: "C",
      LC_TIME: "de",
      TZ: "UTC",
      NO_COLOR: "1",
    };
    const kept = {
      ACP_HOME: "/root/.acp",
      ACP_KEY_FILE: "/k",
      ACP_PASSPHRASE_FILE: "/p",
      SSH_AUTH_SOCK: "/s",
      DBUS_SESSION_BUS_ADDRESS: "x",
      AWS_SECRET_ACCESS_KEY: "x",
      LD_PRELOAD: "/x.so",
      USER: "ann",
      XDG_RUNTIME_DIR: "/run/user/1",
      BASH_ENV: "/b",
      LC: "x",
    };
    const made = make({ ...passed, ...kept });
    expect(made).toMatchObject(passed);
    for (const name of Object.keys(kept)) expect(made).not.toHaveProperty(name);
  });

  it("passes what is named, and never lets it lead elsewhere", () => {
    expect(make({ OPENAI_API_KEY: "k" }, ["OPENAI_API_KEY"])).toMatchObject({
      OPENAI_API_KEY: "k",
    });
    const own = { HTTP_PROXY: "http://evil", no_proxy: "*", ACP_SANDBOX: "x" };
    const made = make(own, Object.keys(own));
    expect(made).toMatchObject({
      HTTP_PROXY: PROXY,
      no_proxy: "localhost,127.0.0.1,::1",
      ACP_SANDBOX: "namespace",
    });
  });

  it("puts the files of the inside first on the PATH, and the patch before other options of Node", () => {
    expect(make({ PATH: "/opt/bin:/bin" })["PATH"]).toBe("/run/acp/inside:/opt/bin:/bin");
    expect(
      make({ NODE_OPTIONS: "--max-old-space-size=99" }, ["NODE_OPTIONS"])["NODE_OPTIONS"],
    ).toBe("--import=file:///run/acp/inside/fetch-patch.mjs --max-old-space-size=99");
    expect(make({ NODE_OPTIONS: "--inspect" })["NODE_OPTIONS"]).not.toContain("inspect");
  });
});

describe("checkNamed()", () => {
  it("takes names that are set", () => {
    expect(() => checkNamed(["A", "_b1"], { A: "", _b1: "x" })).not.toThrow();
  });

  it.each([
    ["A=1", "takes names, not values"],
    ["1A", "not the name of a variable"],
    ["MISSING", "not set"],
    ["ACP_HOME", "sets or hides it"],
    ["ACP_PASSPHRASE_FILE", "sets or hides it"],
    ["Https_Proxy", "sets or hides it"],
    ["NO_PROXY", "sets or hides it"],
    ["NODE_USE_ENV_PROXY", "sets or hides it"],
  ])("refuses %s", (name, text) => {
    const env = {
      ACP_HOME: "x",
      ACP_PASSPHRASE_FILE: "x",
      Https_Proxy: "x",
      NO_PROXY: "x",
      NODE_USE_ENV_PROXY: "x",
    };
    expect(() => checkNamed([name], env)).toThrow(
      expect.objectContaining({ code: "options_invalid", message: expect.stringContaining(text) }),
    );
  });
});
