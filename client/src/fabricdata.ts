/** A fabric and what its links did: from the page, or from parts that are loaded when they are asked for. */

import type { Numbers, Part } from "./blocks";

/** The metrics that lines are drawn by. */
export const METRICS = ["utilisation", "storage", "other", "waiting", "errors"] as const;
export type Metric = (typeof METRICS)[number];
const SERIES = ["utilisation", "storage", "waiting", "errors", "multicast"] as const;
type Series = (typeof SERIES)[number];

/** Numbers of each directed link: 2n is the first end of link n sending, 2n + 1 the other. NaN is not known. */
export interface Values extends Record<Metric | "multicast" | "peak", Float32Array> {}

export interface Job {
  key: string;
  name: string;
  user: string;
  app: string;
  bytes: number | null;
}

export interface JobLinks {
  /** Bytes by directed link. */
  bytes: Map<number, { read: number; write: number }>;
  /** Devices that are its nodes, and servers that it reached. */
  hosts: Set<number>;
  servers: Set<number>;
}

interface About {
  night: string | null;
  lowest: number;
  highest: number;
  steps: number;
  slots: number;
  guids: string[];
  names: string[];
  descriptions: string[];
  kinds: string[];
  speeds: string[];
  jobs: [string, string, string, string, number | null][];
  evidence: string[];
}

/** Time in slots of ten minutes: the first, and how many; undefined for the whole night. */
export type Window = { first: number; count: number } | undefined;

export class Fabric {
  readonly about: About;
  readonly jobs: Job[];
  readonly nodeCount: number;
  readonly linkCount: number;
  readonly x: Float32Array;
  readonly y: Float32Array;
  readonly kind: Uint8Array;
  readonly tier: Uint8Array;
  readonly lid: Uint32Array;
  /** The switch that a host is folded into, and the chassis that a chip is; -1 for none. */
  readonly parent: Int32Array;
  readonly chassis: Int32Array;
  readonly chassisCount: number;
  /** Devices and ports at both ends of link n, at 2n and 2n + 1. */
  readonly end: Uint32Array;
  readonly port: Uint16Array;
  /** Bytes in a second by link. */
  readonly capacity: Float32Array;
  readonly isUp: Uint8Array;
  private readonly speed: Uint8Array;
  private readonly lanes: Uint8Array;
  private readonly numbers: Float32Array;
  private readonly night: Values;
  private readonly hot: Uint32Array;
  /** Sums of the first n slots by hot link, n from 0 on, and how many of them are known. */
  private readonly sums: Record<Series, Float64Array>;
  private readonly counts: Record<Series, Uint16Array>;
  private readonly sharers = new Map<number, [Job, number][]>();
  private readonly slots = new Map<number, Promise<Record<Series, Uint16Array>>>();
  private readonly jobLinks = new Map<string, Promise<JobLinks>>();

  constructor(
    part: Part,
    private readonly load: (name: string) => Promise<Part>,
  ) {
    const about = (this.about = part.about as About);
    const a = part.arrays;
    this.jobs = about.jobs.map(([key, name, user, app, bytes]) => ({ key, name, user, app, bytes }));
    this.x = a["x"] as Float32Array;
    this.y = a["y"] as Float32Array;
    this.nodeCount = this.x.length;
    this.kind = a["kind"] as Uint8Array;
    this.tier = a["tier"] as Uint8Array;
    this.lid = a["lid"] as Uint32Array;
    this.parent = a["parent"] as Int32Array;
    this.chassis = a["chassis"] as Int32Array;
    this.chassisCount = this.chassis.reduce((most, number) => Math.max(most, number + 1), 0);
    this.end = interleaved(a["end"]!, a["peer"]!, Uint32Array);
    this.port = interleaved(a["port"]!, a["peer_port"]!, Uint16Array);
    this.capacity = a["capacity"] as Float32Array;
    this.linkCount = this.capacity.length;
    this.isUp = a["is_up"] as Uint8Array;
    this.speed = a["speed"] as Uint8Array;
    this.lanes = a["lanes"] as Uint8Array;
    this.numbers = decoder(about);
    const night = Object.fromEntries(
      [...SERIES, "peak"].map((name) => [name, this.decoded(a[`night_${name}`] as Uint16Array)]),
    ) as Omit<Values, "other">;
    this.night = { ...night, other: other(night.utilisation, night.storage) } as Values;
    this.hot = a["hot"] as Uint32Array;
    this.sums = {} as Record<Series, Float64Array>;
    this.counts = {} as Record<Series, Uint16Array>;
    for (const name of SERIES) [this.sums[name], this.counts[name]] = this.prefixes(a[`series_${name}`] as Uint16Array);
    for (let at = 0; at < a["sharer_link"]!.length; at++) {
      const link = a["sharer_link"]![at]!;
      const found = this.sharers.get(link) ?? [];
      found.push([this.jobs[a["sharer_job"]![at]!]!, a["sharer_bytes"]![at]!]);
      this.sharers.set(link, found);
    }
  }

  /** Jobs that moved most over a directed link, of links that were high in something. */
  sharersOf(directed: number): [Job, number][] {
    return this.sharers.get(directed) ?? [];
  }

  isSwitch(node: number): boolean {
    const kind = this.about.kinds[this.kind[node]!];
    return kind === "switch" || kind === "router";
  }

  isHost(node: number): boolean {
    return this.about.kinds[this.kind[node]!] === "host";
  }

