#!/usr/bin/env node
// In the repository as it is, so that a first install can link it before anything is built.
// CommonJS, because Node starts it sooner: an agent waits for its hook before each command, and a
// resident answers that without the rest of the library; and for `acp run` a person waits.
const runAll = () => import("../dist/index.js").then(({ runProcess }) => runProcess());
const [, , name, second] = process.argv;
if (name === "run") void require("../dist/start-run.cjs").startRun();
else if (name === "mcp" || (name === "proxy" && second === "http")) {
  const { isForResident, runResidentClient } = require("../dist/resident-client.cjs");
  if (isForResident(process.argv.slice(2), process.env)) runResidentClient();
  else void runAll();
} else if (name !== "exec" || second !== "hook") void runAll();
else {
  // Agents take this exit for "blocked", and any other failure for no hook.
  process.on("uncaughtException", (error) => {
    process.stderr.write(`acp: Cannot judge the command: ${error.message} [internal_error]\n`);
    process.exit(2);
  });
  void require("../dist/hook-client.cjs")
    .answerByResident()
    .then((isAnswered) => (isAnswered ? undefined : runAll()));
}
