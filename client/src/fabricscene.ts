/** What of a fabric is drawn: devices that are not folded into others, and lines between them. */

import type { Fabric, JobLinks, Metric, Values } from "./fabricdata";

/** Least utilisation of each class of links. */
export const CLASSES: [string, number][] = [
  ["congested", 0.75],
  ["busy", 0.5],
  ["good", 0.25],
  ["light", 0.05],
  ["all", -Infinity],
];
/** Of lines that are drawn beside those of the least class. */
const TOP = 200;
export const SWITCH_RADIUS = 0.8;
export const HOST_RADIUS = 0.42;

export interface Choice {
  metric: Metric;
  /** Name of a class. */
  least: string;
  /** Whether parallel links are drawn each. */
  isEach: boolean;
  hosts: "folded" | "all";
  opened: ReadonlySet<number>;
  job: JobLinks | undefined;
}

/** Numbers of things: of devices, and after these of chassis. */
export interface Scene {
  x: Float32Array;
  y: Float32Array;
  radius: Float32Array;
  /** What a device is drawn as. */
  shown: Int32Array;
  things: number[];
  /** Ends of each line, the number it is coloured by, its links, and its place among those between the same ends. */
  from: Int32Array;
  to: Int32Array;
  value: Float32Array;
  links: number[][];
  place: Int16Array;
  /** Links that belong to lines which are not drawn, for being below the least class. */
  hiddenCount: number;
}

export function sceneOf(fabric: Fabric, values: Values, choice: Choice): Scene {
  const count = fabric.nodeCount + fabric.chassisCount;
  const shown = shownAs(fabric, choice);
  const scene = { ...places(fabric, count), shown, things: [...new Set(shown)] };
  const lines = linesOf(fabric, values, choice, shown, count);
  const { least, job } = choice;
  if (job || least === "all") {
    const typed = { from: new Int32Array(lines.from), to: new Int32Array(lines.to), value: new Float32Array(lines.value), place: new Int16Array(lines.place) };
    return { ...scene, ...typed, links: lines.links, hiddenCount: 0 };
  }
  const drawn = lines.value.map((_, line) => line).filter(wanted(fabric, values, choice, lines));
  const hidden = lines.links.reduce((sum, links) => sum + links.length, 0) - drawn.reduce((sum, line) => sum + lines.links[line]!.length, 0);
  return {
    ...scene,
    from: Int32Array.from(drawn, (line) => lines.from[line]!),
    to: Int32Array.from(drawn, (line) => lines.to[line]!),
    value: Float32Array.from(drawn, (line) => lines.value[line]!),
    links: drawn.map((line) => lines.links[line]!),
    place: Int16Array.from(drawn, (line) => lines.place[line]!),
    hiddenCount: hidden,
  };
}

/** What each device is drawn as: itself, its switch, or its chassis. */
function shownAs({ nodeCount, parent, chassis }: Fabric, { hosts, opened, job }: Choice): Int32Array {
  const shown = new Int32Array(nodeCount);
  for (let node = 0; node < nodeCount; node++) {
    let thing = node;
    const above = parent[node]!;
    const isOpen = hosts === "all" || opened.has(above) || job?.hosts.has(node) || job?.servers.has(node);
    if (above >= 0 && !isOpen) thing = above;
    const box = thing < nodeCount ? chassis[thing]! : -1;
    if (box >= 0 && hosts !== "all" && !opened.has(nodeCount + box)) thing = nodeCount + box;
    shown[node] = thing;
  }
  return shown;
}

function places({ nodeCount, x, y, chassis, parent }: Fabric, count: number): Pick<Scene, "x" | "y" | "radius"> {
  const all = { x: new Float32Array(count), y: new Float32Array(count), radius: new Float32Array(count) };
  const members = new Uint16Array(count);
  for (let node = 0; node < nodeCount; node++) {
    all.x[node] = x[node]!;
    all.y[node] = y[node]!;
    all.radius[node] = parent[node]! >= 0 ? HOST_RADIUS : SWITCH_RADIUS;
    if (chassis[node]! < 0) continue;
    const box = nodeCount + chassis[node]!;
    members[box]!++;
    all.x[box]! += x[node]!;
    all.y[box]! += y[node]!;
  }
  for (let box = nodeCount; box < count; box++) {
    all.x[box]! /= members[box]! || 1;
    all.y[box]! /= members[box]! || 1;
    all.radius[box] = Math.max(1.2, Math.sqrt(members[box]!) * 0.8);
  }
  return all;
}

interface Lines {
  from: number[];
  to: number[];
  value: number[];
  links: number[][];
  place: number[];
}

function linesOf(fabric: Fabric, values: Values, { metric, isEach, job }: Choice, shown: Int32Array, count: number): Lines {
  const lines: Lines = { from: [], to: [], value: [], links: [], place: [] };
  const between = new Map<number, number>();
  const numbers = values[metric];
  for (let link = 0; link < fabric.linkCount; link++) {
    if (job && !job.bytes.has(2 * link) && !job.bytes.has(2 * link + 1)) continue;
    const [one, other] = [shown[fabric.end[2 * link]!]!, shown[fabric.end[2 * link + 1]!]!];
    if (one === other) continue;
    const value = higher(numbers[2 * link]!, numbers[2 * link + 1]!);
    const key = Math.min(one, other) * count + Math.max(one, other);
    const before = between.get(key);
    if (before === undefined || isEach) {
      between.set(key, isEach ? (before ?? 0) + 1 : lines.value.length);
      lines.from.push(Math.min(one, other));
      lines.to.push(Math.max(one, other));
      lines.value.push(value);
      lines.links.push([link]);
      lines.place.push(isEach ? (before ?? 0) : 0);
    } else {
      lines.links[before]!.push(link);
      lines.value[before] = higher(lines.value[before]!, value);
    }
  }
  return lines;
}

/** Whether a line is drawn: those with a link of the least class, and those that are highest. */
function wanted(fabric: Fabric, { peak }: Values, { least }: Choice, lines: Lines): (line: number) => boolean {
  const bound = CLASSES.find(([name]) => name === least)?.[1] ?? 0.5;
  const isFull = (links: number[]): boolean => links.some((link) => peak[2 * link]! >= bound || peak[2 * link + 1]! >= bound);
  const top = new Set(least === "busy" ? highest(lines.value, TOP) : []);
  // What is down is always of interest.
  return (line) => top.has(line) || isFull(lines.links[line]!) || lines.links[line]!.some((link) => !fabric.isUp[link]);
}

/** Places of the highest numbers above zero, so many at most, the highest first. Sorting all with a function would take as long as drawing. */
export function highest(numbers: ArrayLike<number>, most: number): number[] {
  const sorted = Float32Array.from(numbers).sort();
  // NaN comes last.
  let end = sorted.length;
  while (end > 0 && Number.isNaN(sorted[end - 1]!)) end--;
  const least = Math.max(sorted[Math.max(end - most, 0)] ?? 0, 1e-30);
  const found: number[] = [];
  for (let place = 0; place < numbers.length; place++) if (Math.fround(numbers[place]!) >= least) found.push(place);
  return found.sort((one, other) => numbers[other]! - numbers[one]!).slice(0, most);
}

/** The higher of two numbers, of which either may not be known. */
export function higher(one: number, other: number): number {
  return one >= other || Number.isNaN(other) ? one : other;
}
