/**
 * Answer failure: whether a server's answer to a call says that the call failed. It is only looked
 * at; the client gets the same bytes. Rules: spec/mcp-proxy.md §3.
 */
import { textOf } from "./json-walk.js";
import { membersOfLine } from "./message.js";

/**
 * The call was answered, and the answer says that it failed. Its name is what the log keeps; what
 * the server says goes to the client alone.
 */
export class CallFailedError extends Error {
  override readonly name: string;

  constructor(name: string) {
    super("the server answered that the call failed");
    this.name = name;
  }
}

const RPC_CODE = /^-?\d{1,16}$/;

/**
 * The failure that the answer tells: a result with `isError`, or a JSON-RPC error with its code;
 * `undefined` for any other answer.
 */
export function answerFailure(line: Buffer): CallFailedError | undefined {
  const members = membersOfLine(line);
  const error = members?.get("error");
  if (error !== undefined && textOf(line, error) !== "null") {
    const code = members?.get("error.code");
    const text = code === undefined ? "" : textOf(line, code);
    return new CallFailedError(RPC_CODE.test(text) ? `RpcError ${text}` : "RpcError");
  }
  const isError = members?.get("result.isError");
  return isError !== undefined && textOf(line, isError) === "true"
    ? new CallFailedError("ToolError")
    : undefined;
}
