/**
 * Rows in lanes: those of one facet and one lane (a rank, an OST) lie together, in order of where they begin.
 *
 * With each row goes the furthest end in its lane so far, which never falls: what a window shows is found by two binary
 * searches, and what the pointer is on without a look at rows that ended before.
 */

/** So many rows share the furthest of their ends, so that one long row does not hide where a search may stop. */
const BLOCK = 64;

export interface Facet {
  /** Number of each lane that has rows, ascending. */
  readonly values: Int32Array;
  /** Place of each lane's first row, and behind the last lane that of the end. */
  readonly firsts: Uint32Array;
}

export class Lanes {
  /** Row at each place. */
  readonly rows: Uint32Array;
  readonly begins: Float64Array;
  readonly ends: Float64Array;
  readonly facets: readonly Facet[];
  private readonly reach: Float64Array;
  private readonly furthest: Float64Array;

  /**
   * @param facetOf facet of each row; rows of facets from `facetCount` on are left out
   * @param laneOf lane of each row
   */
  constructor(facetCount: number, facetOf: Uint8Array, laneOf: Int32Array, begins: Float64Array, ends: Float64Array) {
    this.rows = ordered(facetCount, facetOf, laneOf, begins);
    this.begins = taken(begins, this.rows);
    this.ends = taken(ends, this.rows);
    this.reach = new Float64Array(this.rows.length);
    this.furthest = new Float64Array(Math.ceil(this.rows.length / BLOCK)).fill(-Infinity);
    const found = Array.from({ length: facetCount }, () => ({ values: [] as number[], firsts: [] as number[] }));
    let facet = -1;
    let lane = 0;
    for (let place = 0; place < this.rows.length; place++) {
      const row = this.rows[place]!;
      const isNew = facetOf[row] !== facet || laneOf[row] !== lane;
      if (isNew) {
        if (facet >= 0 && facetOf[row] !== facet) found[facet]!.firsts.push(place);
        facet = facetOf[row]!;
        lane = laneOf[row]!;
        found[facet]!.values.push(lane);
        found[facet]!.firsts.push(place);
      }
      const end = this.ends[place]!;
      this.reach[place] = isNew ? end : Math.max(end, this.reach[place - 1]!);
      const block = Math.floor(place / BLOCK);
      this.furthest[block] = Math.max(this.furthest[block]!, end);
    }
    if (facet >= 0) found[facet]!.firsts.push(this.rows.length);
    this.facets = found.map(({ values, firsts }) => ({ values: Int32Array.from(values), firsts: Uint32Array.from(firsts) }));
  }

  /** The first and the last place, exclusive, of a stretch that holds all rows of a lane that touch a window. */
  window(first: number, last: number, from: number, to: number): [number, number] {
    return [lowerBound(this.reach, first, last, from), upperBound(this.begins, first, last, to)];
  }

  /**
   * The place in a lane that is nearest to x, the shortest of those that hold it; -1 where none is within the slack.
   *
   * @param isShown whether a place can be picked
   */
  nearest(first: number, last: number, x: number, slack: number, isShown: (place: number) => boolean): number {
    let best = -1;
    let bestDistance = slack;
    for (let place = upperBound(this.begins, first, last, x + slack) - 1; place >= first; place--) {
      if (this.reach[place]! < x - slack) break;
      if (this.furthest[Math.floor(place / BLOCK)]! < x - slack) {
        place -= place % BLOCK;
        continue;
      }
      const distance = Math.max(this.begins[place]! - x, x - this.ends[place]!, 0);
      if (distance > bestDistance || !isShown(place)) continue;
      if (distance < bestDistance || best < 0 || this.lasts(place) < this.lasts(best)) {
        best = place;
        bestDistance = distance;
      }
    }
    return best;
  }

  private lasts(place: number): number {
    return this.ends[place]! - this.begins[place]!;
  }
}

/** Rows in order of facet, lane and begin. */
function ordered(facetCount: number, facetOf: Uint8Array, laneOf: Int32Array, begins: Float64Array): Uint32Array {
  let count = 0;
  const all = new Uint32Array(begins.length);
  for (let row = 0; row < begins.length; row++) if (facetOf[row]! < facetCount) all[count++] = row;
  const kept = all.subarray(0, count);
  const compare = (a: number, b: number): number =>
    facetOf[a]! - facetOf[b]! || laneOf[a]! - laneOf[b]! || begins[a]! - begins[b]!;
  // Tables of ranks come in order.
  for (let at = 1; at < kept.length; at++) if (compare(kept[at - 1]!, kept[at]!) > 0) return kept.sort(compare);
  return kept;
}

function taken(values: Float64Array, rows: Uint32Array): Float64Array {
  const found = new Float64Array(rows.length);
  for (let place = 0; place < rows.length; place++) found[place] = values[rows[place]!]!;
  return found;
}

/** The first place whose value is not below x. */
function lowerBound(values: Float64Array, first: number, last: number, x: number): number {
  while (first < last) {
    const middle = (first + last) >>> 1;
    if (values[middle]! < x) first = middle + 1;
    else last = middle;
  }
  return first;
}

/** The first place whose value is above x. */
function upperBound(values: Float64Array, first: number, last: number, x: number): number {
  while (first < last) {
    const middle = (first + last) >>> 1;
    if (values[middle]! <= x) first = middle + 1;
    else last = middle;
  }
  return first;
}
