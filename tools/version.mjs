// Raises the versions as the changesets say: `npm run release:version`. Changesets would raise every dependent of a changed peer to the next
// major version; all our packages move together and name core exactly, so their peers are hidden from it and put back afterwards.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { bin, packages, readManifest, root } from "./workspace.mjs";

/** @type {(dir: string, peerDependencies: import("./workspace.mjs").Table) => void} */
function writePeers(dir, peerDependencies) {
  const manifest = { ...readManifest(dir), peerDependencies };
  writeFileSync(join(dir, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

const base = process.argv[2] ?? root;
const withPeers = packages(base).filter(({ manifest }) => manifest.peerDependencies !== undefined);
for (const { dir } of withPeers) writePeers(dir, {});
const { status } = spawnSync(bin("changeset"), ["version"], { cwd: base, stdio: "inherit" });
for (const { dir, manifest } of withPeers) writePeers(dir, manifest.peerDependencies ?? {});
process.exitCode = status ?? 1;
