/**
 * `acp run` at a terminal: it is the command's, and what is typed reaches the command once.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BIN, acp } from "./harness.js";
import { openPane, words } from "./pane.js";
import { needSandbox, runWorld } from "./run-world.js";

const NAMESPACE = needSandbox("namespace");

/** Says what it has, and counts what reaches it; ends with a line. */
const AGENT = `import { createInterface } from "node:readline";
let interrupts = 0;
process.on("SIGINT", () => console.log("interrupt", ++interrupts));
process.on("SIGWINCH", () => console.log("window", process.stdout.columns));
console.log("terminal", process.stdin.isTTY, process.stdout.isTTY, process.stdout.columns);
createInterface({ input: process.stdin }).on("line", (line) => {
  console.log("line", line, "interrupts", interrupts);
  process.exit(5);
});
console.log("ready");
`;

const SANDBOXES = [...(NAMESPACE.run ? ["namespace"] : []), "env"];

describe.each(SANDBOXES)("acp run --sandbox %s at a terminal", (sandbox) => {
  it("gives the terminal to the command: Ctrl-C reaches it once, and ends nothing by itself", async () => {
    await using world = await runWorld();
    await world.write("agent.mjs", AGENT);
    const command = words(
      process.execPath,
      BIN,
      "run",
      "--home",
      world.home,
      "--sandbox",
      sandbox,
      "--",
      "node",
      "agent.mjs",
    );
    await using pane = await openPane(command, world.work);
    expect(await pane.until(/^ready$/m)).toContain("terminal true true 150");
    for (const count of [1, 2]) {
      await pane.press("C-c");
      await pane.until(new RegExp(`^(?:\\^C)?interrupt ${count}$`, "m"));
    }
    await pane.type("hello");
    const screen = await pane.until(/exit \d+/);
    expect(screen).toContain("line hello interrupts 2");
    expect(screen).toMatch(/exit 5$/m);
  });

  it("asks for the passphrase of the keys before the command has the terminal", async () => {
    await using world = await runWorld();
    const file = join(world.path, "passphrase");
    await writeFile(file, "correct horse battery\n", { mode: 0o600 });
    expect(
      await acp(["init"], { home: world.home, env: { ACP_PASSPHRASE_FILE: file } }),
    ).toMatchObject({ code: 0 });
    await world.write("agent.mjs", AGENT);
    const command = words(
      process.execPath,
      BIN,
      "run",
      "--home",
      world.home,
      "--sandbox",
      sandbox,
      "--",
      "node",
      "agent.mjs",
    );
    await using pane = await openPane(command, world.work);
    await pane.until(/Passphrase of the private key: $/m);
    await pane.type("correct horse battery");
    await pane.until(/^ready$/m);
    await pane.type("hello");
    const screen = await pane.until(/exit \d+/);
    expect(screen).toContain("line hello interrupts 0");
    expect(screen).toMatch(/exit 5$/m);
    expect(screen).not.toContain("correct horse");
  });

  it("leaves what stands in the log off the terminal", async () => {
    await using world = await runWorld();
    const command = [
      "curl",
      "-sS",
      "-o",
      "/dev/null",
      "-w",
      "status %{http_code}",
      "-X",
      "DELETE",
      `${world.origin}/items`,
    ];
    const run = words(
      process.execPath,
      BIN,
      "run",
      "--home",
      world.home,
      "--sandbox",
      sandbox,
      "--",
      ...command,
    );
    await using pane = await openPane(run, world.work);
    const screen = await pane.until(/exit \d+/);
    expect(screen).toContain("status 403");
    expect(screen).not.toContain("[policy_denied]");
  });
});
