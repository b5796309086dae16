/**
 * A user's empty project: installs our packages from a registry with one package manager, loads
 * them, and compiles against them.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LOAD_ENV, type Loaded, entryNames, loadScript, readLoaded } from "../load-entries.js";
import { capture, root } from "../workspace.mjs";
import { publicPackages } from "./stage.mjs";

/**
 * A package manager: how it installs, and how it starts Node and a package's program in a project.
 */
export interface Manager {
  readonly name: string;
  readonly install: readonly string[];
  /** Before the path of a module; Node itself unless given. */
  readonly node?: readonly string[];
  /** Before the name of an installed program; `node_modules/.bin` unless given. */
  readonly exec?: readonly string[];
  /** Why programs that it installs start, but cannot work with files. */
  readonly cannotWrite?: string;
  /** Its settings: where packages come from and go to, nothing of the user who runs the test. */
  env(registry: string, home: string): Readonly<Record<string, string>>;
}

/** An empty project. */
export interface Consumer {
  readonly dir: string;
  /** Installs packages by name and version; the manager has a home of its own. */
  install(dependencies: Readonly<Record<string, string>>): Promise<void>;
  /** Loads every entry of every package that we publish. */
  load(): Promise<readonly Loaded[]>;
  /** Runs `acp`. */
  acp(...args: readonly string[]): Promise<{ readonly status: number; readonly output: string }>;
  /** What a compiler says about a program that imports the entries. */
  compile(options: CompileOptions): Promise<string>;
}

/** What a user's tsconfig.json says, besides being as strict as can be. */
export interface CompileOptions {
  readonly compiler: "typescript" | "typescript7";
  readonly moduleResolution: "node16" | "nodenext" | "bundler";
  readonly names: readonly string[];
  readonly types: readonly string[];
  readonly lib: readonly string[];
}

/** Every name that a user can import of what we publish. */
export const publicEntries = (): readonly string[] =>
  publicPackages().flatMap(({ manifest }) => entryNames(manifest));

/** What a project says that uses all of our packages. */
export const everything = (): Readonly<Record<string, string>> =>
  Object.fromEntries(publicPackages().map(({ manifest }) => [manifest.name, manifest.version]));

/** A program that keeps every entry it imports. */
const programOf = (names: readonly string[]): string =>
  names
    .map(
      (name, index) =>
        `import * as entry${index} from "${name}";\nexport const kept${index}: object = entry${index};\n`,
    )
    .join("");

function configOf({ moduleResolution, types, lib }: CompileOptions): object {
  const strictest = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
  };
  const module = moduleResolution === "bundler" ? "esnext" : moduleResolution;
  const compilerOptions = {
    ...strictest,
    module,
    moduleResolution,
    target: "es2022",
    types,
    lib,
    noEmit: true,
  };
  return { compilerOptions, files: ["program.ts"] };
}

/**
 * @param manager - Installs.
 * @param registry - Where packages come from.
 * @param scratch - A folder of the test's own.
 */
export function createConsumer(manager: Manager, registry: string, scratch: string): Consumer {
  const home = join(scratch, `${manager.name}-home`);
  const dir = join(scratch, `${manager.name}-project`);
  for (const each of [home, dir]) mkdirSync(each, { recursive: true });
  const write = (name: string, text: string): void => writeFileSync(join(dir, name), text);
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    CI: "true",
    ...manager.env(registry, home),
  };
  const run = (
    words: readonly string[],
    more: object = {},
  ): Promise<{ status: number; output: string }> => {
    const [command = "", ...args] = words;
    return capture(command, args, { cwd: dir, env: { ...env, ...more } });
  };
  const mustRun = async (words: readonly string[], more: object = {}): Promise<string> => {
    const { status, output } = await run(words, more);
    if (status !== 0)
      throw new Error(`${manager.name}: ${words.join(" ")} ended with ${status}\n${output}`);
    return output;
  };
  const node = manager.node ?? [process.execPath];
  const exec = manager.exec ?? [];
  return {
    dir,
    async install(dependencies) {
      write(
        "package.json",
        JSON.stringify({ name: "consumer", private: true, type: "module", dependencies }),
      );
      await mustRun(manager.install);
    },
    async load() {
      write("load.mjs", loadScript(publicEntries()));
      return readLoaded(await mustRun([...node, "load.mjs"], LOAD_ENV));
    },
    acp: (...args) =>
      run(
        exec.length === 0
          ? [join(dir, "node_modules/.bin/acp"), ...args]
          : [...exec, "acp", ...args],
      ),
    async compile(options) {
      write("program.ts", programOf(options.names));
      write("tsconfig.json", JSON.stringify(configOf(options)));
      return (
        await run([
          process.execPath,
          join(root, "node_modules", options.compiler, "bin/tsc"),
          "-p",
          ".",
        ])
      ).output;
    },
  };
}
