/** The fixture's prompts and completions, by the names that the suite knows. */
import {
  ProtocolError,
  ProtocolErrorCode,
  inputRequired,
  inputResponse,
} from "@modelcontextprotocol/server";
import type {
  ContentBlock,
  GetPromptResult,
  InputRequiredResult,
  Server,
  ServerContext,
} from "@modelcontextprotocol/server";
import { embedded, picture, text } from "./fixture-content.js";

interface FixturePrompt {
  readonly description: string;
  readonly arguments?: readonly string[];
  get(
    args: Readonly<Record<string, string>>,
    context: ServerContext,
  ): GetPromptResult | InputRequiredResult;
}

const user = (...contents: readonly ContentBlock[]): GetPromptResult => ({
  messages: contents.map((content) => ({ role: "user", content })),
});

const PROMPTS: Readonly<Record<string, FixturePrompt>> = {
  test_simple_prompt: {
    description: "A text",
    get: () => user(text("This is a simple prompt for testing.")),
  },
  test_prompt_with_arguments: {
    description: "A text of two arguments",
    arguments: ["arg1", "arg2"],
    get: ({ arg1, arg2 }) => user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  },
  test_prompt_with_embedded_resource: {
    description: "A resource and a text",
    arguments: ["resourceUri"],
    get: ({ resourceUri = "" }) =>
      user(
        embedded(resourceUri, "text/plain", "Embedded resource content for testing."),
        text("Please process the embedded resource above."),
      ),
  },
  test_prompt_with_image: {
    description: "A picture and a text",
    get: () => user(picture, text("Please analyze the image above.")),
  },
  test_input_required_result_prompt: {
    description: "Needs a context",
    get(_args, { mcpReq }) {
      const view = inputResponse(mcpReq.inputResponses, "user_context");
      if (view.kind === "elicit" && view.action === "accept")
        return user(text(`Context: ${String(view.content?.["context"])}`));
      return inputRequired({
        inputRequests: {
          user_context: inputRequired.elicit({
            message: "What context should the prompt use?",
            requestedSchema: {
              type: "object",
              properties: { context: { type: "string" } },
              required: ["context"],
            },
          }),
        },
      });
    },
  },
};

/** Answers for prompts and completions. */
export function servePrompts(server: Server): void {
  server.setRequestHandler("prompts/list", () => ({
    prompts: Object.entries(PROMPTS).map(([name, prompt]) => ({
      name,
      description: prompt.description,
      arguments: (prompt.arguments ?? []).map((each) => ({
        name: each,
        description: `The argument ${each}`,
        required: true,
      })),
    })),
  }));
  server.setRequestHandler("prompts/get", ({ params }, context) => {
    const prompt = PROMPTS[params.name];
    if (prompt === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No prompt "${params.name}"`);
    return prompt.get(params.arguments ?? {}, context);
  });
  server.setRequestHandler("completion/complete", ({ params }) => {
    const values = ["paris", "park", "party"].filter((value) =>
      value.startsWith(params.argument.value),
    );
    return { completion: { values, total: values.length, hasMore: false } };
  });
}
