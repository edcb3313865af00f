/** Axes: lanes along y, time or offsets along x, and the ticks of both. */

import { ticks } from "d3-array";
import * as format from "./format";

/** Lanes from top to bottom: all numbers from 0 to count - 1, or a selection in some order. */
export class LaneAxis {
  /**
   * @param name what a lane is, such as `rank`
   * @param count how many lanes there are
   * @param values numbers of the lanes from top to bottom; 0 to count - 1 if left out
   * @param labels names by number; the numbers themselves if left out
   * @param order what they are in the order of, if not of their numbers
   */
  constructor(
    readonly name: string,
    readonly count: number,
    private readonly values?: Int32Array,
    private readonly labels?: string[],
    readonly order?: string,
  ) {}

  /** Number of the lane at a position. */
  value(position: number): number {
    return this.values ? this.values[position]! : position;
  }

  label(position: number): string {
    const value = this.value(position);
    return this.labels ? this.labels[value]! : String(value);
  }

  /** Position of each lane number, -1 if the axis does not have it. */
  positions(values: Int32Array): Int32Array {
    const { values: own, count } = this;
    if (!own) return values.map((value) => (value >= 0 && value < count ? value : -1));
    const position = new Map(Array.from(own, (value, at) => [value, at]));
    return values.map((value) => position.get(value) ?? -1);
  }

  /** Positions to label from `top` up to, not including, `bottom`: about `maxTicks` at most, on multiples of a power of two. */
  ticks(top: number, bottom: number, maxTicks: number): number[] {
    const step = Math.max(Math.ceil((bottom - top) / Math.max(maxTicks, 1)), 1);
    const round = step <= 1 ? 1 : 2 ** Math.ceil(Math.log2(step));
    const first = Math.ceil(top / round);
    return Array.from({ length: Math.ceil(bottom / round) - first }, (_, at) => (first + at) * round);
  }
}

/** The x axis: seconds of the run, or bytes of a file. */
export interface XAxis {
  kind: "time" | "offset";
  title: string;
  from: number;
  to: number;
  /** Where what is shown ends, within the axis. */
  end: number;
  /** The shortest range that zooming reaches, in units of x. */
  minSpan: number;
}

export interface Tick {
  at: number;
  label: string;
}

/** Ticks along x, about `maxTicks` at most. */
export function xTicks(axis: XAxis, from: number, to: number, maxTicks: number): Tick[] {
  if (axis.kind === "time") {
    const found = ticks(from, to, maxTicks);
    const step = found.length > 1 ? found[1]! - found[0]! : to - from;
    return found.map((at) => ({ at, label: format.clock(at, step) }));
  }
  // Multiples of binary units, so that a label is 1 MiB and not 0.95 MiB.
  const unit = 1024 ** Math.max(Math.floor(Math.log2(Math.max(to, 1)) / 10), 0);
  const step = 2 ** Math.ceil(Math.log2((to - from) / unit / Math.max(maxTicks, 1)));
  const first = Math.ceil(from / unit / step);
  const count = Math.floor(to / unit / step) - first + 1;
  return Array.from({ length: Math.max(count, 0) }, (_, at) => (first + at) * step * unit).map((at) => ({
    at,
    label: exactBytes(at, step * unit),
  }));
}

/** Bytes with enough digits to distinguish ticks that are `step` bytes apart. */
function exactBytes(at: number, step: number): string {
  const unit = Math.max(Math.floor(Math.log2(Math.max(at, 1)) / 10), 0);
  const name = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][unit]!;
  // Each halving of the unit needs one more digit.
  const decimals = Math.min(Math.max(Math.ceil(-Math.log2(step / 1024 ** unit)), 0), 6);
  return `${Number((at / 1024 ** unit).toFixed(decimals))} ${name}`;
}
