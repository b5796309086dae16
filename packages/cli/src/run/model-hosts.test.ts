import { describe, expect, it } from "vitest";
import { modelTunnels } from "./model-hosts.js";

function tunnels(
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
  modelHosts?: readonly string[],
): readonly string[] {
  const plan = { argv, env: Object.keys(env), ...(modelHosts !== undefined && { modelHosts }) };
  return modelTunnels({ plan, io: { env: { ...env, XAI_API_KEY: "not passed on" } } }).map(
    ({ name, meta }) => `${name} ${meta.host}:${meta.port}`,
  );
}

describe("modelTunnels()", () => {
  it("knows agents by their name, wherever they are installed", () => {
    expect(tunnels(["/home/u/.local/bin/claude", "-p", "hi"])).toEqual([
      "CONNECT api.anthropic.com:443",
    ]);
    expect(tunnels(["node", "claude"])).toEqual([]);
    expect(tunnels(["constructor"])).toEqual([]);
  });

  it("goes by the keys that the agent gets, and by no other", () => {
    expect(tunnels(["node"], { OPENAI_API_KEY: "k" })).toEqual(["CONNECT api.openai.com:443"]);
    expect(
      tunnels(["claude"], { GROQ_API_KEY: "k", GEMINI_API_KEY: "k", GOOGLE_API_KEY: "k" }),
    ).toEqual(["CONNECT generativelanguage.googleapis.com:443", "CONNECT api.groq.com:443"]);
  });

  it("goes by the address that it is given instead", () => {
    expect(
      tunnels(["claude"], {
        ANTHROPIC_API_KEY: "k",
        ANTHROPIC_BASE_URL: "https://llm.example:8443/v1",
      }),
    ).toEqual(["CONNECT llm.example:8443"]);
    expect(
      tunnels(["node"], { OPENAI_BASE_URL: "http://127.0.0.1:11434/v1", OPENAI_API_KEY: "k" }),
    ).toEqual([]);
    expect(tunnels(["node"], { OPENAI_BASE_URL: "no address", OPENAI_API_KEY: "k" })).toEqual([]);
  });

  it("does what the command line says before all that", () => {
    expect(tunnels(["claude"], { OPENAI_API_KEY: "k" }, [])).toEqual([]);
    expect(tunnels(["claude"], {}, ["a.example", "b.example:8443"])).toEqual([
      "CONNECT a.example:443",
      "CONNECT b.example:8443",
    ]);
    expect(() => tunnels(["claude"], {}, ["https://a.example"])).toThrow("write api.example.com");
  });

  it("asks about four hosts at most", () => {
    const names = ["ANTHROPIC", "OPENAI", "GEMINI", "MISTRAL", "GROQ", "DEEPSEEK"];
    expect(
      tunnels(["node"], Object.fromEntries(names.map((name) => [`${name}_API_KEY`, "k"]))),
    ).toHaveLength(4);
  });
});
