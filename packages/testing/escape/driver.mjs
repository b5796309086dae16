// Runs inside, as the agent: makes the attempts of plan.json, some at a time, and writes how each
// went to results.jsonl. It knows no secret; whoever reads its word outside believes listeners and
// canaries first.
import { spawn } from "node:child_process";
import { appendFileSync, closeSync, openSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const programs = import.meta.dirname;
const workspace = dirname(programs);
/** @type {{ atOnce: number, attempts: { id: string, run: string[], timeoutMs: number }[] }} */
const plan = JSON.parse(readFileSync(join(workspace, "plan.json"), "utf8"));
const proxyPort = /:(\d+)\/?$/.exec(process.env["HTTP_PROXY"] ?? "")?.[1] ?? "1";
/** @type {Record<string, string>} */
const interpreters = { mjs: process.execPath, sh: "sh", bash: "bash", py: "python3" };

/** @param {{ id: string, outcome: string, detail: string }} result */
const write = (result) =>
  appendFileSync(join(workspace, "results.jsonl"), `${JSON.stringify(result)}\n`);

/**
 * @param {readonly string[]} run
 * @returns {[string, ...string[]]}
 */
function commandOf([program = "", ...args]) {
  const path = join(programs, program);
  const words = args.map((word) => word.replaceAll("{proxyPort}", proxyPort));
  const interpreter = interpreters[/\.(\w+)$/.exec(program)?.[1] ?? ""];
  return interpreter === undefined ? [path, ...words] : [interpreter, path, ...words];
}

/** @param {{ id: string, run: string[], timeoutMs: number }} attempt */
function make({ id, run, timeoutMs }) {
  const output = join(workspace, `said-${id}`);
  const fd = openSync(output, "w");
  const [program, ...args] = commandOf(run);
  // To a file and not through a pipe: what an attempt leaves behind would hold a pipe open.
  const child = spawn(program, args, { cwd: workspace, stdio: ["inherit", fd, "ignore"] });
  closeSync(fd);
  const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
  /** @param {string} ending */
  const judge = (ending) => {
    const line = readFileSync(output, "utf8")
      .split("\n")
      .find((each) => each.startsWith('{"outcome"'));
    write({
      id,
      ...(line === undefined ? { outcome: "refused", detail: ending } : JSON.parse(line)),
    });
  };
  return new Promise((resolve) => {
    child.on("error", (error) => {
      clearTimeout(timer);
      const isMissing = "code" in error && error.code === "ENOENT";
      resolve(write({ id, outcome: isMissing ? "unavailable" : "refused", detail: error.message }));
    });
    child.on("exit", (code, signal) => {
      clearTimeout(timer);
      resolve(
        judge(signal === null ? `ended with ${code} and said nothing` : `ended by ${signal}`),
      );
    });
  });
}

const waiting = [...plan.attempts];
async function work() {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await make(next);
}

await Promise.all(Array.from({ length: plan.atOnce }, work));
write({ id: "", outcome: "done", detail: "" });
