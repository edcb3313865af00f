/** Metrics in colours and in words. */

import type { Fabric, Metric, Values, Window } from "./fabricdata";
import { bytes, whole } from "./format";
import { SHADES } from "./theme";

export const NAMES: Record<Metric, string> = {
  utilisation: "Utilisation",
  storage: "Storage traffic",
  other: "Other traffic",
  waiting: "Waiting",
  errors: "Errors",
};
const UNKNOWN = 255;
/** Of a capacity, what is drawn as nothing. */
const LEAST = 0.01;

/** The range of a metric: ratios up to the capacity, others up to the highest. */
export interface Scale {
  least: number;
  most: number;
}

export function scaleOf(metric: Metric, values: Values): Scale {
  if (metric !== "waiting" && metric !== "errors") return { least: LEAST, most: 1 };
  let most = 0;
  for (const value of values[metric]) if (value > most) most = value;
  return { least: most / 1e4 || LEAST, most: most || 1 };
}

/** The shade of each number, by its logarithm; 255 where it is not known. */
export function shadesOf(numbers: Float32Array, { least, most }: Scale): Uint8Array {
  const span = Math.log(most / least);
  const shades = new Uint8Array(numbers.length);
  for (let at = 0; at < shades.length; at++) {
    const shade = Math.round((Math.log(numbers[at]! / least) / span) * (SHADES - 1));
    shades[at] = Number.isNaN(shade) ? UNKNOWN : Math.min(Math.max(shade, 0), SHADES - 1);
  }
  return shades;
}

/** A number of a metric in words. */
export function worded(metric: Metric, number: number, capacity = NaN): string {
  if (Number.isNaN(number)) return "not known";
  if (metric === "errors") return whole(number);
  if (metric === "waiting") return `${number < 0.01 && number > 0 ? number.toExponential(1) : number.toFixed(2)} ticks a word`;
  return Number.isNaN(capacity) ? percent(number) : `${percent(number)} (${bytes(number * capacity)}/s)`;
}

export function percent(ratio: number): string {
  if (Number.isNaN(ratio)) return "not known";
  return `${ratio >= 0.1 || !ratio ? Math.round(100 * ratio) : (100 * ratio).toPrecision(2)}%`;
}

/** A time of the night: `03:10`. */
export function clockOf(slot: number): string {
  const minutes = slot * 10;
  return `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
}

/** A window in words. */
export function windowText(window: Window): string {
  return window ? `${clockOf(window.first)} to ${clockOf(window.first + window.count)} UTC` : "the whole night";
}

/** The end of a directed link that sends: `leaf1 port 3`. */
export function endText(fabric: Fabric, directed: number): string {
  return `${fabric.about.names[fabric.end[directed]!]} port ${fabric.port[directed]}`;
}
