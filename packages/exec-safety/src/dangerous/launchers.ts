/**
 * Launchers: programs that run a command which stands in their arguments in a way of their own.
 * Those with the command simply behind them are in ../wrappers.ts.
 */
import { operandsOf, optionValue, type Call, type Field } from "./call.js";
import { foundBy } from "./rules/delete.js";

/** What a launcher runs: a command of its own, or a text that a shell reads. */
export type Launched = { readonly fields: readonly Field[] } | { readonly script: Field };

type Find = (call: Call) => readonly Launched[];

const scripts = (fields: readonly (Field | undefined)[]): readonly Launched[] =>
  fields.flatMap((script) => (script === undefined ? [] : [{ script }]));

/** Commands in the arguments of one launcher: nobody writes more. */
const LAUNCHED_MAX = 8;
/** Starts of one `find` that are put in the place of its match. */
const STARTS_MAX = 16;

/** `find x -exec rm {} ;`: what stands for the match is a path below every start. */
function launchedByFind(call: Call): readonly Launched[] {
  const paths = foundBy(call).slice(0, STARTS_MAX);
  const launched: Launched[] = [];
  for (const [at, { text }] of call.args.entries()) {
    if (launched.length === LAUNCHED_MAX) break;
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(text)) continue;
    const rest = call.args.slice(at + 1);
    const end = rest.findIndex((field) => field.text === ";" || field.text === "+");
    const own = end < 0 ? rest : rest.slice(0, end);
    launched.push({
      fields: own.flatMap((field) =>
        field.text.includes("{}")
          ? paths.map((path) => ({ ...field, text: field.text.replaceAll("{}", path) }))
          : [field],
      ),
    });
  }
  return launched;
}

function launchedByFd({ args }: Call): readonly Launched[] {
  const at = args.findIndex(({ text }) => /^(?:-[xX]|--exec|--exec-batch)$/.test(text));
  return at < 0 ? [] : [{ fields: args.slice(at + 1).filter(({ text }) => text !== ";") }];
}

/** Commands in the configuration and the arguments of git. */
function launchedByGit(call: Call): readonly Launched[] {
  const { args } = call;
  const launched: Launched[] = [];
  for (const [at, field] of args.entries()) {
    if (launched.length === LAUNCHED_MAX) break;
    const { text } = field;
    const bang = /^(?:alias\.[\w.-]+=)?!/.exec(text)?.[0].length;
    if (bang !== undefined) launched.push({ script: { ...field, text: text.slice(bang) } });
    else if (
      text === "foreach" ||
      /^--(?:tree|index|msg|env|parent|commit)-filter$/.test(text) ||
      text === "--exec"
    )
      launched.push(...scripts([args[at + 1]]));
    else if (text === "-x" && args[0]?.text === "rebase") launched.push(...scripts([args[at + 1]]));
    else if (text === "run" && args[at - 1]?.text === "bisect")
      launched.push({ fields: args.slice(at + 1) });
    else if (/^(?:core\.\w+|\w+\.textconv|diff\.external|credential\.helper)=/i.test(text))
      launched.push({
        script: { ...field, text: text.slice(text.indexOf("=") + 1).replace(/^!/, "") },
      });
  }
  return launched;
}

/** `--checkpoint-action=exec=x`, `--to-command=x`, `-I x`, `--use-compress-program=x`. */
function launchedByTar(call: Call): readonly Launched[] {
  const action = optionValue(call, "", "checkpoint-action");
  const exec =
    action?.text.startsWith("exec=") === true
      ? { ...action, text: action.text.slice("exec=".length) }
      : undefined;
  return scripts([
    exec,
    optionValue(call, "", "to-command"),
    optionValue(call, "", "use-compress-program"),
    optionValue(call, "I"),
    optionValue(call, "", "rsh-command"),
  ]);
}

/** Commands that an editor or a pager runs: what stands behind `!`. */
function launchedByEditor({ args }: Call): readonly Launched[] {
  return args.flatMap((field) => {
    const at = field.text.indexOf("!");
    return at < 0 || at > 8 ? [] : [{ script: { ...field, text: field.text.slice(at + 1) } }];
  });
}

/** `sed '1e rm x'`. */
function launchedBySed({ args }: Call): readonly Launched[] {
  return args.flatMap((field) => {
    const command = /^[\d$,~/]*\s*e\s+(\S.*)$/.exec(field.text)?.[1];
    return command === undefined ? [] : [{ script: { ...field, text: command } }];
  });
}

/** The command behind `--` or `-c`, whatever stands before. */
function launchedBehindDashes({ args }: Call): readonly Launched[] {
  const at = args.findIndex(({ text }) => text === "--");
  return at < 0 ? [] : [{ fields: args.slice(at + 1) }];
}

/** Commands of terminal multiplexers: each argument may be one. */
function launchedByMultiplexer({ args }: Call): readonly Launched[] {
  return args.filter(({ text }) => /\s/.test(text)).map((script) => ({ script }));
}

function launchedByMake({ args }: Call): readonly Launched[] {
  return args.flatMap((field) =>
    /^(?:SHELL|CC|CXX|MAKE)=/.test(field.text)
      ? [{ script: { ...field, text: field.text.slice(field.text.indexOf("=") + 1) } }]
      : [],
  );
}

