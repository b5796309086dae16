/**
 * Service definition: the file that makes a login start the resident of a home, for systemd's user
 * manager (systemd.service(5)) and for launchd (launchd.plist(5)). Pure.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { ConsentError, escapeText } from "@acp/core";

/** What a definition is made of; every path is absolute. */
export interface ServiceParts {
  readonly platform: NodeJS.Platform;
  /** The user's own home directory. */
  readonly userHome: string;
  /** `XDG_CONFIG_HOME`, where it is set. */
  readonly configHome: string | undefined;
  /** The real path of the home that is served. */
  readonly home: string;
  /** Node.js. */
  readonly node: string;
  /** What Node.js runs. */
  readonly program: string;
  /** Where keys and their passphrase lie; paths, never secrets. */
  readonly variables: Readonly<Partial<Record<"ACP_KEY_FILE" | "ACP_PASSPHRASE_FILE", string>>>;
}

/** One file that a service manager reads, and what a person types around it. */
export interface ServiceDefinition {
  readonly path: string;
  readonly text: string;
  /** A link that makes a login start it, as `systemctl enable` makes one; `to` is its text. */
  readonly link?: { readonly path: string; readonly to: string };
  /** Starts it now, without a new login. */
  readonly start: string;
  /** Ends it, once its file is gone. */
  readonly end: string;
}

/** The first line of what we write, so that a person's own file is never replaced. */
const MARK = "Written by acp service install";
const NAME_LENGTH = 12;

/** Whether there are services on a platform. */
export const hasServices = (platform: NodeJS.Platform): boolean =>
  platform === "linux" || platform === "darwin";

/** Whether a file is one of ours. */
export const isDefinition = (text: string): boolean =>
  text.split("\n", 3).some((line) => line.includes(MARK));

/**
 * The definition for a home on a platform.
 *
 * @throws ConsentError `options_invalid` where the platform has no service manager that we know, or
 *   a path holds a character that its format cannot carry.
 */
export function defineService(parts: ServiceParts): ServiceDefinition {
  const { home, node, program, userHome, variables } = parts;
  for (const path of [home, node, program, userHome, ...Object.values(variables)])
    if (/[\u0000-\u001f\u007f]/u.test(path))
      throw invalid(`"${escapeText(path)}" holds a control character`);
  if (parts.platform === "linux") return forSystemd(parts);
  if (parts.platform === "darwin") return forLaunchd(parts);
  throw invalid(
    `there is no service for ${parts.platform}; clients start the resident on their own`,
  );
}

const invalid = (why: string): ConsentError =>
  new ConsentError("options_invalid", `Cannot define a service: ${why}`);

/** `suffix` tells the services of several homes apart; the usual home's has none. */
function suffixOf({ home, userHome }: ServiceParts): string {
  if (home === join(userHome, ".acp")) return "";
  return `-${createHash("sha256").update(home).digest("hex").slice(0, NAME_LENGTH)}`;
}

const argumentsOf = ({ node, program, home }: ServiceParts): readonly string[] => [
  node,
  // As clients start it.
  "--max-semi-space-size=4",
  program,
  "resident",
  "serve",
  "--stay",
  "--home",
  home,
];

function forSystemd(parts: ServiceParts): ServiceDefinition {
  const { configHome, userHome, home } = parts;
  const name = `acp${suffixOf(parts)}.service`;
  const config = configHome?.startsWith("/") === true ? configHome : join(userHome, ".config");
  const folder = join(config, "systemd/user");
  return {
    path: join(folder, name),
    link: { path: join(folder, "default.target.wants", name), to: `../${name}` },
    text: [
      `# ${MARK}`,
      "[Unit]",
      `Description=ACP resident gate of ${home.replaceAll("%", "%%")}`,
      "StartLimitIntervalSec=60",
      "StartLimitBurst=3",
      "",
      "[Service]",
      `ExecStart=${argumentsOf(parts)
        .map((word) => systemdWord(word.replaceAll("$", "$$$$")))
        .join(" ")}`,
      ...Object.entries(parts.variables).map(
        ([variable, path]) => `Environment=${systemdWord(`${variable}=${path}`)}`,
      ),
      "WorkingDirectory=/",
      "UMask=0077",
      "LimitCORE=0",
      "Restart=on-failure",
      "RestartSec=1",
      "# Its servers end with it.",
      "KillMode=mixed",
      "TimeoutStopSec=20",
      "",
      "[Install]",
      "WantedBy=default.target",
      "",
    ].join("\n"),
    start: `systemctl --user daemon-reload && systemctl --user start ${name}`,
    end: `systemctl --user stop ${name} && systemctl --user daemon-reload`,
  };
}

/** One word: quoted, and with specifiers made literal. */
const systemdWord = (word: string): string =>
  /^[\w./=-]+$/u.test(word)
    ? word
    : `"${word.replaceAll(/[\\"]/gu, "\\$&").replaceAll("%", "%%")}"`;

function forLaunchd(parts: ServiceParts): ServiceDefinition {
  const label = `acp.resident${suffixOf(parts)}`;
  const path = join(parts.userHome, "Library/LaunchAgents", `${label}.plist`);
  return {
    path,
    text: [
      '<?xml version="1.0" encoding="UTF-8"?>',
      `<!-- ${MARK} -->`,
      '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
      '<plist version="1.0">',
      "<dict>",
      `  <key>Label</key><string>${label}</string>`,
      "  <key>ProgramArguments</key>",
      "  <array>",
      ...argumentsOf(parts).map((word) => `    <string>${xmlText(word)}</string>`),
      "  </array>",
      "  <key>EnvironmentVariables</key>",
      "  <dict>",
      ...Object.entries(parts.variables).map(
        ([name, value]) => `    <key>${name}</key><string>${xmlText(value)}</string>`,
      ),
      "  </dict>",
      "  <key>WorkingDirectory</key><string>/</string>",
      "  <key>Umask</key><integer>63</integer>",
      "  <key>HardResourceLimits</key><dict><key>Core</key><integer>0</integer></dict>",
      "  <key>RunAtLoad</key><true/>",
      "  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>",
      "  <key>ThrottleInterval</key><integer>20</integer>",
      "</dict>",
      "</plist>",
      "",
    ].join("\n"),
    start: `launchctl bootstrap gui/$(id -u) ${shellWord(path)}`,
    end: `launchctl bootout gui/$(id -u)/${label}`,
  };
}

const XML: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
const xmlText = (text: string): string =>
  text.replaceAll(/[&<>]/gu, (character) => XML[character] ?? "");

const shellWord = (word: string): string =>
  /^[\w./-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
