/** The terminal front and an attached second terminal, in real pseudo-terminals. */
import { describe, expect, it } from "vitest";
import { desk, gateProcess, runTypeScript } from "./asking-gates.js";
import { temporaryHome } from "./temporary-home.js";
import { openPane, whyNoTmux } from "./tmux.js";

const suite = whyNoTmux === undefined ? describe : describe.skip;

suite(`terminal channel in a pseudo-terminal${whyNoTmux === undefined ? "" : `, skipped: ${whyNoTmux}`}`, () => {
  it("asks on the controlling terminal of its process, and approves", async () => {
    await using home = await temporaryHome();
    const { pane, verdicts } = await gateProcess(home, [
      { tool: "write_file", args: { path: "/tmp/a", content: "hello" } },
    ]);
    await using shown = pane;
    const text = await shown.shows('"path": "/tmp/a"');
    expect(text).toContain("── MEDIUM ──");
    expect(text).toContain("│ Rule:  ask_all");
    await shown.prompts();
    await shown.answer("a");
    expect(await verdicts(1)).toEqual([
      expect.objectContaining({
        tool: "write_file",
        decision: "allow",
        code: "consent_approved",
        args: { path: "/tmp/a", content: "hello" },
      }),
    ]);
  });

  it("denies with the reason typed", async () => {
    await using kit = await desk();
    const verdict = kit.ask("write_file", { path: "a" });
    await kit.pane.prompts();
    await kit.pane.answer("d not in working hours");
    const denied = await verdict;
    expect(denied.code).toBe("consent_denied");
    expect(denied.reason).toContain("not in working hours");
  });

  it("takes no paste for an answer, whatever it begins with, and takes what is typed after it", async () => {
    await using kit = await desk();
    const verdict = kit.ask("write_file", { path: "a" }, { level: "critical" });
    await kit.pane.prompts();
    for (const [index, text] of ["a\nnpm test\n", "approve\n", "approve"].entries()) {
      kit.pane.paste(text);
      await kit.pane.shows(new RegExp(`(ignored what was pasted[^]*){${index + 1}}\\n>$`));
    }
    await kit.pane.answer("approve");
    expect((await verdict).code).toBe("consent_approved");
  });

  it("lets no key typed before the prompt answer it, finished line or not", async () => {
    await using kit = await desk();
    kit.pane.type("a\napprove\na");
    const verdict = kit.ask("write_file", { path: "a" }, { level: "critical" });
    await kit.pane.shows("press Enter to begin");
    kit.pane.type("pprove");
    kit.pane.press("Enter");
    await kit.pane.prompts();
    await kit.pane.answer("d no");
    expect((await verdict).code).toBe("consent_denied");
  });

  it("lets no key meant for a question that ended answer the next one", async () => {
    await using kit = await desk();
    const first = kit.ask("first_tool", { n: 1 }, { timeoutMs: 2_000 });
    const second = kit.ask("second_tool", { n: 2 });
    await kit.pane.prompts();
    kit.pane.type("a");
    expect((await first).code).toBe("consent_expired");
    kit.pane.press("Enter");
    await kit.pane.shows(/second_tool on files[^]*\n>$/);
    kit.pane.press("Enter");
    await kit.pane.shows("An empty line decides nothing");
    await kit.pane.prompts();
    await kit.pane.answer("d no");
    expect((await second).code).toBe("consent_denied");
  });

  it("takes neither the end of the input nor a hang-up for an answer, and the gate lives on", async () => {
    await using kit = await desk();
    const first = kit.ask("first_tool", { n: 1 }, { timeoutMs: 4_000 });
    await kit.pane.prompts();
    kit.pane.press("C-d");
    expect((await first).code).toBe("consent_expired");
    const second = kit.ask("second_tool", { n: 2 }, { timeoutMs: 4_000 });
    await kit.pane.shows(/second_tool on files[^]*\n>$/);
    kit.pane.hangUp();
    expect((await second).code).toBe("consent_expired");
    expect((await kit.ask("third_tool", {})).code).toBe("channel_unavailable");
  });

  it("does not ask from the background of its terminal, where the system would stop it", async () => {
    await using home = await temporaryHome();
    const { pane, verdicts } = await gateProcess(home, [{ tool: "write_file", args: {} }], {
      inBackground: true,
    });
    await using shown = pane;
    expect(await verdicts(1)).toMatchObject([{ decision: "deny", code: "channel_unavailable" }]);
    expect(shown.screen()).not.toContain("write_file");
  });

  it("answers from a second terminal that attached through the socket", async () => {
    await using home = await temporaryHome();
    const call = { tool: "write_file", args: { path: "/tmp/a" }, timeoutMs: 30_000 };
    await using approver = await openPane({
      command: `sh -c "${runTypeScript("approver", home.run)}"`,
      directory: home.path,
    });
    await approver.shows("There are no open questions");
    const { pane, verdicts } = await gateProcess(home, [call, { ...call, tool: "other_tool" }], {
      terminal: false,
      socketPath: home.socketPath,
      waitForClient: true,
    });
    await using quiet = pane;
    await approver.prompts();
    await approver.answer("a");
    await approver.shows("→ approved");
    await approver.shows(/other_tool on files[^]*\n>$/);
    await approver.answer("d no");
    expect(await verdicts(2)).toMatchObject([
      { tool: "write_file", decision: "allow" },
      { tool: "other_tool", decision: "deny", code: "consent_denied" },
    ]);
    expect(quiet.bytes().toString("utf8")).not.toContain("write_file");
    approver.press("C-d");
    await approver.shows("ended: input_over");
  });

  it.each([80, 100, 137])(
    "writes nothing of an agent's text that could act on a terminal of %i columns",
    async (columns) => {
      await using kit = await desk({ columns });
      const hostile = [
        "\u001b[2J\u001b[H",
        "\u001b]0;owned\u0007",
        "\u001b]52;c;ZXZpbA==\u001b\\",
        "\u009b1A\u009d0;x\u009c",
        "visible\rHIDDEN",
        "back\b\b\b\b",
        "\u0000\u007f\u0085",
        "\u202egnp.exe\u2066\u2069",
        "zero\u200bwidth\ufeff\u00ad",
        "\u{e0041}\u{e0042}",
        "line\u2028separator\u2029",
        `pad${" ".repeat(columns - 12)}Risk:  low (read)`,
        "\u001b7\u001b[1A> approve\u001b8",
        "a\u0300\u0301\u0302\u0303\u0304\u0305\u0306",
      ];
      const args = Object.fromEntries(
        hostile.map((text, index) => [`${text}${index}`, [text, { [text]: text }]]),
      );
      // A name has at most 256 characters: the padding, which is as wide as the terminal, is for
      // the arguments.
      const agentName = `good${hostile.join("")}`.replace(/ +(?=Risk:)/, " ");
      const verdict = kit.ask("write_file", args, { agentName });
      await kit.pane.prompts();
      await kit.pane.answer("v");
      await kit.pane.shows(/── the question as JSON ──[^]*\n>$/);
      await kit.pane.answer("e");
      await kit.pane.shows("Enter all arguments");
      kit.pane.type('{"x": "\\u001b[2J"}\n\n');
      await kit.pane.shows(/these changes >$/);
      kit.pane.press("Enter");
      await kit.pane.prompts();
      await kit.pane.answer("d no");
      await verdict;
      await kit.pane.shows("→ denied");
      const ours = kit.pane
        .bytes()
        .toString("utf8")
        .replaceAll(/\u001b7\u001b\[1A\r\u001b\[2K[0-9:]+ left\u001b8/g, "")
        .replaceAll(/\u001b\[\?2004[hl]/g, "")
        .replaceAll("\r\n", "\n");
      expect(ours).not.toMatch(/[\p{C}\p{Zl}\p{Zp}](?<!\n)/u);
      expect(ours.match(/Risk:  low/g)?.length).toBeGreaterThan(3);
      for (const row of ours.split("\n").filter((line) => line.includes("Risk:  low")))
        expect(row).toMatch(/^│ /);
      const screen = kit.pane.screen().split("\n");
      expect(screen.filter((row) => row.startsWith("Risk"))).toEqual([]);
    },
  );
});
