// What `npm run new KIND NAME` makes for each kind of adapter: the port that it implements, and the
// conformance suite of @acp/testing that it has to pass. The skeleton throws where the work is, so
// its suite is red until the work is done.

/**
 * @typedef {{
 *   port: string,
 *   what: string,
 *   options: string,
 *   body: string,
 *   test: (names: Names) => string,
 *   next: readonly string[],
 * }} Kind
 * @typedef {{ kind: string, name: string, type: string, make: string }} Names
 */

/** @param {Names} names @param {string} suite @param {string} under */
const testOf = ({ make, type }, suite, under) => `import { ${suite} } from "@acp/testing";
import { describe, it } from "vitest";
import { ${make} } from "../src/index.js";

/** Fill in the other side: what a person, a disk or a kernel does here. */
describe("${type} conforms", () => {
  it.each(${suite}(async ${under}))("$name", ({ run }) => run());
});
`;

/** @type {Readonly<Record<string, Kind>>} */
export const KINDS = {
  channel: {
    port: "Channel",
    what: "Carries a question to people and brings their answers back; it decides nothing.",
    options:
      "  /** Who may answer, as this channel authenticates them. */\n  readonly approvers: readonly string[];\n",
    body: `    name: "NAME",
    async deliver(request, session) {
      // Show request.text whole, resolve when it is shown, hand answers to session.submit(claim, {
      // subject }), and take the message back when session.ended settles. A throw means "not
      // delivered", and denies.
      throw new Error(\`Cannot show \${request.id} to \${options.approvers.length} people: not written yet (\${session.redelivery})\`);
    },
`,
    test: (names) =>
      testOf(
        names,
        "channelConformance",
        `() => {
    const channel = ${names.make}({ approvers: ["alice"] });
    return {
      channel,
      shown: async () => [],
      answer: async () => {},
      breakTransport: async () => {},
      [Symbol.asyncDispose]: async () => {},
    };
  }`,
      ),
    next: [
      "add its name to CHANNEL_NAMES in packages/home/src/config-channels.ts, with a reader for its section",
      "add its row to packages/cli/src/gate/channels/channel-table.ts",
    ],
  },
  store: {
    port: "Store",
    what: "Keeps what several gates share, by atomic verbs only.",
    options: "  /** Where it is. */\n  readonly url: string;\n",
    body: `    // Start from memoryStore() of @acp/core: the same verbs, each of them atomic, never a get and then a set.
    ...memoryStore(options.clock),
`,
    test: (names) =>
      testOf(names, "storeConformance", `(clock) => ${names.make}({ url: "memory:", clock })`),
    next: ["say in its README what survives which crash, and try it: kill the process that writes"],
  },
  sandbox: {
    port: "Sandbox",
    what: "A boundary around an agent that states what it enforces and denies the rest.",
    options: "  /** What the agent may write. */\n  readonly workspace: string;\n",
    body: `    name: "NAME",
    async probe() {
      // Every aspect of SandboxReport, and nothing that was not tried on this host.
      throw new Error(\`Cannot probe for \${options.workspace}: not written yet\`);
    },
    async spawn() {
      throw new Error("Cannot start an agent: not written yet");
    },
`,
    test: (names) =>
      testOf(
        names,
        "sandboxConformance",
        `() => ({
    sandbox: ${names.make}({ workspace: process.cwd() }),
    directory: process.cwd(),
    [Symbol.asyncDispose]: async () => {},
  })`,
      ),
    next: [
      "put it under runEscapeKit() of @acp/testing, and add its column to the table of docs/explanation/what-a-sandbox-holds.md",
    ],
  },
  sink: {
    port: "AuditSink",
    what: "Where events become durable.",
    options: "  /** Where it writes. */\n  readonly url: string;\n",
    body: `    async append(events) {
      // All or none, in order; resolve when they are durable. After a failed write every append
      // throws.
      throw new Error(\`Cannot write \${events.length} events to \${options.url}: not written yet\`);
    },
`,
    test: (names) =>
      testOf(
        names,
        "auditSinkConformance",
        `() => ({
    sink: ${names.make}({ url: "memory:" }),
    close: async () => {},
    read: async () => [],
    fail: async () => {},
    [Symbol.asyncDispose]: async () => {},
  })`,
      ),
    next: ["use teeSinks() of @acp/audit to write to it and to the chained log"],
  },
};
