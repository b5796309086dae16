/**
 * Collisions: tools of several servers that a model or a person may take for each other, and
 * descriptions that speak of other servers' tools. Pure. Rules: spec/tool-pins.md §6.
 */
import { nameLook } from "@acp/proxy-mcp";

/** A tool with its server and its definition. */
export interface NamedTool {
  readonly server: string;
  readonly name: string;
  /** Canonical JSON of its definition. */
  readonly text: string;
}

/** Tools that may be taken for each other. */
export interface Collision {
  readonly code: "same_name" | "look_alike_names" | "names_other_tool";
  readonly weight: "low" | "high";
  /** `server: tool`, two or more. */
  readonly tools: readonly { readonly server: string; readonly name: string }[];
}

const NAME_CHARS_MIN = 6;

/** Finds them. */
export function collisionsOf(tools: readonly NamedTool[]): readonly Collision[] {
  return [...alike(tools), ...mentions(tools)];
}

function alike(tools: readonly NamedTool[]): readonly Collision[] {
  const byLook = new Map<string, NamedTool[]>();
  for (const tool of tools) {
    const look = nameLook(tool.name);
    byLook.set(look, [...(byLook.get(look) ?? []), tool]);
  }
  return [...byLook.values()].flatMap((group): readonly Collision[] => {
    if (group.length < 2) return [];
    const names = group.map(({ server, name }) => ({ server, name }));
    // Of one server, or of several that are told apart by their prefix alone.
    return new Set(group.map(({ name }) => name)).size === 1
      ? [{ code: "same_name", weight: "low", tools: names }]
      : [{ code: "look_alike_names", weight: "high", tools: names }];
  });
}

/** What speaks of another server's tool may want to change how that one is used. */
function mentions(tools: readonly NamedTool[]): readonly Collision[] {
  const owners = new Map<string, NamedTool[]>();
  for (const tool of tools)
    if (tool.name.length >= NAME_CHARS_MIN && /[_-]/.test(tool.name))
      owners.set(tool.name, [...(owners.get(tool.name) ?? []), tool]);
  return tools.flatMap((tool): readonly Collision[] => {
    const words = new Set(tool.text.match(/[\w-]+/g) ?? []);
    return [...words].flatMap((word): readonly Collision[] => {
      const named = owners.get(word) ?? [];
      const other = named.find(({ server }) => server !== tool.server);
      const isOwn = word === tool.name || named.some(({ server }) => server === tool.server);
      if (other === undefined || isOwn) return [];
      return [
        {
          code: "names_other_tool",
          weight: "high",
          tools: [tool, other].map(({ server, name }) => ({ server, name })),
        },
      ];
    });
  });
}
