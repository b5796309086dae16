import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { sample } from "./checks/sample.js";
import { readJson, readManifest, root as home } from "./workspace.mjs";

it("version raises all packages together by what the changeset says, and keeps their peers", () => {
  const manifest = (name: string, extra: object = {}): object => ({
    name,
    version: "0.1.0",
    ...extra,
  });
  const peerDependencies = { "@acp/core": "workspace:*" };
  const root = sample({
    "package.json": {
      name: "acp",
      private: true,
      packageManager: "pnpm@10.0.0",
      repository: { type: "git", url: "git+https://github.com/ada/acp.git" },
    },
    "SECURITY.md": "## Reporting\n\nWrite to security@ada.example.\n",
    "pnpm-workspace.yaml": "packages:\n  - packages/*\n",
    ".changeset/config.json": readJson(join(home, ".changeset/config.json")),
    ".changeset/a.md": '---\n"@acp/core": minor\n---\n\nNew.\n',
    "packages/core/package.json": manifest("@acp/core"),
    "packages/audit/package.json": manifest("@acp/audit", { peerDependencies }),
  });
  expect(
    spawnSync(process.execPath, [join(home, "tools/version.mjs"), root], { encoding: "utf8" })
      .status,
  ).toBe(0);
  expect(readManifest(join(root, "packages/core"))).toEqual({
    name: "@acp/core",
    version: "0.2.0",
  });
  expect(readManifest(join(root, "packages/audit"))).toEqual({
    name: "@acp/audit",
    version: "0.2.0",
    peerDependencies,
  });
  expect(readFileSync(join(root, "CHANGELOG.md"), "utf8")).toMatch(
    /^# Changelog\n[\s\S]*\n## 0\.2\.0\n[\s\S]*\n- New\.\n$/,
  );
});