/**
 * `npx x`, `uv run x`, `bundle exec x`: the words that stand between the launcher and its command.
 */
const RUNNERS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ["npx", []],
  ["bunx", []],
  ["pnpx", []],
  ["uvx", []],
  ["npm", ["exec", "x"]],
  ["pnpm", ["exec", "dlx"]],
  ["yarn", ["exec", "dlx", "node"]],
  ["bundle", ["exec"]],
  ["mise", ["exec", "x"]],
  ...["rbenv", "pyenv", "nodenv", "asdf", "direnv", "nvm", "fnm"].map(
    (name): [string, readonly string[]] => [name, ["exec"]],
  ),
  ...["uv", "poetry", "pipenv", "pdm", "hatch", "rye", "conda", "mamba", "pixi", "volta"].map(
    (name): [string, readonly string[]] => [name, ["run"]],
  ),
]);

function launchedByRunner({ name, args }: Call): readonly Launched[] {
  const verbs = RUNNERS.get(name) ?? [];
  const start = verbs.length === 0 ? 0 : args.findIndex(({ text }) => verbs.includes(text)) + 1;
  if (verbs.length > 0 && start === 0) return [];
  const at = args.findIndex(
    ({ text }, index) => index >= start && (!text.startsWith("-") || text === "-"),
  );
  const [first] = args.slice(at);
  if (at < 0 || first === undefined) return [];
  return [
    {
      fields:
        first.text === "-" ? [{ ...first, text: "python" }, ...args.slice(at)] : args.slice(at),
    },
  ];
}

/** The command behind a number of operands. */
function behindOperands({ args }: Call, count: number): readonly Launched[] {
  const at = args.findIndex(({ text }) => !text.startsWith("-"));
  return at < 0 ? [] : [{ fields: args.slice(at + count) }];
}

/** `xterm -e x`. */
function launchedByTerminal({ args }: Call): readonly Launched[] {
  const at = args.findIndex(({ text }) => /^(?:-e|-x|--command|--execute|--)$/.test(text));
  const rest = args.slice(at + 1);
  const [first] = rest;
  if (at < 0 || first === undefined) return [];
  return rest.length === 1 ? [{ script: first }] : [{ fields: rest }];
}

const FINDERS: readonly (readonly [string, Find])[] = [
  ["find gfind", launchedByFind],
  ["fd fdfind", launchedByFd],
  ["git", launchedByGit],
  ["tar gtar bsdtar", launchedByTar],
  ["vim vi nvim ex view less more man gdb ed emacs", launchedByEditor],
  ["sed gsed", launchedBySed],
  ["trap", (call) => scripts(operandsOf(call).slice(0, 1))],
  [
    "alias",
    ({ args }) =>
      args.flatMap((field) =>
        field.text.includes("=")
          ? [{ script: { ...field, text: field.text.slice(field.text.indexOf("=") + 1) } }]
          : [],
      ),
  ],
  [
    "rsync",
    (call) => scripts([optionValue(call, "e", "rsh"), optionValue(call, "", "rsync-path")]),
  ],
  [
    "ssh scp sftp",
    ({ args }) =>
      args.flatMap((field) =>
        /^(?:-o)?ProxyCommand=/i.test(field.text)
          ? [{ script: { ...field, text: field.text.slice(field.text.indexOf("=") + 1) } }]
          : [],
      ),
  ],
  [[...RUNNERS.keys()].join(" "), launchedByRunner],
  [
    "xterm uxterm rxvt urxvt gnome-terminal konsole alacritty kitty foot terminator xfce4-terminal st lxterminal x-terminal-emulator",
    launchedByTerminal,
  ],
  ["tmux screen", launchedByMultiplexer],
  ["make gmake", launchedByMake],
  [
    "firejail bwrap systemd-nspawn distrobox toolbox nix nix-shell dotenv op doppler aws-vault chamber kubectl oc",
    launchedBehindDashes,
  ],
  [
    "nix-shell",
    (call) => scripts([optionValue(call, "", "run"), optionValue(call, "", "command")]),
  ],
  ["gosu su-exec envdir setarch cpulimit", (call) => behindOperands(call, 1)],
  [
    "dumb-init tini catchsegv eatmydata linux32 linux64 arch winpty chpst",
    (call) => behindOperands(call, 0),
  ],
  [
    "hyperfine entr nodemon watchexec reflex concurrently npm-run-all when-changed inotifywait at-spi-bus-launcher pdsh mosh",
    ({ args }) => args.filter(({ text }) => /\s/.test(text)).map((script) => ({ script })),
  ],
];

const BY_NAME: ReadonlyMap<string, readonly Find[]> = FINDERS.reduce((index, [names, find]) => {
  for (const name of names.split(" ")) index.set(name, [...(index.get(name) ?? []), find]);
  return index;
}, new Map<string, readonly Find[]>());

/** What a call runs. */
export function launchedBy(call: Call): readonly Launched[] {
  return BY_NAME.get(call.name)?.flatMap((find) => find(call)) ?? [];
}
