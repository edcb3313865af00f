/** Ranges as people write them: `4K-1M` bytes, `10ms-` seconds. */

/** From and to, both inclusive; from 0, or to Infinity, where there is no end. */
export type Range = [number, number];

type Units = Readonly<Record<string, number>>;

const KIB = 1024;
export const SIZES: Units = Object.fromEntries(
  ["", "k", "m", "g", "t", "p"].flatMap((prefix, power) => [prefix, `${prefix}b`, `${prefix}ib`].map((name) => [name, KIB ** power])),
);
export const SECONDS: Units = { us: 1e-6, µs: 1e-6, μs: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600 };

/**
 * Parses a range: `4K-1M`, `4K-`, `-1M`, or a number alone, which stands for itself. Undefined if the text is empty; throws if
 * it is no range.
 *
 * @param units by name, in lower case; a number without one is itself
 */
export function parseRange(text: string, units: Units): Range | undefined {
  if (!text.trim()) return undefined;
  const ends = text.split(/[-–]/);
  const isOne = ends.length === 1;
  const found = ends.map((end, at) => (end.trim() ? numberOf(end.trim(), units) : at ? Infinity : 0));
  const [from, to] = isOne ? [found[0]!, found[0]!] : [found[0]!, found[1]!];
  if (found.length > 2 || found.some(Number.isNaN) || from > to || (from === 0 && to === Infinity)) {
    throw new Error(`“${text.trim().slice(0, 40)}” is not a range.`);
  }
  return [from, to];
}

export function isWithin(value: number, [from, to]: Range): boolean {
  return value >= from && value <= to;
}

/** A range without units, as `parseRange` reads it. */
export function rangeText([from, to]: Range): string {
  return from === to ? plain(from) : `${from > 0 ? plain(from) : "0"}-${to < Infinity ? plain(to) : ""}`;
}

function numberOf(text: string, units: Units): number {
  const [, digits, unit] = /^(\d+(?:\.\d*)?|\.\d+)\s*([a-zµμ]*)$/i.exec(text) ?? [];
  const factor = unit ? units[unit.toLowerCase()] : 1;
  return digits === undefined || factor === undefined ? NaN : Number((Number(digits) * factor).toPrecision(12));
}

/** Decimals to the nanosecond, without an exponent. */
function plain(value: number): string {
  return Number.isInteger(value) ? value.toFixed() : value.toFixed(9).replace(/\.?0+$/, "");
}
