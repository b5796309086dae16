/** The fixture's tools, by the names that the suite knows. */
import { setTimeout as after } from "node:timers/promises";
import {
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  inputRequired,
  inputResponse,
} from "@modelcontextprotocol/server";
import type {
  CallToolResult,
  ElicitRequestFormParams,
  InputRequiredResult,
  InputRequests,
  JSONObject,
  RequestStateCodec,
  ServerContext,
} from "@modelcontextprotocol/server";
import {
  CHOICES,
  DEFAULTS,
  SOUND,
  WIDE_SCHEMA,
  embedded,
  picture,
  says,
  text,
} from "./fixture-content.js";

/** What a tool may do besides answering. */
export interface Hands {
  readonly state: RequestStateCodec;
  /** Adds a tool or a prompt, or takes it away, so that the list is another one. */
  change(list: "tools" | "prompts"): void;
}

export interface FixtureTool {
  readonly description: string;
  readonly inputSchema?: JSONObject;
  run(
    context: ServerContext,
    args: Readonly<Record<string, unknown>>,
    hands: Hands,
  ): Promise<CallToolResult | InputRequiredResult> | CallToolResult | InputRequiredResult;
}

/** A form of one field. */
const form = (
  message: string,
  properties: ElicitRequestFormParams["requestedSchema"]["properties"],
  required: string[] = Object.keys(properties),
): ElicitRequestFormParams => ({
  message,
  requestedSchema: { type: "object", properties, required },
});

const nameForm = (message: string): InputRequests[string] =>
  inputRequired.elicit(form(message, { name: { type: "string" } }));
const sample = (prompt: string, maxTokens: number): InputRequests[string] =>
  inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text: prompt } }],
    maxTokens,
  });

/** The answer to a form, or nothing where it is not there yet. */
function accepted({ mcpReq }: ServerContext, key: string): Record<string, unknown> | undefined {
  const view = inputResponse(mcpReq.inputResponses, key);
  return view.kind === "elicit" && view.action === "accept" ? (view.content ?? {}) : undefined;
}

/** Fails a call as a whole; an error that a tool throws would be a result. */
const invalid = (message: string): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, message);

const SIMPLE: Readonly<Record<string, FixtureTool>> = {
  test_simple_text: {
    description: "A text",
    run: () => says(text("This is a simple text response for testing.")),
  },
  test_image_content: { description: "A picture", run: () => says(picture) },
  test_audio_content: {
    description: "A sound",
    run: () => says({ type: "audio", data: SOUND, mimeType: "audio/wav" }),
  },
  test_embedded_resource: {
    description: "A resource within the answer",
    run: () =>
      says(
        embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."),
      ),
  },
  test_multiple_content_types: {
    description: "A text, a picture and a resource",
    run: () =>
      says(
        text("Multiple content types test:"),
        picture,
        embedded(
          "test://mixed-content-resource",
          "application/json",
          JSON.stringify({ test: "data", value: 123 }),
        ),
      ),
  },
  test_error_handling: {
    description: "Always an error",
    run: () => ({
      isError: true,
      content: [text("This tool intentionally returns an error for testing")],
    }),
  },
  json_schema_2020_12_tool: {
    description: "A schema with everything that JSON Schema 2020-12 has",
    inputSchema: WIDE_SCHEMA,
    run: (_context, args) => says(text(JSON.stringify(args))),
  },
  test_custom_header: {
    description: "An argument that travels in a header, too (SEP-2243)",
    inputSchema: {
      type: "object",
      properties: { region: { type: "string", "x-mcp-header": "Region" } },
      required: ["region"],
    },
    run: (_context, { region }) => says(text(`Region: ${String(region)}`)),
  },
};

