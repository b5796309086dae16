import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { coverInherited, inheritedDescriptors } from "./descriptors.js";

describe("inheritedDescriptors()", () => {
  it("leaves out what Node opened, and finds what Node was started with", () => {
    const fd = openSync("/etc/passwd", "r");
    expect(inheritedDescriptors()).not.toContain(fd);
    const module = fileURLToPath(new URL("descriptors.ts", import.meta.url));
    const program = `import(${JSON.stringify(module)}).then((m) => console.log(JSON.stringify(m.inheritedDescriptors())))`;
    const known = inheritedDescriptors();
    // Node closes (on exec) the first it was started with, up to the first gap after 15.
    const stdio = Array.from({ length: 41 }, (_, at) =>
      at < 3 ? "pipe" : at === 7 || at === 40 ? fd : "ignore",
    ) as ("pipe" | number)[];
    const { stdout } = spawnSync(process.execPath, ["--import", "tsx", "-e", program], {
      stdio,
      encoding: "utf8",
    });
    closeSync(fd);
    expect(JSON.parse(stdout)).toEqual([...new Set([40, ...known])].sort((a, b) => a - b));
  });
});

describe("coverInherited()", () => {
  it("puts an empty file where an inherited descriptor would be, and closes its own", async () => {
    const before = readdirSync("/proc/self/fd").length;
    const list =
      "for (const fd of [3, 5, 11]) try { console.log(fd, require('fs').readlinkSync('/proc/self/fd/' + fd)) } catch { console.log(fd, 'none') }";
    const child = coverInherited(
      ["ignore", "pipe", "inherit", "pipe"],
      (stdio) => spawn(process.execPath, ["-e", list], { stdio }),
      [3, 11],
    );
    let text = "";
    child.stdout?.on("data", (chunk) => (text += String(chunk)));
    await once(child, "close");
    const lines = Object.fromEntries(
      text
        .trim()
        .split("\n")
        .map((line) => line.split(" ")),
    );
    expect(lines["3"]).toMatch(/^socket:/u);
    expect(lines["11"]).toBe("/dev/null");
    expect(readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(before + 1);
  });

  it("changes nothing where nothing is inherited", () => {
    expect(coverInherited(["inherit", "pipe"], (stdio) => stdio, [])).toEqual(["inherit", "pipe"]);
  });
});
