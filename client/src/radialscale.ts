/** Values of edges in words, and ticks on their axes. */

import { clockOf } from "./fabricscale";
import { bytes, clock, seconds, whole } from "./format";
import type { About, Metric, Window } from "./radialdata";

/** A value of a metric with its unit. */
export function worded(metric: Metric, value: number): string {
  if (!Number.isFinite(value)) return "none";
  switch (metric.unit) {
    case "seconds":
      return seconds(value);
    case "seconds/MiB":
      return `${seconds(value)} a MiB`;
    case "bytes":
      return bytes(value);
    case "requests":
      return whole(value);
  }
}

/** The same on an axis, which says what it is of. */
export function briefly(metric: Metric, value: number): string {
  return metric.unit === "seconds/MiB" ? seconds(value) : worded(metric, value);
}

/** What a metric is called in a sentence. */
export function titled({ title }: Metric): string {
  return title.charAt(0).toLowerCase() + title.slice(1);
}

/** Round values within a range, at most so many: powers of ten with their double and fivefold, or powers of two of bytes. */
export function valueTicks({ unit }: Metric, least: number, most: number, room: number): number[] {
  const isBinary = unit === "bytes";
  const base = isBinary ? 2 : 10;
  const [low, high] = [least, most].map((value) => Math.log(value) / Math.log(base)) as [number, number];
  const steps = isBinary ? [1, 2, 5, 10, 20] : [1, 2, 3, 6];
  const step = steps.find((each) => Math.floor(high / each) - Math.ceil(low / each) + 1 <= room) ?? steps.at(-1)!;
  const powers: number[] = [];
  for (let power = Math.ceil(low / step - 1e-9) * step; power <= high + 1e-9; power += step) powers.push(base ** power);
  if (isBinary || step > 1 || 3 * powers.length > room) return powers;
  const finer = [];
  for (let power = Math.floor(low); power <= high; power++) finer.push(...[1, 2, 5].map((one) => one * 10 ** power));
  return finer.filter((value) => value >= least * 0.999 && value <= most * 1.001);
}

/** A time at which a bin begins. */
export function timeText({ time }: About, bin: number): string {
  return time.kind === "hours" ? clockOf(6 * bin) : clock(time.begin + bin * time.width, time.width);
}

/** A window in words. */
export function windowText(about: About, { from, to }: Window): string {
  const { time } = about;
  if (from === 0 && to === time.bins) return time.kind === "hours" ? "the whole night" : "the whole run";
  return `${timeText(about, from)} to ${timeText(about, to)}${time.kind === "hours" ? " UTC" : ""}`;
}
