// From the tap on a button to the decision, over a Bot API server on this machine: our channel
// alone, a whole gate, and a bot written with grammY.
import { createConsentGate, toolAction } from "@acp/core";
import { createTelegramChannel } from "@acp/channel-telegram";
import { askDouble, createBotApiDouble } from "@acp/testing";
import { Bot, InlineKeyboard } from "grammy";
import { clockCost, fixed, summary } from "./samples.mjs";

const isJson = process.argv.includes("--json");
const ROUNDS = 300;
const WARMUP = 30;
const from = { id: 4711 };

/** The next message of a chat that has buttons; sending it is not part of a sample. */
async function shown(bot) {
  for (;;) {
    const message = bot.messages(4711).find(({ buttons }) => buttons.length > 0);
    if (message !== undefined) return message;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Starts the clock, taps, and waits for the decision and for the answer to the tap. */
async function sample(bot, decided) {
  const message = await shown(bot);
  const start = performance.now();
  const { answer } = bot.tap({ message, from, button: { label: "Approve" } });
  await decided;
  const micros = (performance.now() - start) * 1_000;
  await answer;
  while (bot.messages(4711).some(({ buttons }) => buttons.length > 0))
    await new Promise((resolve) => setImmediate(resolve));
  return micros;
}

async function ours() {
  const bot = await createBotApiDouble();
  const channel = createTelegramChannel({ token: bot.token, chatId: "4711", apiRoot: bot.apiRoot });
  await channel.ready;
  return { bot, channel, close: () => channel.close().then(() => bot[Symbol.asyncDispose]()) };
}

async function channelAlone() {
  const { bot, channel, close } = await ours();
  const run = async () => {
    const ask = askDouble();
    await channel.deliver(ask.request, ask.session);
    return sample(bot, ask.session.ended);
  };
  return { run, close };
}

async function wholeGate() {
  const { bot, channel, close } = await ours();
  let seq = -1;
  const gate = createConsentGate({
    channel,
    audit: {
      append: async (events) => ({ seq: (seq += events.length), hash: `sha256:${"0".repeat(64)}` }),
    },
    layers: [
      {
        name: "asks",
        judge: () => ({ effect: "ask", ruleId: "ask_all", reason: "everything is asked" }),
      },
    ],
  });
  const run = async () => {
    const verdict = gate(toolAction("files", "write_file", { path: "notes.txt" }), {
      agent: { id: "agent-1" },
    });
    const micros = await sample(bot, verdict);
    if ((await verdict).decision !== "allow") throw new Error("not allowed");
    return micros;
  };
  return { run, close: () => gate.close().then(close) };
}

/**
 * The same question and the same check of who tapped, as grammY's guide writes them; nothing is
 * escaped, bound or audited.
 */
async function withGrammy() {
  const bot = await createBotApiDouble();
  const grammy = new Bot(bot.token, { client: { apiRoot: bot.apiRoot } });
  let decide = () => undefined;
  grammy.on("callback_query:data", async (context) => {
    if (context.from.id !== from.id) return;
    decide();
    await context.answerCallbackQuery({ text: "Taken: approved" });
    await context.editMessageText("APPROVED");
  });
  const running = grammy.start({ allowed_updates: ["message", "callback_query"] });
  const run = async () => {
    const decided = new Promise((resolve) => (decide = resolve));
    const keyboard = new InlineKeyboard()
      .text("Approve", "v1:AAAAAAAAAAAAAAAAAAAAAA:a")
      .text("Deny", "v1:AAAAAAAAAAAAAAAAAAAAAA:d");
    await grammy.api.sendMessage(4711, "May this agent do this now?", { reply_markup: keyboard });
    return sample(bot, decided);
  };
  const close = async () => {
    await grammy.stop();
    await running;
    await bot[Symbol.asyncDispose]();
  };
  return { run, close };
}

const contestants = {
  "channel alone": await channelAlone(),
  "whole gate": await wholeGate(),
  grammY: await withGrammy(),
};
const samples = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
for (let round = -WARMUP; round < ROUNDS; round++) {
  for (const [name, { run }] of Object.entries(contestants)) {
    const micros = await run();
    if (round >= 0) samples[name].push(micros);
  }
}
for (const { close } of Object.values(contestants)) await close();

const overhead = clockCost();
const results = Object.fromEntries(
  Object.entries(samples).map(([name, list]) => [name, summary(list)]),
);
const ratio = {
  channelToGrammy: results["channel alone"].p50 / results.grammY.p50,
  gateToGrammy: results["whole gate"].p50 / results.grammY.p50,
};
if (isJson) console.log(JSON.stringify({ unit: "µs", clock: overhead, results, ratio }));
else {
  for (const [name, { p50, p99 }] of Object.entries(results))
    console.log(
      `  tap to decision, ${name.padEnd(14)} p50 ${fixed(p50).padStart(6)} µs   p99 ${fixed(p99).padStart(6)} µs`,
    );
  console.log(
    `  p50 of grammY's: channel ${ratio.channelToGrammy.toFixed(2)}×, whole gate ${ratio.gateToGrammy.toFixed(2)}×`,
  );
}
