/** Stretches of a view: all of it, closer, further along; never beyond what there is. */

import type { LaneAxis, XAxis } from "./axes";
import type { Domain } from "./raster";

export function whole(x: XAxis, axis: LaneAxis): Domain {
  return { from: x.from, to: x.to, top: 0, bottom: Math.max(axis.count, 1) };
}

/** The same stretch within what there is. */
export function within(domain: Domain, x: XAxis, axis: LaneAxis): Domain {
  const [from, to] = slid(domain.from, domain.to, x.from, x.to, x.least);
  const [top, bottom] = slid(Math.round(domain.top), Math.round(domain.bottom), 0, Math.max(axis.count, 1), 1);
  return { from, to, top, bottom };
}

/** Closer or further along x, with one point staying where it is; a factor below 1 is closer. */
export function zoomedX(domain: Domain, factor: number, x: number): Domain {
  return { ...domain, from: x - (x - domain.from) * factor, to: x + (domain.to - x) * factor };
}

/** Closer or further in lanes; always by one at least. */
export function zoomedLanes(domain: Domain, factor: number, position: number): Domain {
  const count = domain.bottom - domain.top;
  const wanted = factor < 1 ? Math.min(Math.round(count * factor), count - 1) : Math.max(Math.round(count * factor), count + 1);
  const part = (position - domain.top) / count;
  const top = Math.round(position - part * Math.max(wanted, 1));
  return { ...domain, top, bottom: top + Math.max(wanted, 1) };
}

export function moved(domain: Domain, dx: number, lanes: number): Domain {
  return { from: domain.from + dx, to: domain.to + dx, top: domain.top + lanes, bottom: domain.bottom + lanes };
}

/** A stretch, no shorter than the least and moved so that it lies between two ends. */
function slid(from: number, to: number, lowest: number, highest: number, least: number): [number, number] {
  const length = Math.min(Math.max(to - from, least), highest - lowest);
  const middle = (from + to) / 2;
  const start = Math.min(Math.max(to - from < least ? middle - length / 2 : from, lowest), highest - length);
  return [start, start + length];
}
