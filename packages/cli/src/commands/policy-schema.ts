/** `acp policy schema`: the JSON Schema of policies, for editors. */
import { policySchema } from "@acp/core/policy";
import type { Run } from "../command.js";

/** Runs the command. */
export const policySchemaCommand: Run = ({ print }) => {
  const schema = policySchema();
  print.result(schema, () => JSON.stringify(schema, undefined, 2).split("\n"));
  return Promise.resolve("ok");
};
