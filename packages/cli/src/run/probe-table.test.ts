import { describe, expect, it } from "vitest";
import type { SandboxReport } from "@acp/core";
import { renderReports } from "./probe-table.js";

const REPORTS: readonly SandboxReport[] = [
  {
    sandbox: "namespace",
    isAvailable: false,
    level: "none",
    reason: "bubblewrap is missing",
    fix: "apt-get install bubblewrap",
    dns: "closed",
    items: [{ aspect: "tcp", enforcement: "none", reason: "it cannot start" }],
  },
  {
    sandbox: "landlock",
    isAvailable: true,
    level: "partial",
    reason: "one way remains",
    fix: "use another",
    dns: "closed",
    items: [
      {
        aspect: "tcp",
        enforcement: "partial",
        reason: "the same port elsewhere",
        fix: "use namespace",
      },
      { aspect: "path_sockets", enforcement: "enforced", reason: "refused" },
      { aspect: "files", enforcement: "none", reason: "nothing holds it", fix: "use another" },
      { aspect: "io_uring", enforcement: "none", reason: "nothing holds it", fix: "use another" },
    ],
  },
];

describe("renderReports()", () => {
  it("says who can start, what each enforces, and why what is not enforced is not", () => {
    expect(renderReports(REPORTS, { tone: (_tone, text) => text })).toEqual([
      "sandbox    level    can start",
      "namespace  none     no",
      "landlock   partial  yes",
      "",
      "namespace: bubblewrap is missing",
      "  fix: apt-get install bubblewrap",
      "landlock: one way remains",
      "  fix: use another",
      "",
      "              landlock",
      "tcp           partial",
      "path sockets  enforced",
      "files         none",
      "io uring      none",
      "",
      "What landlock does not hold:",
      "  tcp (partial): the same port elsewhere",
      "    fix: use namespace",
      "  files, io uring (none): nothing holds it",
    ]);
  });

  it("is as wide with colours as without", () => {
    const plain = renderReports(REPORTS, { tone: (_tone, text) => text });
    const marked = renderReports(REPORTS, { tone: (tone, text) => `<${tone}>${text}</${tone}>` });
    expect(marked.map((line) => line.replaceAll(/<[^>]+>/g, ""))).toEqual(plain);
    expect(marked.join("\n")).toContain("<yellow>partial</yellow>");
  });
});