const TALKATIVE: Readonly<Record<string, FixtureTool>> = {
  test_tool_with_logging: {
    description: "Three log messages on the way",
    async run({ mcpReq }) {
      const steps = ["execution started", "processing data", "execution completed"];
      for (const step of steps) {
        await mcpReq.log("info", `Tool ${step}`);
        await after(50);
      }
      return says(text("Tool with logging executed"));
    },
  },
  test_logging_tool: {
    description: "A log message, for whoever asked for it",
    async run({ mcpReq }) {
      await mcpReq.log("info", "looked at");
      return says(text("logged"));
    },
  },
  test_tool_with_progress: {
    description: "Progress 0, 50 and 100",
    async run({ mcpReq }) {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined)
          await mcpReq.notify({
            method: "notifications/progress",
            params: { progressToken, progress, total: 100 },
          });
        await after(50);
      }
      return says(text("Tool with progress executed"));
    },
  },
  test_reconnection: {
    description: "Closes its stream, and answers to whoever comes back (SEP-1699)",
    async run({ http }) {
      http?.closeSSE?.();
      await after(100);
      return says(text("Reconnection test completed"));
    },
  },
  test_trigger_tool_change: {
    description: "Changes the list of tools",
    run(_context, _args, { change }) {
      change("tools");
      return says(text("changed"));
    },
  },
  test_trigger_prompt_change: {
    description: "Changes the list of prompts",
    run(_context, _args, { change }) {
      change("prompts");
      return says(text("changed"));
    },
  },
};

const one = (name: string): JSONObject => ({
  type: "object",
  properties: { [name]: { type: "string" } },
  required: [name],
});

/** Tools that ask the client while they run, as revisions up to 2025-11-25 have it. */
const ASKING: Readonly<Record<string, FixtureTool>> = {
  test_sampling: {
    description: "Asks the client's model",
    inputSchema: one("prompt"),
    async run({ mcpReq }, { prompt }) {
      const { content } = await mcpReq.requestSampling({
        messages: [{ role: "user", content: { type: "text", text: String(prompt) } }],
        maxTokens: 100,
      });
      const said = [content].flat().map((each) => (each.type === "text" ? each.text : each.type));
      return says(text(`LLM response: ${said.join("")}`));
    },
  },
  test_elicitation: {
    description: "Asks the person at the client",
    inputSchema: one("message"),
    async run({ mcpReq }, { message }) {
      const answer = await mcpReq.elicitInput(
        form(String(message), {
          username: { type: "string", description: "User's response" },
          email: { type: "string", description: "User's email address" },
        }),
      );
      const { action, content } = answer;
      return says(text(`User response: action: ${action}, content: ${JSON.stringify(content)}`));
    },
  },
  test_elicitation_sep1034_defaults: {
    description: "Asks with defaults",
    run: (context) => elicitAll(context, form("Please review", DEFAULTS, [])),
  },
  test_elicitation_sep1330_enums: {
    description: "Asks for choices",
    // The type of the SDK knows no lists that may change.
    run: (context) =>
      elicitAll(context, {
        message: "Please choose",
        requestedSchema: JSON.parse(
          JSON.stringify({ type: "object", properties: CHOICES, required: [] }),
        ),
      }),
  },
};

