/**
 * Registry double: a package registry on loopback that speaks what npm publishes about its
 * protocol, packuments and archives. Packages can be told to lie.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** A package that a test writes. */
export interface WrittenPackage {
  readonly manifest: Readonly<Record<string, unknown>> & {
    readonly name: string;
    readonly version: string;
  };
  /** Name → text. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A registry that listens. */
export interface RegistryDouble {
  /** Its address. */
  readonly url: string;
  /** Path of each request. */
  readonly requests: readonly string[];
  /**
   * Publishes packages; a version that is there is replaced, as an attacker who has the registry
   * would.
   */
  publish(...packages: readonly WrittenPackage[]): void;
  /** Publishes directories as they are. */
  publishDirectories(directories: readonly string[]): void;
  /** Changes what is said of a version. */
  lie(
    name: string,
    version: string,
    change: (dist: Record<string, string>, manifest: Record<string, unknown>) => void,
  ): void;
  /** Changes the bytes of an archive, and not what is said of them. */
  tamper(name: string, version: string): void;
  /** Switches it off. */
  close(): Promise<void>;
}

interface Version {
  readonly manifest: Record<string, unknown>;
  readonly dist: Record<string, string>;
  readonly file: string;
}

/** Opens one. */
export async function openRegistryDouble(): Promise<RegistryDouble> {
  const scratch = mkdtempSync(join(tmpdir(), "acp-registry-"));
  onTestFinished(() => rmSync(scratch, { recursive: true, force: true }));
  const versions = new Map<string, Map<string, Version>>();
  const archives = new Map<string, Buffer>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "/");
    requests.push(path);
    const archive = archives.get(path);
    if (archive !== undefined) return void response.end(archive);
    const found = versions.get(path.slice(1));
    if (found === undefined)
      return void response.writeHead(404).end(JSON.stringify({ error: "not_found" }));
    response.setHeader("content-type", "application/json");
    const all = Object.fromEntries(
      [...found].map(([version, { manifest, dist }]) => [version, { ...manifest, dist }]),
    );
    response.end(
      JSON.stringify({
        name: path.slice(1),
        "dist-tags": { latest: [...found.keys()].at(-1) },
        versions: all,
      }),
    );
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  onTestFinished(close);

  const publishDirectories = (directories: readonly string[]): void => {
    for (const directory of directories) {
      const file = join(mkdtempSync(join(scratch, "packed-")), "package.tgz");
      const args = [
        "-czf",
        file,
        "--hard-dereference",
        "--exclude=./node_modules",
        "--transform=s,^\\.,package,",
        "-C",
        directory,
        ".",
      ];
      if (spawnSync("tar", args).status !== 0) throw new Error(`Cannot pack ${directory}`);
      add(directory, file);
    }
  };
  const add = (directory: string, file: string): void => {
    const manifest = JSON.parse(
      readFileSync(join(directory, "package.json"), "utf8"),
    ) as WrittenPackage["manifest"];
    const bytes = readFileSync(file);
    const path = `/${manifest.name}/-/${manifest.name.split("/").at(-1)}-${manifest.version}.tgz`;
    archives.set(path, bytes);
    const { scripts = {} } = manifest as { readonly scripts?: Record<string, string> };
    const hasInstallScript = ["preinstall", "install", "postinstall"].some(
      (each) => each in scripts,
    );
    const dist = { tarball: `${url}${path.slice(1)}`, ...sumsOf(bytes) };
    const known = versions.get(manifest.name) ?? new Map<string, Version>();
    versions.set(
      manifest.name,
      known.set(manifest.version, {
        manifest: { ...manifest, ...(hasInstallScript && { hasInstallScript }) },
        dist,
        file: path,
      }),
    );
  };
  const find = (name: string, version: string): Version => {
    const found = versions.get(name)?.get(version);
    if (found === undefined) throw new Error(`There is no ${name}@${version}`);
    return found;
  };
  return {
    url,
    requests,
    close,
    publishDirectories,
    publish(...packages) {
      const directories = packages.map(({ manifest, files = {} }) => {
        const directory = mkdtempSync(join(scratch, "source-"));
        for (const [name, text] of Object.entries({
          "package.json": JSON.stringify(manifest),
          ...files,
        })) {
          mkdirSync(dirname(join(directory, name)), { recursive: true });
          writeFileSync(join(directory, name), text, { mode: 0o755 });
        }
        return directory;
      });
      publishDirectories(directories);
    },
    lie(name, version, change) {
      const { dist, manifest } = find(name, version);
      change(dist, manifest);
    },
    tamper(name, version) {
      const { file } = find(name, version);
      // A second member: still a whole archive.
      archives.set(file, Buffer.concat([archives.get(file) ?? Buffer.alloc(0), Buffer.from([0])]));
    },
  };
}

/** The directories of an installed package and of all that it needs. */
export function installedTree(directory: string): readonly string[] {
  const found = new Map<string, string>();
  const visit = (at: string): void => {
    const {
      name,
      version,
      dependencies = {},
    } = JSON.parse(readFileSync(join(at, "package.json"), "utf8")) as {
      readonly name: string;
      readonly version: string;
      readonly dependencies?: Record<string, string>;
    };
    if (found.has(`${name}@${version}`)) return;
    found.set(`${name}@${version}`, at);
    // pnpm puts what a package needs beside it.
    const modules = at.slice(0, at.lastIndexOf("/node_modules/") + "/node_modules".length);
    for (const each of Object.keys(dependencies)) visit(realpathSync(join(modules, each)));
  };
  visit(realpathSync(directory));
  return [...found.values()];
}

function sumsOf(bytes: Buffer): Record<string, string> {
  return {
    integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}`,
    shasum: createHash("sha1").update(bytes).digest("hex"),
  };
}
