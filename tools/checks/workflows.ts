/**
 * What runs in CI with rights of the project: every action is pinned by its digest, and a release
 * carries provenance and needs no stored token. Read as text: a line that this check does not
 * understand is one that it refuses.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gitFiles } from "../workspace.mjs";
import type { Check } from "./check.js";

const RELEASE = ".github/workflows/release.yml";
const PUBLISHES = "      - run: node tools/release/publish.mjs --provenance";

/** What the release must say, as whole lines. */
const WANTED: Readonly<Record<string, string>> = {
  '    tags: ["v*"]': "must start on a tag",
  "      id-token: write": "needs the identity that provenance and the registry's trust are about",
  "    environment: release": "must wait for the environment that the owner protects",
  "      - run: node tools/release/publish.mjs --only-ask":
    "must ask first whether anything may be released",
  "      - run: .ci/run": "must test what it publishes",
  [PUBLISHES]: "must publish with provenance",
};

const PINNED = /^\s*(?:- )?uses: (?:\.\/\S+|[\w./-]+@[0-9a-f]{40}(?: # \S+)?)$/;

function lineProblems(file: string, lines: readonly string[]): string[] {
  return lines.flatMap((line, index) => [
    ...(/\buses:/.test(line) && !PINNED.test(line)
      ? [`${file}:${index + 1}: the action must be pinned by its digest`]
      : []),
    ...(/secrets\.|_TOKEN\b|_authToken/.test(line)
      ? [`${file}:${index + 1}: uses a stored secret`]
      : []),
    ...(/\b(?:npm|pnpm|yarn|bun)\b.*\bpublish\b/.test(line)
      ? [`${file}:${index + 1}: publishes beside tools/release/publish.mjs`]
      : []),
  ]);
}

function releaseProblems(root: string): string[] {
  if (!existsSync(join(root, RELEASE))) return [`${RELEASE}: is missing`];
  const lines = readFileSync(join(root, RELEASE), "utf8").split("\n");
  const missing = Object.entries(WANTED).flatMap(([line, why]) =>
    lines.includes(line) ? [] : [`${RELEASE}: ${why}: "${line.trim()}"`],
  );
  const steps = Object.keys(WANTED).filter((line) => line.startsWith("      - run: "));
  const found = lines.filter((line) => steps.includes(line));
  const isInOrder = missing.length > 0 || found.join("\n") === steps.join("\n");
  return isInOrder ? missing : [`${RELEASE}: must ask, test and publish once each, in this order`];
}

export const workflows: Check = {
  name: "workflows",
  remedy:
    "Pin the action with the commit of its release and the version as a comment; CONTRIBUTING.md, Releases, says what a release does",
  run({ root }) {
    const files = gitFiles(root).filter((file) => /^\.github\/.*\.ya?ml$/.test(file));
    const lines = files.flatMap((file) =>
      lineProblems(file, readFileSync(join(root, file), "utf8").split("\n")),
    );
    return { problems: [...lines, ...releaseProblems(root)] };
  },
};
