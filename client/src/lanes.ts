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
  private blocks: Float64Array | undefined;

  /**
   * @param facetOf facet of each row; rows of facets from `facetCount` on are left out
   * @param laneOf lane of each row
   */
  constructor(facetCount: number, facetOf: Uint8Array, laneOf: Int32Array, begins: Float64Array, ends: Float64Array) {
    const { rows, isAsGiven } = ordered(facetCount, facetOf, laneOf, begins);
    this.rows = rows;
    this.begins = isAsGiven ? begins : taken(begins, rows);
    this.ends = isAsGiven ? ends : taken(ends, rows);
    this.reach = new Float64Array(rows.length);
    const { ends: endOf, reach } = this;
    const found = Array.from({ length: facetCount }, () => ({ values: [] as number[], firsts: [] as number[] }));
    let facet = -1;
    let lane = 0;
    let furthestInLane = -Infinity;
    for (let place = 0; place < rows.length; place++) {
      const row = rows[place]!;
      const end = endOf[place]!;
      const nextFacet = facetOf[row]!;
      const nextLane = laneOf[row]!;
      if (nextFacet !== facet || nextLane !== lane) {
        if (facet >= 0 && nextFacet !== facet) found[facet]!.firsts.push(place);
        facet = nextFacet;
        lane = nextLane;
        found[facet]!.values.push(lane);
        found[facet]!.firsts.push(place);
        furthestInLane = end;
      }
      if (end > furthestInLane) furthestInLane = end;
      reach[place] = furthestInLane;
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
    const { furthest } = this;
    let best = -1;
    let bestDistance = slack;
    for (let place = upperBound(this.begins, first, last, x + slack) - 1; place >= first; place--) {
      if (this.reach[place]! < x - slack) break;
      if (furthest[Math.floor(place / BLOCK)]! < x - slack) {
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

  /** The furthest end in each block, worked out when something is pointed at. */
  private get furthest(): Float64Array {
    const { ends } = this;
    return (this.blocks ??= Float64Array.from({ length: Math.ceil(ends.length / BLOCK) }, (_, block) =>
      ends.subarray(block * BLOCK, (block + 1) * BLOCK).reduce((furthest, end) => Math.max(furthest, end), -Infinity),
    ));
  }

  private lasts(place: number): number {
    return this.ends[place]! - this.begins[place]!;
  }
}

/** Rows in order of facet, lane and begin, and whether these are all rows, as they are given. */
function ordered(facetCount: number, facetOf: Uint8Array, laneOf: Int32Array, begins: Float64Array): { rows: Uint32Array; isAsGiven: boolean } {
  const all = new Uint32Array(begins.length);
  let count = 0;
  // Tables by rank are in order: then sorting is skipped.
  let isOrdered = true;
  let facet = 0;
  let lane = -Infinity;
  let begin = -Infinity;
  for (let row = 0; row < begins.length; row++) {
    const nextFacet = facetOf[row]!;
    if (nextFacet >= facetCount) continue;
    const nextLane = laneOf[row]!;
    const nextBegin = begins[row]!;
    all[count++] = row;
    if (isOrdered) isOrdered = nextFacet !== facet ? nextFacet > facet : nextLane !== lane ? nextLane > lane : nextBegin >= begin;
    facet = nextFacet;
    lane = nextLane;
    begin = nextBegin;
  }
  const rows = all.subarray(0, count);
  if (!isOrdered) rows.sort((a, b) => facetOf[a]! - facetOf[b]! || laneOf[a]! - laneOf[b]! || begins[a]! - begins[b]!);
  return { rows, isAsGiven: isOrdered && count === begins.length };
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
