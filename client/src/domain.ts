/** Changes the domain, the part of a view that is in sight: zoomed, moved, and kept within the axes. */

import type { LaneAxis, XAxis } from "./axes";
import type { Domain } from "./raster";

/** All of the axes. */
export function whole(x: XAxis, axis: LaneAxis): Domain {
  return { from: x.from, to: x.to, top: 0, bottom: Math.max(axis.count, 1) };
}

/** The domain, moved and shortened until it lies within the axes. */
export function within(domain: Domain, x: XAxis, axis: LaneAxis): Domain {
  const [from, to] = slid(domain.from, domain.to, x.from, x.to, x.minSpan);
  const [top, bottom] = slid(Math.round(domain.top), Math.round(domain.bottom), 0, Math.max(axis.count, 1), 1);
  return { from, to, top, bottom };
}

/** Zooms x around a point, which stays in place; a factor below 1 zooms in. */
export function zoomedX(domain: Domain, factor: number, x: number): Domain {
  return { ...domain, from: x - (x - domain.from) * factor, to: x + (domain.to - x) * factor };
}

/** Zooms lanes around a position, by at least one lane; a factor below 1 zooms in. */
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

/** A range that is no shorter than `minSpan` and is moved to lie between `lowest` and `highest`. */
function slid(from: number, to: number, lowest: number, highest: number, minSpan: number): [number, number] {
  const length = Math.min(Math.max(to - from, minSpan), highest - lowest);
  const middle = (from + to) / 2;
  const start = Math.min(Math.max(to - from < minSpan ? middle - length / 2 : from, lowest), highest - length);
  return [start, start + length];
}
