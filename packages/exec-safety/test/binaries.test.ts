import { describe, expect, it } from "vitest";
import { BINARIES, TABLES } from "../src/tables/binaries.js";
import { grammarOf } from "../src/tables/grammar.js";
import type { Binary, BinaryTable } from "../src/tables/table.js";
import { evaluateCommandSafety } from "../src/evaluate.js";

function entriesOf(table: BinaryTable, before = ""): readonly (readonly [string, Binary])[] {
  return Object.entries(table).flatMap(([name, binary]) => [
    [`${before}${name}`, binary] as const,
    ...entriesOf(binary.subcommands ?? {}, `${before}${name} `),
  ]);
}

const ENTRIES = entriesOf(BINARIES);

describe("tables of programs", () => {
  it("name every program once", () => {
    const names = TABLES.flatMap((table) => Object.keys(table));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it("know the everyday programs, and what they may do besides reading", () => {
    const names = `git find fd sed awk rg grep sort uniq head tail wc cut tr paste nl fold comm column rev tac xxd od hexdump strings base64 openssl
      iconv jq yq tree file date hostname dmesg history less more man vi ed echo printf read let declare unset mapfile wait compgen jobs hash
      enable complete bind trap alias export set shopt type which command tar zip unzip rsync cpio 7z node python python3 ruby perl php lua deno bun
      Rscript osascript npm pnpm yarn pip cargo go make gradle mvn tsc eslint jest pytest docker kubectl gh aws terraform helm psql redis-cli curl
      wget nc ssh scp ping dig host nslookup whois http cp mv ln mkdir touch rm chmod chown install truncate split csplit tee dd patch kill env
      printenv ps ls cat stat du df basename dirname realpath readlink diff cmp pwd whoami id uname uptime free nproc sleep seq true false`;
    expect(names.split(/\s+/).filter((name) => !Object.hasOwn(BINARIES, name))).toEqual([]);
  });

  it.each(ENTRIES)("%s can be read", (_name, binary) => {
    expect(() => grammarOf(binary)).not.toThrow();
  });

  it.each(ENTRIES)("%s has examples", (_name, { examples }) => {
    expect(examples.safe.length + examples.review.length).toBeGreaterThan(0);
  });

  it.each(ENTRIES.flatMap(([, { examples }]) => examples.safe))("%s is safe", (line) => {
    const { riskLevel, reasons } = evaluateCommandSafety(line);
    expect({ riskLevel, reasons: reasons.map(({ message }) => message) }).toEqual({
      riskLevel: "safe",
      reasons: [],
    });
  });

  it.each(ENTRIES.flatMap(([, { examples }]) => examples.review))("%s is not safe", (line) => {
    const { riskLevel, reasons } = evaluateCommandSafety(line);
    expect(riskLevel).not.toBe("safe");
    expect(reasons.length).toBeGreaterThan(0);
  });
});
