/** Names of a site without a server: what is called so, found as the server finds it. */

import { partOf } from "./blocks";

export interface Hit {
  kind: string;
  name: string;
  about: string;
  address: string;
}

/** Of each kind, its names with what else is known of them and the addresses of their pages, the newest first. */
export type Names = Record<string, [name: string, about: string, address: string][]>;

const MOST_OF_A_KIND = 4;

/** The index of a site, loaded when it is first asked for. */
export async function namesAt(address: string): Promise<Names> {
  return ((await partOf("names", address)).about as { names: Names }).names;
}

/** What has a text in its name, in either case: what is called just so first, then by kind, and of a kind what begins so first. */
export function found(names: Names, text: string): Hit[] {
  const lower = text.toLowerCase();
  const rank = (name: string): number => (name === text ? 0 : name.toLowerCase().startsWith(lower) ? 1 : 2);
  const hits = Object.entries(names).flatMap(([kind, rows]) =>
    rows
      .filter(([name]) => name.toLowerCase().includes(lower))
      .sort(([one], [other]) => rank(one) - rank(other))
      .slice(0, MOST_OF_A_KIND)
      .map(([name, about, address]) => ({ kind, name, about, address })),
  );
  return hits.sort((one, other) => Number(other.name === text) - Number(one.name === text));
}
