/** More of the terminal front in real pseudo-terminals: edits, queues, time, a terminal that is full. */
import { describe, expect, it } from "vitest";
import { desk, gateProcess } from "./asking-gates.js";
import { temporaryHome } from "./temporary-home.js";
import { whyNoTmux } from "./tmux.js";

const suite = whyNoTmux === undefined ? describe : describe.skip;

suite(`terminal channel in a pseudo-terminal, further${whyNoTmux === undefined ? "" : `, skipped: ${whyNoTmux}`}`, () => {
  it("edits the arguments, shows the difference, and wants a yes for it", async () => {
    await using kit = await desk();
    const verdict = kit.ask("write_file", { path: "a", content: "hello" });
    await kit.pane.prompts();
    await kit.pane.answer("e");
    await kit.pane.shows("Enter all arguments as one JSON object");
    kit.pane.type('{\n  "path": "b",\n  "content": "hello"\n}\n\n');
    await kit.pane.shows('│ + path: "b"');
    await kit.pane.shows(/Type yes to allow the call with these changes >$/);
    await kit.pane.answer("yes");
    expect(await verdict).toMatchObject({
      decision: "allow",
      code: "consent_modified",
      action: { args: { path: "b", content: "hello" } },
    });
    expect(kit.pane.screen()).toContain('│ - path: "a"');
  });

  it("queues two questions and answers each for itself", async () => {
    await using kit = await desk();
    const first = kit.ask("first_tool", { n: 1 });
    const second = kit.ask("second_tool", { n: 2 });
    await kit.pane.shows("· 1 more waiting");
    await kit.pane.prompts();
    await kit.pane.answer("d");
    await kit.pane.shows("an empty line gives no reason");
    kit.pane.press("Enter");
    expect((await first).code).toBe("consent_denied");
    await kit.pane.shows(/second_tool on files[^]*\n>$/);
    await kit.pane.answer("a");
    expect((await second).code).toBe("consent_approved");
  });

  it("asks each of several questions that follow at once", async () => {
    await using kit = await desk();
    for (const tool of ["first_tool", "second_tool", "third_tool"]) {
      const verdict = kit.ask(tool, {});
      await kit.pane.shows(new RegExp(`${tool} on files[^]*\n>$`));
      await kit.pane.answer("a");
      expect((await verdict).code).toBe("consent_approved");
    }
  });

  it("counts down in place, and takes an expired question away", async () => {
    await using kit = await desk();
    const verdict = kit.ask("write_file", { path: "a" }, { timeoutMs: 6_000 });
    const shown = await kit.pane.shows(/\d:\d\d left$/m);
    const first = /(\d:\d\d) left$/m.exec(shown)?.[1] ?? "none";
    // A busy machine may leave seconds out.
    await kit.pane.shows(new RegExp(`(?!${first})\\d:\\d\\d left$`, "m"));
    expect((await verdict).code).toBe("consent_expired");
    const text = await kit.pane.shows("expired: nobody answered in time, the call was denied");
    expect(text.match(/ left$/gm)).toHaveLength(1);
  });

  it("goes on deciding while its terminal takes nothing", async () => {
    await using home = await temporaryHome();
    const { pane, verdicts } = await gateProcess(home, [
      { tool: "write_file", args: {}, timeoutMs: 4_000 },
    ]);
    await using stopped = pane;
    await stopped.prompts();
    stopped.press("C-s");
    expect(await verdicts(1)).toMatchObject([{ decision: "deny", code: "consent_expired" }]);
    stopped.press("C-q");
  });
});
