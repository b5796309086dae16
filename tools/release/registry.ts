/**
 * A package registry on this machine's loopback, for tests of what we publish. It has our packages
 * once they are published to it or put there, and the libraries that this repository has installed;
 * it knows nothing else and asks nobody. So an install from it needs no network, and a package that
 * needs what it does not name is found out.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { type IncomingMessage, type Server, createServer } from "node:http";
import { join } from "node:path";
import { capture, readManifest, root } from "../workspace.mjs";

/** A registry that runs. */
export interface LocalRegistry extends AsyncDisposable {
  readonly url: string;
  /** Puts an archive there, as if it had been published. */
  put(archive: string): Promise<void>;
  /** The packages that were published or put, in this order. */
  readonly published: readonly string[];
}

interface Held {
  readonly manifest: { readonly name: string; readonly version: string };
  readonly bytes: Buffer;
}

const INSTALLED = join(root, "node_modules/.pnpm");

async function tar(args: readonly string[]): Promise<void> {
  const { status, output } = await capture("tar", args);
  if (status !== 0) throw new Error(`tar ${args.join(" ")}: ${output}`);
}

/** Each installed version of a library, packed again. */
async function installed(name: string, scratch: string): Promise<readonly Held[]> {
  const prefix = `${name.replace("/", "+")}@`;
  const found = new Map<string, Held>();
  for (const entry of readdirSync(INSTALLED)) {
    const dir = join(INSTALLED, entry, "node_modules", name);
    if (!entry.startsWith(prefix) || !existsSync(join(dir, "package.json"))) continue;
    const manifest = readManifest(dir);
    const archive = join(scratch, `${prefix.replace("+", "-")}${manifest.version}.tgz`);
    await tar([
      "-czf",
      archive,
      "--exclude=./node_modules",
      "--hard-dereference",
      "--transform=s,^\\.,package,",
      "-C",
      dir,
      ".",
    ]);
    found.set(manifest.version, { manifest, bytes: readFileSync(archive) });
  }
  return [...found.values()];
}

/** What a registry says about a package. */
function describe(name: string, held: readonly Held[], url: string): object {
  const versions = held.map(({ manifest, bytes }) => {
    const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
    const shasum = createHash("sha1").update(bytes).digest("hex");
    const tarball = `${url}/${name}/-/${manifest.version}.tgz`;
    return [manifest.version, { ...manifest, dist: { tarball, integrity, shasum } }] as const;
  });
  return {
    name,
    "dist-tags": { latest: versions.at(-1)?.[0] },
    versions: Object.fromEntries(versions),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** The one version that `npm publish` sends, with its archive. */
function readPublished(text: string): Held {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sent by npm, in a test
  const sent = JSON.parse(text) as {
    readonly versions: Readonly<Record<string, Held["manifest"]>>;
    readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
  };
  const [manifest] = Object.values(sent.versions);
  const [attachment] = Object.values(sent._attachments);
  if (manifest === undefined || attachment === undefined)
    throw new Error("Cannot take what was published: it has no version");
  return { manifest, bytes: Buffer.from(attachment.data, "base64") };
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(
        `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
      );
    });
  });
}

/** @param scratch - A folder of the test's own. */
export async function openRegistry(scratch: string): Promise<LocalRegistry> {
  const packed = new Map<string, readonly Held[]>();
  const published: string[] = [];
  const add = (held: Held): void => {
    const { name, version } = held.manifest;
    packed.set(name, [...(packed.get(name) ?? []), held]);
    published.push(`${name}@${version}`);
  };
  const heldOf = async (name: string): Promise<readonly Held[]> => {
    const held = packed.get(name) ?? (await installed(name, scratch));
    packed.set(name, held);
    return held;
  };
  const answer = async (
    request: IncomingMessage,
  ): Promise<{ status: number; body: string | Buffer }> => {
    const [name = "", version] = decodeURIComponent(request.url ?? "")
      .slice(1)
      .split("/-/");
    if (request.method === "PUT") {
      add(readPublished(await bodyOf(request)));
      return { status: 201, body: "{}" };
    }
    const held = await heldOf(name);
    if (version === undefined && held.length > 0)
      return { status: 200, body: JSON.stringify(describe(name, held, url)) };
    const one = held.find(({ manifest }) => `${manifest.version}.tgz` === version);
    return one === undefined
      ? { status: 404, body: '{"error":"not found"}' }
      : { status: 200, body: one.bytes };
  };
  const server = createServer((request, response) => {
    answer(request).then(
      ({ status, body }) => {
        const type = typeof body === "string" ? "application/json" : "application/octet-stream";
        response.writeHead(status, { "content-type": type }).end(body);
      },
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const url = await listen(server);
  return {
    url,
    published,
    async put(archive) {
      const { output } = await capture("tar", ["-xzOf", archive, "package/package.json"]);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- packed by us
      const manifest = JSON.parse(output) as Held["manifest"];
      add({ manifest, bytes: readFileSync(archive) });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
