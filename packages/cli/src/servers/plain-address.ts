/** An address without its query and fragment, and a user in it: people put tokens there. */
export function plainAddress(address: string): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}
