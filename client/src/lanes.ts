/**
 * Rows sorted by facet, lane (a rank, an OST) and begin. A place is an index into that order.
 *
 * Each place has the furthest end so far in its lane, which never decreases. So two binary searches find the rows of a
 * window, and the search for the row under the pointer stops where all earlier rows have ended.
 */

/** Places in a block. Each block has its furthest end, so that a search beneath one long row skips blocks that have ended. */
const BLOCK = 64;

export interface Facet {
  /** Number of each lane that has rows, ascending. */
  readonly values: Int32Array;
  /** First place of each lane, and one more entry: the end of the last lane, exclusive. */
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
    const rows = ordered(facetCount, facetOf, laneOf, begins);
    const isAll = rows.length === begins.length && isAscending(rows);
    this.rows = rows;
    this.begins = isAll ? begins : taken(begins, rows);
    this.ends = isAll ? ends : taken(ends, rows);
    this.reach = new Float64Array(rows.length);
    this.furthest = new Float64Array(Math.ceil(rows.length / BLOCK)).fill(-Infinity);
    const { ends: endOf, reach, furthest } = this;
    const found = Array.from({ length: facetCount }, () => ({ values: [] as number[], firsts: [] as number[] }));
    let facet = -1;
    let lane = 0;
    let furthestInLane = -Infinity;
    for (let place = 0; place < rows.length; place++) {
      const row = rows[place]!;
      const end = endOf[place]!;
      if (facetOf[row] !== facet || laneOf[row] !== lane) {
        if (facet >= 0 && facetOf[row] !== facet) found[facet]!.firsts.push(place);
        facet = facetOf[row]!;
        lane = laneOf[row]!;
        found[facet]!.values.push(lane);
        found[facet]!.firsts.push(place);
        furthestInLane = end;
      }
      if (end > furthestInLane) furthestInLane = end;
      reach[place] = furthestInLane;
      const block = (place / BLOCK) | 0;
      if (end > furthest[block]!) furthest[block] = end;
    }
    if (facet >= 0) found[facet]!.firsts.push(rows.length);
    this.facets = found.map(({ values, firsts }) => ({ values: Int32Array.from(values), firsts: Uint32Array.from(firsts) }));
  }

  /** First and last place, end-exclusive, between which all rows of a lane lie that touch a window. */
  window(first: number, last: number, from: number, to: number): [number, number] {
    return [lowerBound(this.reach, first, last, from), upperBound(this.begins, first, last, to)];
  }

  /**
   * The place in a lane that is nearest to x; of several as near, the shortest. -1 if none is within the slack.
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
  // Tables by rank are in order: then sorting is skipped.
  let isOrdered = true;
  for (let at = 1; isOrdered && at < count; at++) {
    const a = kept[at - 1]!;
    const b = kept[at]!;
    const isSameLane = facetOf[a] === facetOf[b] && laneOf[a] === laneOf[b];
    isOrdered = isSameLane ? begins[a]! <= begins[b]! : facetOf[a]! < facetOf[b]! || (facetOf[a] === facetOf[b] && laneOf[a]! < laneOf[b]!);
  }
  if (isOrdered) return kept;
  return kept.sort((a, b) => facetOf[a]! - facetOf[b]! || laneOf[a]! - laneOf[b]! || begins[a]! - begins[b]!);
}

function isAscending(rows: Uint32Array): boolean {
  for (let at = 1; at < rows.length; at++) if (rows[at]! < rows[at - 1]!) return false;
  return true;
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
