// Preloaded into a measured process: writes what it used to descriptor 3 when it ends.
const { writeSync } = require("node:fs");

process.once("exit", () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  writeSync(3, JSON.stringify({ mb: maxRSS / 1024, cpuMs: (userCPUTime + systemCPUTime) / 1000 }));
});
