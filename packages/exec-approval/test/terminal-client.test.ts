/** The terminal client: what a person sees, what they type, and what the hub gets of it. */
import { hidingCharactersIn } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { until } from "./support/world.js";
import { DANGEROUS, OK, openTerminal } from "./support/terminal.js";

const REVIEW_KEYS = "o allow once · a allow always · d deny · n next";
const DANGEROUS_KEYS = "approve (the whole word) allow once · d deny · n next";

describe("a request on the screen", () => {
  it("is shown whole: command, directory, agent, level, reasons, time left and keys", async () => {
    await using terminal = await openTerminal();
    await terminal.show({ command: "npm test\nnpm run build", cwd: "/a b", agentId: "coder" });
    await terminal.sees("> ");
    for (const text of [
      "── NEEDS-REVIEW ──",
      "│ npm test\n│ npm run build\n",
      "│ /a b\n",
      "│ coder\n",
      "│ - `npm` is not proven",
      REVIEW_KEYS,
    ])
      expect(terminal.screen()).toContain(text);
    expect(terminal.screen()).toMatch(/\n(1:00|0:5\d) left\n> $/);
  });

  it("hides nothing: not the end of a long command, and no character of any", async () => {
    await using terminal = await openTerminal();
    const characters =
      "\u0000\u0008\r\u001b\u007f\u0085\u00a0\u00ad\u200b\u200e\u202e\u2028\u2066\u2800\u3164\ufeff\u{e0041}";
    await terminal.show({
      command: `echo start ${characters}\n${"y".repeat(50_000)} # the end`,
      riskReasons: ["\u001b[2J a reason"],
      cwd: "/\u202e",
      agentId: "\u001b[8m",
    });
    await terminal.sees("> ");
    const screen = terminal.screen();
    expect(hidingCharactersIn(screen)).toEqual([]);
    expect(screen).toContain("\\u0000\\u0008\\u000d\\u001b\\u007f");
    expect(screen).toContain("\\u001b[2J a reason");
    expect(screen.replaceAll("\n│ ↪ ", "")).toContain(`${"y".repeat(50_000)} # the end`);
    expect(screen).toMatch(/── end of a command of \d+ rows · NEEDS-REVIEW ──/);
  });

  it("has colours and a running clock on a terminal alone", async () => {
    await using plain = await openTerminal();
    await plain.show();
    await plain.sees("> ");
    expect(plain.screen()).not.toContain("\u001b");
    await using terminal = await openTerminal({ isTTY: true });
    await terminal.show(DANGEROUS);
    await terminal.sees("\u001b[31m── DANGEROUS ──");
    await terminal.sees("\u001b7\u001b[1A\r\u001b[2K");
  });
});

describe("what a person types", () => {
  it.each([
    ["o", "allow-once"],
    ["once", "allow-once"],
    ["a", "allow-always"],
    ["always", "allow-always"],
    ["d", "deny"],
    ["deny", "deny"],
    ["  o  ", "allow-once"],
  ])("%j decides %s", async (typed, decision) => {
    await using terminal = await openTerminal();
    const { approvalId } = await terminal.show();
    await terminal.sees("> ");
    terminal.type(`${typed}\n`);
    await terminal.sees(decision === "deny" ? "→ denied" : "→ allowed");
    expect(terminal.answers).toEqual([{ approvalId, decision }]);
  });

  it.each(["", "y", "yes", "ok", "O", "oo", "approve", "allow", "o d", "\u001b[A"])(
    "%j decides nothing",
    async (typed) => {
      await using terminal = await openTerminal();
      const { approvalId } = await terminal.show();
      await terminal.sees("> ");
      terminal.type(`${typed}\nd\n`);
      await terminal.sees("→ denied");
      expect(terminal.answers).toEqual([{ approvalId, decision: "deny" }]);
    },
  );

  it.each(["o", "once", "a", "always", "y", "Approve", "approve it", "approv"])(
    "%j does not allow what is dangerous; the whole word does",
    async (typed) => {
      await using terminal = await openTerminal();
      const { approvalId } = await terminal.show(DANGEROUS);
      await terminal.sees(DANGEROUS_KEYS);
      terminal.type(`${typed}\napprove\n`);
      await terminal.sees("→ allowed");
      expect(terminal.answers).toEqual([
        { approvalId, decision: "allow-once", confirmation: "approve" },
      ]);
    },
  );

  it.each(["o\n", "a\nmore\n", "o"])(
    "%j decides nothing where it is pasted: a terminal marks that",
    async (pasted) => {
      await using terminal = await openTerminal({ isTTY: true, guardMs: 50 });
      const { approvalId } = await terminal.show();
      await terminal.sees("\u001b[?2004h");
      await terminal.sees("> ");
      terminal.type(`\u001b[200~${pasted}\u001b[201~\n`);
      await terminal.sees("Unknown: ");
      await terminal.sees(/2004h[^]*2004l[^]*2004h[^]*> $/);
      expect(terminal.answers).toEqual([]);
      terminal.type("d\n");
      await terminal.sees("→ denied");
      expect(terminal.answers).toEqual([{ approvalId, decision: "deny" }]);
    },
  );

  it("is told what was stored, and what else the hub says", async () => {
    await using terminal = await openTerminal();
    terminal.reply = {
      ok: true,
      payload: { ok: true, stored: "npm **", note: "said \u001b[1mso" },
    };
    await terminal.show();
    await terminal.sees("> ");
    terminal.type("a\n");
    await terminal.sees("in the allowlist from now on: npm **");
    await terminal.sees("said \\u001b[1mso");
  });

  it("may be said again where it was not taken", async () => {
    await using terminal = await openTerminal();
    terminal.reply = { ok: false, error: { code: "REFUSED", message: "not now" } };
    await terminal.show();
    await terminal.sees("> ");
    terminal.type("o\n");
    await terminal.sees("Not accepted: not now (REFUSED)");
    terminal.reply = OK;
    terminal.type("d\n");
    await terminal.sees("→ denied");
    expect(terminal.answers).toHaveLength(2);
  });

  it("on a terminal before the prompt is thrown away, a line that was begun early to its end", async () => {
    await using terminal = await openTerminal({ isTTY: true, guardMs: 300 });
    await terminal.sees("Nothing is waiting");
    terminal.type("o\n");
    await terminal.show();
    await terminal.sees("(ignored what was typed before this prompt)");
    await terminal.sees("> ");
    expect(terminal.answers).toEqual([]);
    terminal.type("d\n");
    await terminal.sees("→ denied");
    await terminal.sees(/Nothing is waiting[^]*Nothing is waiting/);
    terminal.type("o");
    await terminal.show();
    await terminal.sees("press Enter to begin");
    terminal.type("nce\n");
    await terminal.sees(/→ denied[^]*> $/);
    terminal.type("d\n");
    await until(() => expect(terminal.answers).toHaveLength(2));
    expect(terminal.answers).toEqual([
      expect.objectContaining({ decision: "deny" }),
      expect.objectContaining({ decision: "deny" }),
    ]);
  });
});

