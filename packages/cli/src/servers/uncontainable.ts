/**
 * Uncontainable: commands of servers that no sandbox of ours can hold, because what they start runs
 * elsewhere, or fetch what they run at each start.
 */
import { basename } from "node:path";
import { ConsentError } from "@acp/core";

const ELSEWHERE = "what it starts runs in a container of the host, not in a sandbox of ACP";
const FETCHED = "it fetches what it runs at each start";
const PROGRAMS: Readonly<Record<string, string>> = {
  docker: ELSEWHERE,
  podman: ELSEWHERE,
  nerdctl: ELSEWHERE,
  "docker-compose": ELSEWHERE,
  flatpak: "it starts programs by a service of the host",
  snap: "it starts programs by a service of the host",
  uvx: FETCHED,
  pipx: FETCHED,
  bunx: FETCHED,
  pnpx: FETCHED,
};
/** Programs that fetch by a word of theirs. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  uv: ["tool", "run"],
  bun: ["x"],
  pnpm: ["dlx"],
  yarn: ["dlx"],
};

/**
 * Checks that a server can be contained.
 *
 * @throws ConsentError `config_invalid`, naming what to write instead.
 */
export function checkContainable(name: string, [program = "", word = ""]: readonly string[]): void {
  const called = basename(program);
  const why = Object.hasOwn(PROGRAMS, called)
    ? PROGRAMS[called]
    : Object.hasOwn(WORDS, called) && WORDS[called]?.includes(word) === true
      ? FETCHED
      : undefined;
  if (why === undefined) return;
  const remedy = 'give the server "sandbox: none" to start it outside, with your rights';
  throw new ConsentError(
    "config_invalid",
    `Cannot contain server "${name}": its command is ${called}: ${why}; ${remedy}`,
  );
}
