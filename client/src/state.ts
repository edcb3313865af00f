/** What a person chose and has in sight, as the address has it. */

import type { Address } from "./address";
import { parseRange, type Range, rangeText, SECONDS, SIZES } from "./ranges";
import { type About, type Highlight, UNKNOWN } from "./rows";
import { parseRanks, ranksText } from "./select";

export type ViewName = "operations" | "sizes" | "offsets" | "osts" | "phases";
const VIEW_NAMES: readonly ViewName[] = ["operations", "sizes", "offsets", "osts", "phases"];

/** What the person chose. */
export interface Chosen {
  view: ViewName;
  /** Whether colours stand for transfer sizes; otherwise they stand for operations. */
  isBySize: boolean;
  /** Whether OSTs lie in the order of their numbers; otherwise in that of their first use. */
  isByNumber: boolean;
  /** Index of a file, `UNKNOWN` for all files. */
  file: number;
  ranks: Int32Array | undefined;
  /** The only operation that is shown; undefined for all. */
  op: string | undefined;
  /** Bytes and seconds of the requests that are shown. */
  size: Range | undefined;
  took: Range | undefined;
  /** Names of colours that were switched off in the legend. */
  hidden: ReadonlySet<string>;
  highlight: Highlight | undefined;
}

export const NOTHING_CHOSEN: Chosen = {
  view: "operations",
  isBySize: false,
  isByNumber: false,
  file: UNKNOWN,
  ranks: undefined,
  op: undefined,
  size: undefined,
  took: undefined,
  hidden: new Set(),
  highlight: undefined,
};

/** What is in sight of a view, where that is not all of it: seconds or bytes along x, and first and last position of its lanes. */
export interface Window {
  x?: Range;
  lanes?: Range;
}

/** Names in the address, in its order. */
export const NAMES = ["view", "colour", "order", "t", "bytes", "lanes", "file", "ranks", "op", "size", "took", "hide", "highlight"] as const;
type Name = (typeof NAMES)[number];

/** The values of the address for a choice and a window; what is usual has none. */
export function valuesOf(chosen: Chosen, { x, lanes }: Window): Map<string, string> {
  const { view, isBySize, isByNumber, file, ranks, op, size, took, hidden, highlight } = chosen;
  const values: Partial<Record<Name, string>> = {
    ...(view === "operations" ? {} : { view }),
    ...(isBySize && view !== "sizes" ? { colour: "size" } : {}),
    ...(view === "osts" && isByNumber ? { order: "number" } : {}),
    ...(x ? { [view === "offsets" ? "bytes" : "t"]: rangeText(x) } : {}),
    ...(lanes ? { lanes: rangeText(lanes) } : {}),
    ...(file === UNKNOWN ? {} : { file: String(file) }),
    ...(ranks ? { ranks: ranksText(ranks) } : {}),
    ...(op ? { op } : {}),
    ...(size ? { size: rangeText(size) } : {}),
    ...(took ? { took: rangeText(took) } : {}),
    ...(hidden.size ? { hide: [...hidden].join() } : {}),
    // What is chosen in another picture stands in that picture's part of the address.
    ...(highlight && !highlight.isForeign ? { highlight: highlight.code } : {}),
  };
  return new Map(NAMES.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]!] as const])));
}

/** What an address asks for. */
export interface Asked {
  chosen: Chosen;
  window: Window;
  /** Parts that this trace does not have, as the address has them. */
  ignored: string[];
}

/** Reads an address. Whatever it says gives a choice: parts that cannot be are left out, and named. */
export function askedOf({ anchor, values }: Address, about: About, colours: readonly string[]): Asked {
  const ignored: string[] = [];
  const read = <Found>(name: Name, parse: (text: string) => Found | undefined): Found | undefined => {
    const text = values.get(name);
    if (text === undefined) return undefined;
    let found: Found | undefined;
    try {
      found = parse(text);
    } catch {
      // Said below, with all that cannot be.
    }
    if (found === undefined) ignored.push(`${name}=${text}`);
    return found;
  };
  const among = <Found extends string>(names: readonly Found[]) => (text: string): Found | undefined => names.find((name) => name === text);
  const highlighted = (code: string): Highlight | undefined => about.highlights.find((found) => found.code === code);
  const seen = VIEW_NAMES.filter((name) => (name === "osts" ? about.osts.length : name === "phases" ? about.phases.length : true));
  const view = read("view", among(seen)) ?? "operations";
  const isBySize = view === "sizes" || (read("colour", among(["size"])) !== undefined && view !== "phases" && view !== "operations");
  const windowed = (lowest: number, highest: number) => (text: string): Range | undefined => {
    const found = parseRange(text, {});
    return found && found[0] < found[1] && found[0] < highest && found[1] > lowest ? found : undefined;
  };
  const along = view === "offsets" ? read("bytes", windowed(0, Infinity)) : read("t", windowed(0, about.shown_seconds));
  const lanes = read("lanes", (text) => {
    const found = parseRange(text, {});
    return found && found.every(Number.isSafeInteger) ? found : undefined;
  });
  const hidden = read("hide", (text) => {
    const found = text.split(",").filter((name) => colours.includes(name));
    return found.length ? new Set(found) : undefined;
  });
  const chosen: Chosen = {
    view,
    isBySize,
    isByNumber: view === "osts" && read("order", among(["number"])) !== undefined,
    file: read("file", (text) => (/^\d{1,9}$/.test(text) && Number(text) < about.files.length ? Number(text) : undefined)) ?? UNKNOWN,
    ranks: read("ranks", (text) => parseRanks(text, about.rank_count)),
    op: read("op", among(about.ops)),
    size: read("size", (text) => parseRange(text, SIZES)),
    took: read("took", (text) => parseRange(text, SECONDS)),
    hidden: hidden ?? NOTHING_CHOSEN.hidden,
    highlight: read("highlight", highlighted) ?? highlighted(anchor),
  };
  return { chosen, window: { ...(along ? { x: along } : {}), ...(lanes ? { lanes } : {}) }, ignored };
}

/** Whether an address says anything about the trace beyond an anchor. */
export function isAsked({ values }: Address): boolean {
  return NAMES.some((name) => values.has(name));
}
