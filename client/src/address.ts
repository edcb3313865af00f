/**
 * What the page's address keeps after its `#`: the anchor to which it goes, and what pictures show, such as
 * `#trace&view=osts&t=2.8-3.6`. Pictures of a page share it: each writes its own names and leaves the others alone.
 */

/** An address that is longer is no link that somebody copied. */
const MOST_SIGNS = 4000;

export interface Address {
  /** The id of an element, or the code of a finding; empty if there is none. */
  anchor: string;
  values: Map<string, string>;
  isTooLong: boolean;
}

export function parsed(hash: string): Address {
  const text = hash.replace(/^#/, "");
  if (text.length > MOST_SIGNS) return { anchor: "", values: new Map(), isTooLong: true };
  const parts = text.split("&");
  const anchor = parts[0]!.includes("=") ? "" : parts.shift()!;
  // Unlike `decodeURIComponent` this never throws.
  const read = (part: string): string => new URLSearchParams(`x=${part}`).get("x")!;
  return { anchor: read(anchor), values: new Map(new URLSearchParams(parts.join("&"))), isTooLong: false };
}

/** What an address says to one of several pictures, whose names have a prefix. */
export function within({ values, ...address }: Address, prefix: string): Address {
  const own = [...values].filter(([name]) => name.startsWith(prefix));
  return { ...address, values: new Map(own.map(([name, value]) => [name.slice(prefix.length), value])) };
}

/**
 * The address with other values of some names.
 *
 * @param anchor to which it goes where it has any of these values; empty for none of its own
 * @param names whose values are replaced
 * @param values of some of them
 */
export function merged(hash: string, anchor: string, names: readonly string[], values: ReadonlyMap<string, string>): string {
  const before = parsed(hash);
  const isOwn = (name: string): boolean => names.includes(name);
  const others = [...before.values].filter(([name]) => !isOwn(name));
  if (!values.size && others.length === before.values.size) return hash;
  const all = [...others, ...values].map(([name, value]) => `${name}=${written(value)}`);
  const isLeft = values.size > 0 || others.length > 0;
  const first = values.size && anchor ? anchor : others.length || (!isLeft && before.anchor !== anchor) ? before.anchor : "";
  const text = [...(first ? [written(first)] : []), ...all].join("&");
  return text && `#${text}`;
}

/** Escaped as far as an address needs it: people read it. */
function written(value: string): string {
  return encodeURIComponent(value).replace(/%20/g, "+").replace(/%2C/g, ",").replace(/%3A/g, ":");
}

/** Replaces values in the address of the page, without a step in the browser's history. */
export function keep(anchor: string, names: readonly string[], values: ReadonlyMap<string, string>): void {
  const hash = merged(location.hash, anchor, names, values);
  if (hash !== location.hash) history.replaceState(history.state, "", hash || location.pathname + location.search);
}