  /** Such as `4x EDR`. */
  speedOf(link: number): string {
    return `${this.lanes[link]! > 0 ? `${this.lanes[link]}x ` : ""}${this.about.speeds[this.speed[link]!] ?? "speed not known"}`;
  }

  /** Numbers of a window: of all links, or only of those that were high in something, which are at hand. */
  async values(window: Window, ofAll: boolean): Promise<Values> {
    if (!window) return this.night;
    return ofAll ? this.ofSlots(window) : this.ofHot(window);
  }

  /** Numbers that are at hand at once: of hot links, or of the night. */
  ofHot(window: Window): Values {
    if (!window) return this.night;
    const { first, count } = window;
    const found = {} as Record<Series, Float32Array>;
    const width = this.about.slots + 1;
    const end = Math.min(first + count, this.about.slots);
    for (const name of SERIES) {
      const values = (found[name] = new Float32Array(2 * this.linkCount).fill(NaN));
      const [sums, counts] = [this.sums[name], this.counts[name]];
      this.hot.forEach((directed, row) => {
        const known = counts[row * width + end]! - counts[row * width + first]!;
        const sum = sums[row * width + end]! - sums[row * width + first]!;
        if (known) values[directed] = name === "errors" ? Math.max(sum, 0) : Math.max(sum, 0) / known;
      });
    }
    return { ...found, peak: found.utilisation, other: other(found.utilisation, found.storage) };
  }

  /** Devices and links of a job. */
  job(key: string): Promise<JobLinks> {
    return kept(this.jobLinks, key, () => this.load(`job-${key}`).then((part) => this.linksOf(part)));
  }

  private linksOf({ arrays }: Part): JobLinks {
    const links: JobLinks = { bytes: new Map(), hosts: new Set(), servers: new Set() };
    arrays["link"]!.forEach((directed, row) => {
      links.bytes.set(directed, { read: arrays["read"]![row]!, write: arrays["write"]![row]! });
      const leaf = [this.end[directed]!, this.end[directed ^ 1]!].find((node) => !this.isSwitch(node));
      if (leaf === undefined) return;
      if (arrays["is_host"]![row]) links.hosts.add(leaf);
      if (arrays["is_server"]![row]) links.servers.add(leaf);
    });
    return links;
  }

  private async ofSlots({ first, count }: NonNullable<Window>): Promise<Values> {
    const wanted = Array.from({ length: Math.min(count, this.about.slots - first) }, (_, at) => this.slot(first + at));
    const slots = await Promise.all(wanted);
    const found = {} as Record<Series, Float32Array>;
    for (const name of SERIES) {
      const values = (found[name] = new Float32Array(2 * this.linkCount));
      for (let directed = 0; directed < values.length; directed++) {
        let known = 0;
        let sum = 0;
        for (const slot of slots) {
          const level = slot[name][directed]!;
          if (level) [known, sum] = [known + 1, sum + this.numbers[level]!];
        }
        values[directed] = known ? (name === "errors" ? sum : sum / known) : NaN;
      }
    }
    return { ...found, peak: found.utilisation, other: other(found.utilisation, found.storage) };
  }

  private slot(number: number): Promise<Record<Series, Uint16Array>> {
    return kept(this.slots, number, () => this.load(`slot-${number}`).then(({ arrays }) => arrays as unknown as Record<Series, Uint16Array>));
  }

  private decoded(levels: Uint16Array): Float32Array {
    return Float32Array.from(levels, (level) => this.numbers[level]!);
  }

  private prefixes(levels: Uint16Array): [Float64Array, Uint16Array] {
    const { slots } = this.about;
    const rows = levels.length / slots;
    const sums = new Float64Array(rows * (slots + 1));
    const counts = new Uint16Array(rows * (slots + 1));
    for (let row = 0, at = 0; row < rows; row++) {
      for (let slot = 0, place = row * (slots + 1); slot < slots; slot++, at++, place++) {
        const level = levels[at]!;
        sums[place + 1] = sums[place]! + (level ? this.numbers[level]! : 0);
        counts[place + 1] = counts[place]! + (level ? 1 : 0);
      }
    }
    return [sums, counts];
  }
}

/** What was loaded before, or is loaded now; what failed is tried again the next time. */
function kept<Key, Value>(all: Map<Key, Promise<Value>>, key: Key, load: () => Promise<Value>): Promise<Value> {
  let found = all.get(key);
  if (!found) {
    found = load();
    all.set(key, found);
    found.catch(() => all.delete(key));
  }
  return found;
}

/** The number of each level, as `iomine/derive/fabric_night.py` writes them. */
function decoder({ lowest, highest, steps }: About): Float32Array {
  const step = Math.log(highest / lowest) / steps;
  return Float32Array.from({ length: steps + 3 }, (_, level) => (level > 1 ? lowest * Math.exp((level - 2) * step) : level ? 0 : NaN));
}

/** What is not storage traffic. */
function other(utilisation: Float32Array, storage: Float32Array): Float32Array {
  return utilisation.map((used, at) => Math.max(used - (storage[at]! || 0), 0));
}

function interleaved<Kind extends Uint16Array | Uint32Array>(one: Numbers, two: Numbers, kind: new (length: number) => Kind): Kind {
  const both = new kind(2 * one.length);
  for (let at = 0; at < one.length; at++) {
    both[2 * at] = one[at]!;
    both[2 * at + 1] = two[at]!;
  }
  return both;
}
