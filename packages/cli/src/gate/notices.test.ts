import { describe, expect, it } from "vitest";
import type { SandboxLevel, SandboxReport } from "@acp/core";
import { isolationMark, sayHow } from "./notices.js";
import type { Way } from "./notices.js";

const report = (sandbox: string, level: SandboxLevel): SandboxReport => ({
  sandbox,
  level,
  isAvailable: true,
  reason: "it is so",
  dns: "closed",
  items: [],
});

it.each([
  [undefined, "none"],
  [report("env", "none"), "none"],
  [report("preload", "advisory"), "advisory:preload"],
  [report("landlock", "partial"), "partial:landlock"],
  [report("uid", "uid"), "uid:uid"],
  [report("namespace", "full"), "full:namespace"],
] as const)("isolationMark() %#: %s", (sandbox, mark) => {
  expect(isolationMark(sandbox)).toBe(mark);
});

describe("sayHow()", () => {
  const said = async (
    sandbox: SandboxReport | undefined,
    ways: readonly Way[],
  ): Promise<readonly string[]> => {
    const codes: string[] = [];
    const notices = {
      say: (code: string) => Promise.resolve(void codes.push(code)),
      tell: () => {},
      log: () => Promise.resolve(),
    };
    await sayHow(notices, { sharesUid: false, ...(sandbox !== undefined && { sandbox }) }, ways);
    return codes;
  };

  it("says of each way that nothing isolates, unless there is a sandbox", async () => {
    expect(await said(undefined, ["mcp", "http"])).toEqual(["isolation_none", "isolation_none"]);
    expect(await said(report("namespace", "full"), ["mcp", "http"])).toEqual(["isolation"]);
    expect(await said(report("landlock", "partial"), ["http"])).toEqual(["isolation"]);
  });

  it("says where names are asked past the gate", async () => {
    const texts: string[] = [];
    const notices = {
      say: (_code: string, text: string) => Promise.resolve(void texts.push(text)),
      tell: () => {},
      log: () => Promise.resolve(),
    };
    for (const dns of ["closed", "open"] as const)
      await sayHow(notices, { sharesUid: false, sandbox: { ...report("uid", "uid"), dns } }, [
        "http",
      ]);
    expect(texts.map((text) => text.includes("name servers"))).toEqual([false, true]);
  });

  it("says what of an agent's resources is not limited, where something holds it", async () => {
    const caps = {
      aspect: "resource_caps",
      enforcement: "partial",
      reason: "memory is not limited",
      fix: "Run it as root",
    } as const;
    expect(await said({ ...report("namespace", "full"), items: [caps] }, ["http"])).toEqual([
      "isolation",
      "resources",
    ]);
    expect(
      await said(
        { ...report("namespace", "full"), items: [{ ...caps, enforcement: "enforced" }] },
        ["http"],
      ),
    ).toEqual(["isolation"]);
    expect(await said({ ...report("env", "none"), items: [caps] }, ["http"])).toEqual([
      "isolation_none",
    ]);
  });

  it("never calls isolation what is none", async () => {
    expect(await said(report("env", "none"), ["http"])).toEqual(["isolation_none"]);
    expect(await said(report("preload", "advisory"), ["http"])).toEqual(["isolation_advisory"]);
  });
});
