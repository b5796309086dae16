/** `acp config schema`: the JSON Schema of config.yml, for editors. */
import { configSchema } from "@acp/home";
import type { Run } from "../command.js";

/** Runs the command. */
export const configSchemaCommand: Run = ({ print }) => {
  const schema = configSchema();
  print.result(schema, () => JSON.stringify(schema, undefined, 2).split("\n"));
  return Promise.resolve("ok");
};