describe("several requests", () => {
  it("come one after the other, may be put off, and each answer is for the one on the screen", async () => {
    await using terminal = await openTerminal();
    const first = await terminal.show({ command: "first" });
    await terminal.sees("│ first");
    const second = await terminal.show({ command: "second" });
    terminal.type("n\n");
    await terminal.sees("│ second");
    await terminal.sees("1 more waiting");
    terminal.type("d\n");
    await terminal.sees(/→ denied[^]*│ first[^]*> $/);
    terminal.type("o\n");
    await terminal.sees("→ allowed");
    expect(terminal.answers).toEqual([
      { approvalId: second.approvalId, decision: "deny" },
      { approvalId: first.approvalId, decision: "allow-once" },
    ]);
  });

  it("that end elsewhere are marked, and the next one is asked about", async () => {
    await using terminal = await openTerminal();
    const first = await terminal.show({ command: "first" });
    await terminal.show({ command: "second" });
    await terminal.sees("│ first");
    await terminal.over(first.approvalId, "allowed");
    await terminal.sees("· first: allowed elsewhere");
    await terminal.sees("│ second");
    await terminal.sees(/│ second[^]*> $/);
    terminal.type("d\n");
    await terminal.sees("→ denied");
    expect(terminal.answers).toHaveLength(1);
  });

  it("are shown once, though the hub sends them again", async () => {
    await using terminal = await openTerminal();
    const payload = await terminal.show({ command: "only" });
    await terminal.sees("> ");
    await terminal.show(payload);
    terminal.type("d\n");
    await terminal.sees("Nothing is waiting");
    await terminal.show(payload);
    await terminal.show({ command: "other" });
    await terminal.sees("│ other");
    expect(terminal.screen().split("│ only")).toHaveLength(2);
  });

  it("of another hub are not shown", async () => {
    await using terminal = await openTerminal({ hubDeviceId: "stranger-hub" });
    await terminal.show();
    await terminal.sees("Nothing is waiting");
    expect(terminal.screen()).not.toContain("NEEDS-REVIEW");
  });
});

describe("the end", () => {
  it("of the input is no answer", async () => {
    await using terminal = await openTerminal();
    await terminal.show();
    await terminal.sees("> ");
    terminal.type("o"); // a line without its end
    terminal.endInput();
    expect(await terminal.end).toBe("input_over");
    expect(terminal.answers).toEqual([]);
  });

  it("comes with the signal, and when the gateway turns the device away", async () => {
    await using terminal = await openTerminal();
    terminal.stop();
    expect(await terminal.end).toBe("aborted");
    await using other = await openTerminal();
    await other.world.device("phone").connect(); // the same device elsewhere
    expect(await other.end).toBe("gateway_gone");
  });
});
