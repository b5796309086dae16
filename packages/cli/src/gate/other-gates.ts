/**
 * Other gates: those of one process besides its first, with the same parts and another policy or
 * one more layer. They end together.
 */
import { createConsentGate } from "@acp/core";
import type { ConsentGate, GateOptions, Layer, Policy } from "@acp/core";

/** Opens gates beside the one in use. */
export interface MoreGates {
  /** One more gate, which differs in its policy alone: the file's, which must be there. */
  gateWith(policyFile: string): Promise<ConsentGate>;
  /**
   * One more gate with the same policy, for somebody besides the agent: with a layer of its own, no
   * secret of the vault, and its own mark of how it is held.
   */
  gateFor(layer: Layer, isolation: string): ConsentGate;
}

/** What the other gates are made of. */
export interface OtherGatesParts {
  /** Options of the gate in use. */
  readonly options: GateOptions;
  /** Opens the policy of a file; throws if there is none. */
  policyOf(file: string): Promise<() => Policy>;
}

/**
 * Creates the place that other gates are opened in; disposing of it closes them.
 *
 * @param all - Every gate of the process; each other gate is added to it.
 */
export function createOtherGates(
  all: Set<ConsentGate>,
  { options, policyOf }: OtherGatesParts,
): MoreGates & AsyncDisposable {
  const opened: ConsentGate[] = [];
  const keep = (gate: ConsentGate): ConsentGate => {
    opened.push(gate);
    all.add(gate);
    return gate;
  };
  return {
    gateWith: async (file) => keep(createConsentGate({ ...options, policy: await policyOf(file) })),
    gateFor(layer, isolation) {
      // What is the agent's to use is not for everybody who is judged by its policy.
      const { vault: _agents, layers = [], ...rest } = options;
      return keep(createConsentGate({ ...rest, layers: [...layers, layer], isolation }));
    },
    async [Symbol.asyncDispose]() {
      for (const gate of opened) {
        all.delete(gate);
        await gate.close();
      }
    },
  };
}
