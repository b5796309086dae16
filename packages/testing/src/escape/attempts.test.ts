import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { escapeAttempts } from "./attempts.js";

/** Programs that are compiled from a source of another name. */
const COMPILED: Readonly<Record<string, string>> = { "net-static": "net.c", int80: "i386.c" };
const NAMES = new Set(
  [
    "v4 v6 token workspace hidden sockets bin shm keyHandle patienceSeconds proxyPort",
    "victimPid victim victimAddress targetPid managerPid managerName",
    "tooManyProcesses tooMuchMemory tooMuchScratch tooManyFiles",
  ].flatMap((line) => line.split(" ")),
);

const programPath = (name: string): string =>
  fileURLToPath(new URL(`../../escape/programs/${name}`, import.meta.url));

describe("escapeAttempts", () => {
  it("are at least sixty, each with an id of its own that fits a label of a name", () => {
    expect(escapeAttempts.length).toBeGreaterThanOrEqual(60);
    expect(new Set(escapeAttempts.map(({ id }) => id)).size).toBe(escapeAttempts.length);
    for (const { id } of escapeAttempts)
      expect(`escape-${id}-12345678`).toMatch(/^[a-z][a-z0-9-]{1,62}$/);
  });

  it("are few enough for an address each", () => {
    expect(escapeAttempts.length).toBeLessThan(239);
  });

  it.each(escapeAttempts)(
    "$id runs a program of the kit with names that are filled in",
    ({ run: [program = "", ...words] }) => {
      const source = /\.\w+$/.test(program) ? program : (COMPILED[program] ?? `${program}.c`);
      expect(existsSync(programPath(source))).toBe(true);
      const names = words.flatMap((word) =>
        [...word.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name),
      );
      expect(names.filter((name) => !NAMES.has(name))).toEqual([]);
    },
  );

  it("can each be told from the others by what they send or do", () => {
    for (const { id, provenBy, run, file } of escapeAttempts) {
      if (provenBy === "arrival")
        expect([id, run.some((word) => /\{(token|v4|v6)\}/.test(word))]).toEqual([id, true]);
      if (provenBy === "change") expect([id, file]).not.toEqual([id, undefined]);
      if (provenBy === "survivor") expect([id, run.includes("{token}")]).toEqual([id, true]);
      if (provenBy === "death") expect([id, run.includes("{targetPid}")]).toEqual([id, true]);
    }
  });

  it("cover every way of being found out and every aspect", () => {
    expect(new Set(escapeAttempts.map(({ provenBy }) => provenBy)).size).toBe(6);
    expect([...new Set(escapeAttempts.flatMap(({ aspects }) => aspects))].toSorted()).toEqual(
      [
        "abstract_sockets",
        "child_processes",
        "dns",
        "files",
        "icmp",
        "io_uring",
        "ipv6",
        "path_sockets",
      ].concat(["raw", "resource_caps", "signals", "static_binaries", "tcp", "udp", "vsock"]),
    );
  });
});
