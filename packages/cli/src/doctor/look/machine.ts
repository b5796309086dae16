/** Examination of what runs ACP: the sandboxes of this host, Node and the installation. */
import { probeLinuxSandboxes } from "@acp/sandbox-linux";
import { installedVersions } from "../../installed-versions.js";
import { BARRIERS } from "../../run/plan.js";
import type { Examination } from "../examination.js";
import { makeFound } from "../finding.js";
import type { Found } from "../finding.js";

/** Sandboxes. */
export const sandboxExamination: Examination = {
  id: "sandbox",
  looksAt: "A sandbox can hold an agent here",
  async look({ isQuick }) {
    if (isQuick || process.platform !== "linux") return [];
    const reports = await probeLinuxSandboxes({});
    if (reports.some(({ isAvailable, level }) => isAvailable && BARRIERS.includes(level)))
      return [];
    const reasons = reports.flatMap(({ sandbox, reason }) =>
      reason === undefined ? [] : [`${sandbox}: ${reason}`],
    );
    return [makeFound("sandbox_none", { found: `No sandbox holds here. ${reasons.join("; ")}` })];
  },
};

/** Node and the installation. */
export const versionsExamination: Examination = {
  id: "versions",
  looksAt: "Node and the parts of ACP fit together",
  look: () => Promise.resolve(findVersions(process.versions.node, installedVersions())),
};

const NODE_MIN: readonly [number, number] = [20, 19];

/** What is wrong with these versions. */
export function findVersions(
  node: string,
  parts: ReadonlyMap<string, string | undefined>,
): readonly Found[] {
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const isOld = major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1]);
  const own = parts.get("cli");
  const others = [...parts].filter(([, version]) => version !== undefined && version !== own);
  return [
    ...(isOld ? [makeFound("node_old", { found: `This is Node ${node}` })] : []),
    ...(others.length === 0
      ? []
      : [
          makeFound("install_mixed", {
            found: `@acp/cli is ${own}, and ${others.map(([name, version]) => `@acp/${name} is ${version}`).join(", ")}`,
          }),
        ]),
  ];
}
