import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

interface Bundle {
  readonly metafile: {
    readonly outputs: Readonly<
      Record<string, { readonly inputs: Readonly<Record<string, { bytesInOutput: number }>> }>
    >;
  };
}

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

// esbuild comes with the bundler that builds the packages.
const fromTsup = createRequire(createRequire(at("../../../package.json")).resolve("tsup"));
const { build } = fromTsup("esbuild") as { build(options: object): Promise<Bundle> };

/** The files of which something is left in a bundle, as paths in `src` or names of libraries. */
async function bundled(
  entry: string,
  crypto: "node" | "portable",
  options: object = {},
): Promise<readonly string[]> {
  const { metafile } = await build({
    entryPoints: [at(`../src/${entry}.ts`)],
    absWorkingDir: at("../src"),
    alias: { "#crypto": at(`../src/crypto/${crypto}.ts`) },
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "neutral",
    external: ["node:*"],
    logLevel: "error",
    // Where it says which name of ours is which source.
    tsconfig: at("../../../tsconfig.json"),
    ...options,
  });
  const files = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const names = files.flatMap(([file, { bytesInOutput }]) =>
    bytesInOutput === 0
      ? []
      : [/node_modules\/((?:@[^/]+\/)?[^./][^/]*)\/(?!.*node_modules)/.exec(file)?.[1] ?? file],
  );
  return [...new Set(names)].sort();
}

/** As a runtime loads it: everything that is imported, used or not. */
const loaded = (entry: string): Promise<readonly string[]> =>
  bundled(entry, "node", { treeShaking: false, ignoreAnnotations: true });

/**
 * What the main entry may load of other jobs: what names and finds, and nothing that compiles,
 * signs, seals or masks.
 */
const SHARED: readonly string[] = [
  "vault/base64.ts",
  "vault/placeholders.ts",
  "vault/secret-name.ts",
];

/** What every entry may load of the shell engine: neither its parser nor its tables. */
const NAMES_AND_TEXTS: readonly string[] = [
  "secrets/name-glob.ts",
  "secrets/secret-names.ts",
  "text/escape.ts",
  "text/nearest.ts",
  "text/quote.ts",
].map((file) => `../../exec-safety/src/${file}`);

it("the main entry loads nothing of commands, policies, proofs and vaults but what a gate itself does", async () => {
  const files = await loaded("index");
  expect(files).toContain("gate/gate.ts");
  expect(
    files.filter((file) => /^(exec|policy|proof|vault)\b/.test(file) && !SHARED.includes(file)),
  ).toEqual([]);
  expect(files.filter((file) => !file.endsWith(".ts"))).toEqual([]);
  expect(files.filter((file) => file.startsWith("../"))).toEqual(NAMES_AND_TEXTS);
});

it.each([
  ["exec", ["gate", "proof", "vault"]],
  ["policy", ["exec", "gate", "proof", "vault"]],
  ["proof", ["exec", "gate", "policy", "vault"]],
  ["vault", ["exec", "gate", "policy", "proof"]],
])("the entry %s loads nothing of %j", async (entry, others) => {
  const files = await loaded(entry);
  const within = (folders: readonly string[]) =>
    files.filter((file) => folders.some((folder) => file.startsWith(`${folder}/`)));
  expect(within([entry])).not.toEqual([]);
  expect(within(others)).toEqual([]);
  if (entry !== "exec")
    expect(NAMES_AND_TEXTS).toEqual(
      expect.arrayContaining(files.filter((file) => file.startsWith("../"))),
    );
});

it("the entry exec loads its parser, and of policies only what reads a configuration and a text", async () => {
  const files = await loaded("exec");
  expect(files.filter((file) => !file.endsWith(".ts"))).toEqual(["unbash"]);
  expect(files.filter((file) => file.startsWith("policy"))).toEqual([
    "policy/glob.ts",
    "policy/look-alikes.ts",
    "policy/readings.ts",
    "policy/spot.ts",
    "policy/stance.ts",
  ]);
});

it("a bundle of the main entry for a browser holds a hash, and neither curve nor cipher", async () => {
  const libraries = async (entry: string): Promise<readonly string[]> =>
    (await bundled(entry, "portable")).filter((file) => !file.endsWith(".ts"));
  expect(await libraries("index")).toEqual(["@noble/hashes"]);
  expect(await libraries("policy")).toEqual([]);
  expect(await libraries("proof")).toEqual(["@noble/curves", "@noble/hashes"]);
  expect(await libraries("vault")).toEqual(["@noble/ciphers", "@noble/hashes"]);
});
