// Raises the versions and writes CHANGELOG.md as the changesets say: `npm run release:version`.
// Changesets would raise every dependent of a changed peer to the next major version; all our
// packages move together and name core exactly, so their peers are hidden from it and put back
// afterwards.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { addSection, makeSection, readChangesets } from "./changelog.mjs";
import { stopUnlessReady } from "./release/problems.mjs";
import { bin, packages, readManifest, root } from "./workspace.mjs";

/** @type {(dir: string, peerDependencies: import("./workspace.mjs").Table) => void} */
function writePeers(dir, peerDependencies) {
  const manifest = { ...readManifest(dir), peerDependencies };
  writeFileSync(join(dir, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

/** @param {string} base */
const versionOf = (base) => packages(base)[0]?.manifest.version ?? "";

const base = process.argv[2] ?? root;
stopUnlessReady(base);
const changes = readChangesets(base);
const before = versionOf(base);
const withPeers = packages(base).filter(({ manifest }) => manifest.peerDependencies !== undefined);
for (const { dir } of withPeers) writePeers(dir, {});
const { status } = spawnSync(bin("changeset"), ["version"], { cwd: base, stdio: "inherit" });
for (const { dir, manifest } of withPeers) writePeers(dir, manifest.peerDependencies ?? {});
if (status === 0 && changes.length > 0)
  addSection(base, makeSection(versionOf(base), changes, before === "0.0.0"));
process.exitCode = status ?? 1;
