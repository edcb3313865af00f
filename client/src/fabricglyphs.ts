/** Radar glyphs: what a device sent and received, of all, of storage and of other traffic, and its share of multicast packets. */

import type { Fabric, Values } from "./fabricdata";

export const AXES = ["sent", "sent, storage", "sent, other", "received, other", "received, storage", "received", "multicast packets"] as const;
const COUNT = AXES.length;
export const MULTICAST = COUNT - 1;

/** Numbers of each device on each axis. */
export interface Shapes {
  /** Over the capacity of its links. */
  absolute: Float32Array;
  /** Over what it sent, or received, in total. */
  relative: Float32Array;
}

/** Shapes of things: of devices, or, of a chassis, of its chips together. NaN is not known. */
export function shapesOf(fabric: Fabric, values: Values, thingOf: (node: number) => number, count: number): Shapes {
  const sums = new Float64Array(count * COUNT);
  const could = new Float64Array(count);
  const known = new Uint16Array(count);
  const multicast = new Uint16Array(count);
  for (let directed = 0; directed < 2 * fabric.linkCount; directed++) {
    const used = values.utilisation[directed]!;
    const capacity = fabric.capacity[directed >> 1]!;
    const [sender, receiver] = [thingOf(fabric.end[directed]!) * COUNT, thingOf(fabric.end[directed ^ 1]!) * COUNT];
    could[sender / COUNT]! += capacity;
    if (Number.isNaN(used) || Number.isNaN(capacity)) continue;
    known[sender / COUNT]!++;
    known[receiver / COUNT]!++;
    const storage = (values.storage[directed]! || 0) * capacity;
    const rest = values.other[directed]! * capacity;
    sums[sender]! += used * capacity;
    sums[sender + 1]! += storage;
    sums[sender + 2]! += rest;
    sums[receiver + 3]! += rest;
    sums[receiver + 4]! += storage;
    sums[receiver + 5]! += used * capacity;
    if (Number.isNaN(values.multicast[directed]!)) continue;
    sums[sender + MULTICAST]! += values.multicast[directed]!;
    multicast[sender / COUNT]!++;
  }
  const absolute = new Float32Array(count * COUNT).fill(NaN);
  const relative = new Float32Array(count * COUNT).fill(NaN);
  for (let thing = 0; thing < count; thing++) {
    if (!known[thing]) continue;
    const [sent, received] = [sums[thing * COUNT]!, sums[thing * COUNT + 5]!];
    for (let axis = 0; axis < MULTICAST; axis++) {
      const at = thing * COUNT + axis;
      absolute[at] = sums[at]! / (could[thing]! || 1);
      relative[at] = axis === 0 || axis === 5 ? sums[at]! / (sent + received || 1) : sums[at]! / ((axis < 3 ? sent : received) || 1);
    }
    const at = thing * COUNT + MULTICAST;
    absolute[at] = relative[at] = multicast[thing] ? sums[at]! / multicast[thing]! : 0;
  }
  return { absolute, relative };
}

/** Glyphs that are one path: many small paths are filled faster than one that reaches over the whole canvas. */
const BATCH = 32;

/** Draws a glyph at each place. */
export function drawGlyphs(
  context: CanvasRenderingContext2D,
  glyphs: { x: number; y: number; radius: number; thing: number }[],
  shapes: Float32Array,
  colours: { paper: string; line: string; fill: string },
): void {
  const cos = AXES.map((_, axis) => Math.sin((2 * Math.PI * axis) / COUNT));
  const sin = AXES.map((_, axis) => -Math.cos((2 * Math.PI * axis) / COUNT));
  context.lineWidth = 1;
  context.fillStyle = colours.paper;
  context.strokeStyle = colours.line;
  for (let first = 0; first < glyphs.length; first += BATCH) {
    context.beginPath();
    for (const { x, y, radius } of glyphs.slice(first, first + BATCH)) {
      context.moveTo(x + radius, y);
      context.arc(x, y, radius, 0, 2 * Math.PI);
    }
    context.fill();
    context.stroke();
  }
  context.fillStyle = context.strokeStyle = colours.fill;
  for (let first = 0; first < glyphs.length; first += BATCH) {
    context.beginPath();
    for (const { x, y, radius, thing } of glyphs.slice(first, first + BATCH)) {
      for (let axis = 0; axis < COUNT; axis++) {
        // By the root, so that a tenth of the capacity can be seen.
        const length = radius * Math.sqrt(Math.min(shapes[thing * COUNT + axis]! || 0, 1));
        if (axis) context.lineTo(x + cos[axis]! * length, y + sin[axis]! * length);
        else context.moveTo(x + cos[axis]! * length, y + sin[axis]! * length);
      }
      context.closePath();
    }
    context.globalAlpha = 0.55;
    context.fill();
    context.globalAlpha = 1;
    context.stroke();
  }
}

export interface Odd {
  node: number;
  axis: number;
  value: number;
  median: number;
}

/** A hundredth of the capacity: below it, differences are noise. */
const NOISE = 0.01;
const LEAST_NODES = 4;

/** Nodes with more than twice, or less than half, of their job's median on an axis; the axis on which they are farthest. */
export function oddOnes(nodes: number[], { absolute }: Shapes): Odd[] {
  const found: Odd[] = [];
  if (nodes.length < LEAST_NODES) return found;
  const medians = AXES.map((_, axis) => median(nodes.map((node) => absolute[node * COUNT + axis]!).filter((value) => !Number.isNaN(value))));
  for (const node of nodes) {
    let worst: Odd | undefined;
    let most = Math.log(2);
    for (let axis = 0; axis < COUNT; axis++) {
      const value = absolute[node * COUNT + axis]!;
      const far = Math.abs(Math.log((value + NOISE) / (medians[axis]! + NOISE)));
      if (far > most) [most, worst] = [far, { node, axis, value, median: medians[axis]! }];
    }
    if (worst) found.push(worst);
  }
  return found;
}

function median(values: number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