async function elicitAll(
  { mcpReq }: ServerContext,
  params: ElicitRequestFormParams,
): Promise<CallToolResult> {
  const { action, content } = await mcpReq.elicitInput(params);
  return says(
    text(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`),
  );
}

function askName(context: ServerContext): CallToolResult | InputRequiredResult {
  const name = accepted(context, "user_name")?.["name"];
  return typeof name === "string"
    ? says(text(`Hello, ${name}!`))
    : inputRequired({ inputRequests: { user_name: nameForm("What is your name?") } });
}

function askModel({ mcpReq }: ServerContext, key: string): CallToolResult | InputRequiredResult {
  const view = inputResponse(mcpReq.inputResponses, key);
  return view.kind === "sampling"
    ? says(text(`The model said: ${JSON.stringify(view.result.content)}`))
    : inputRequired({ inputRequests: { [key]: sample("What is the capital of France?", 100) } });
}

/** Tools that answer with what they need (2026-07-28). */
const NEEDY: Readonly<Record<string, FixtureTool>> = {
  test_input_required_result_elicitation: {
    description: "Needs a name",
    run: askName,
  },
  test_streaming_elicitation: {
    description: "Needs a name, after some progress",
    async run(context) {
      await after(20);
      return askName(context);
    },
  },
  test_input_required_result_sampling: {
    description: "Needs the client's model",
    run: (context) => askModel(context, "capital_question"),
  },
  test_input_required_result_list_roots: {
    description: "Needs the client's roots",
    run({ mcpReq }) {
      const view = inputResponse(mcpReq.inputResponses, "client_roots");
      return view.kind === "roots"
        ? says(text(`Roots: ${view.roots.map(({ uri }) => uri).join(" ")}`))
        : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
    },
  },
  test_input_required_result_request_state: {
    description: "Needs a confirmation, and its own state back",
    async run(context, _args, { state }) {
      if (accepted(context, "confirm") !== undefined && context.mcpReq.requestState() !== undefined)
        return says(text("state-ok"));
      return inputRequired({
        inputRequests: {
          confirm: inputRequired.elicit(form("Please confirm", { ok: { type: "boolean" } })),
        },
        requestState: await state.mint({ step: 1 }),
      });
    },
  },
  test_input_required_result_tampered_state: {
    description: "Needs its own state back as it was",
    async run(context, _args, { state }) {
      if (context.mcpReq.inputResponses === undefined)
        return inputRequired({
          inputRequests: {
            confirm: inputRequired.elicit(form("Please confirm", { ok: { type: "boolean" } })),
          },
          requestState: await state.mint({ step: 1 }),
        });
      if (context.mcpReq.requestState() === undefined) throw invalid("the state is missing");
      return says(text("state-ok"));
    },
  },
  test_input_required_result_multiple_inputs: {
    description: "Needs three things at once",
    async run(context, _args, { state }) {
      const { inputResponses } = context.mcpReq;
      const keys = ["user_name", "greeting", "client_roots"];
      if (keys.every((key) => inputResponse(inputResponses, key).kind !== "missing"))
        return says(text(`Hello, ${String(accepted(context, "user_name")?.["name"])}!`));
      return inputRequired({
        inputRequests: {
          user_name: nameForm("What is your name?"),
          greeting: sample("Generate a greeting", 50),
          client_roots: inputRequired.listRoots(),
        },
        requestState: await state.mint({ step: 1 }),
      });
    },
  },
  test_input_required_result_multi_round: {
    description: "Needs two things, one after the other",
    async run(context, _args, { state }) {
      const before = context.mcpReq.requestState<{ name?: string }>();
      if (accepted(context, "step2") !== undefined)
        return says(text(`${before?.name} likes ${String(accepted(context, "step2")?.["color"])}`));
      const name = accepted(context, "step1")?.["name"];
      if (typeof name === "string")
        return inputRequired({
          inputRequests: {
            step2: inputRequired.elicit(
              form("Step 2: What is your favorite color?", { color: { type: "string" } }),
            ),
          },
          requestState: await state.mint({ name }),
        });
      return inputRequired({
        inputRequests: { step1: nameForm("Step 1: What is your name?") },
        requestState: await state.mint({}),
      });
    },
  },
  test_input_required_result_capabilities: {
    description: "Needs what the client can do, and no more",
    run(context) {
      const can = capabilities(context);
      const inputRequests: InputRequests = {
        ...("sampling" in can && { greeting: sample("Generate a greeting", 50) }),
        ...("elicitation" in can && { user_name: nameForm("What is your name?") }),
      };
      return Object.keys(inputRequests).length === 0 || context.mcpReq.inputResponses !== undefined
        ? says(text("done"))
        : inputRequired({ inputRequests });
    },
  },
  test_missing_capability: {
    description: "Needs the client's model; the SDK refuses a client without one",
    run: (context) => askModel(context, "capable"),
  },
};

function capabilities({ mcpReq }: ServerContext): object {
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
  const can = envelope[CLIENT_CAPABILITIES_META_KEY];
  return typeof can === "object" && can !== null ? can : {};
}

export const TOOLS: Readonly<Record<string, FixtureTool>> = {
  ...SIMPLE,
  ...TALKATIVE,
  ...ASKING,
  ...NEEDY,
};
