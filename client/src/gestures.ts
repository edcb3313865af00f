/** Turns events of pointer, touch, wheel and keys on the canvas into moves of the picture. */

import { onKeys } from "./dom";
import type { Brush, Picture } from "./picture";

export interface Moves {
  /** Zooms x around a point, or the middle; a factor below 1 zooms in. */
  zoom(factor: number, x?: number): void;
  /** The same for lanes. */
  zoomLanes(factor: number, position?: number): void;
  /** Moves by a fraction of the x range in sight, and by lanes. */
  pan(x: number, lanes: number): void;
  /** Moves by a fraction of the lanes in sight, by one at least. */
  panLanes(part: number): void;
  brush(from: number, to: number, top: number | undefined, bottom: number | undefined): void;
  reset(): void;
  hover(px: number, py: number): void;
  leave(): void;
  step(by: 1 | -1): void;
}

const KEY_FACTOR = 0.5;
const WHEEL_FACTOR = 1.0015;
const KEY_PAN = 0.2;
/** Pixels; a shorter drag is a click. */
const DRAG = 4;
/** Pixels; a drag of less height selects a range of x only. */
const FLAT = 14;
/** Lanes are zoomed by whole lanes, so fingers move by this much before they are. */
const LANE_FACTOR = 1.2;
/** Pixels; fingers closer to each other are taken for as far apart. */
const CLOSEST = 12;

export function listen(picture: Picture, moves: Moves): void {
  const { canvas } = picture;
  let start: { x: number; y: number; isPan: boolean } | undefined;
  let last = { x: 0, y: 0 };
  const fingers = new Map<number, Point>();
  /** What two fingers do: x under each of them, or how far they are apart in y. */
  let pinch: { isOfLanes: boolean; spread: number; first: number; last: number } | undefined;

  const pan = (to: Point): void => {
    const lanes = Math.trunc(picture.locate(last.x, last.y).position) - Math.trunc(picture.locate(to.x, to.y).position);
    moves.pan(-(to.x - last.x) / picture.plotWidth, lanes);
    last = to;
  };
  const pinched = (): void => {
    const [a, b] = [...fingers.values()] as [Point, Point];
    const spread = Math.max(Math.abs(a.y - b.y), CLOSEST);
    if (!pinch) {
      const [first, last] = [picture.locate(a.x, a.y).x, picture.locate(b.x, b.y).x];
      pinch = { isOfLanes: spread > Math.abs(a.x - b.x), spread, first, last };
    } else if (!pinch.isOfLanes) {
      // What is under a finger stays under it.
      const [left, right] = [picture.part(a.x), picture.part(b.x)];
      const span = (pinch.last - pinch.first) / (right - left);
      if (Number.isFinite(span) && span > 0) moves.brush(pinch.first - left * span, pinch.first + (1 - left) * span, undefined, undefined);
    } else if (Math.abs(Math.log(spread / pinch.spread)) > Math.log(LANE_FACTOR)) {
      moves.zoomLanes(pinch.spread / spread, picture.locate(a.x, (a.y + b.y) / 2).position);
      pinch.spread = spread;
    }
  };
  const lift = (event: PointerEvent): void => {
    fingers.delete(event.pointerId);
    pinch = undefined;
    // The finger that stays goes on from where it is.
    for (const left of fingers.values()) last = left;
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button > 1) return;
    canvas.setPointerCapture(event.pointerId);
    canvas.focus({ preventScroll: true });
    const at = { x: event.offsetX, y: event.offsetY };
    const isTouch = event.pointerType === "touch";
    if (isTouch) fingers.set(event.pointerId, at);
    if (fingers.size === 2) pinched();
    start = { ...at, isPan: isTouch || event.shiftKey || event.button === 1 };
    last = at;
    moves.leave();
    event.preventDefault();
  });
  canvas.addEventListener("pointermove", (event) => {
    const at = { x: event.offsetX, y: event.offsetY };
    if (fingers.has(event.pointerId)) fingers.set(event.pointerId, at);
    if (fingers.size === 2) return pinched();
    if (!start) return moves.hover(at.x, at.y);
    if (start.isPan) return pan(at);
    picture.draw(framed(picture, start, at));
  });
  canvas.addEventListener("pointerup", (event) => {
    const from = start;
    const to = { x: event.offsetX, y: event.offsetY };
    const isTap = fingers.size === 1 && from !== undefined && Math.hypot(to.x - from.x, to.y - from.y) < 2 * DRAG;
    lift(event);
    if (fingers.size) return;
    start = undefined;
    if (isTap) return moves.hover(to.x, to.y);
    if (!from || from.isPan) return;
    if (Math.abs(to.x - from.x) < DRAG) {
      picture.draw();
      return moves.hover(to.x, to.y);
    }
    const [left, right] = [picture.locate(Math.min(from.x, to.x), from.y), picture.locate(Math.max(from.x, to.x), from.y)];
    const frame = framed(picture, from, to);
    if (Math.abs(to.y - from.y) < FLAT) return moves.brush(left.x, right.x, undefined, undefined);
    const top = picture.locate(from.x, frame.upper).position;
    const bottom = picture.locate(from.x, frame.lower).position;
    moves.brush(left.x, right.x, Math.floor(top), Math.floor(bottom) + 1);
  });
  canvas.addEventListener("pointercancel", (event) => {
    lift(event);
    start = undefined;
    picture.draw();
  });
  canvas.addEventListener("pointerleave", (event) => {
    // A finger that is lifted leaves the tip.
    if (!start && event.pointerType !== "touch") moves.leave();
  });
  canvas.addEventListener("dblclick", () => moves.reset());
  canvas.addEventListener(
    "wheel",
    (event) => {
      // Without focus, the wheel scrolls the page.
      if (document.activeElement !== canvas && !event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const { x, position } = picture.locate(event.offsetX, event.offsetY);
      const turned = event.deltaY || event.deltaX;
      if (event.shiftKey) moves.zoomLanes(WHEEL_FACTOR ** turned, position);
      else moves.zoom(WHEEL_FACTOR ** turned, x);
    },
    { passive: false },
  );
  onKeys(canvas, (key) => keyed(key, moves));
}

/** The move that a key stands for. */
function keyed(key: string, moves: Moves): (() => void) | undefined {
  const keys: Record<string, () => void> = {
    "+": () => moves.zoom(KEY_FACTOR),
    "=": () => moves.zoom(KEY_FACTOR),
    "-": () => moves.zoom(1 / KEY_FACTOR),
    "]": () => moves.zoomLanes(KEY_FACTOR),
    "[": () => moves.zoomLanes(1 / KEY_FACTOR),
    ArrowLeft: () => moves.pan(-KEY_PAN, 0),
    ArrowRight: () => moves.pan(KEY_PAN, 0),
    ArrowUp: () => moves.panLanes(-KEY_PAN),
    ArrowDown: () => moves.panLanes(KEY_PAN),
    Home: () => moves.reset(),
    "0": () => moves.reset(),
    n: () => moves.step(1),
    p: () => moves.step(-1),
    Escape: () => moves.leave(),
  };
  return keys[key];
}

interface Point {
  x: number;
  y: number;
}

/** The frame of a drag, within the facet in which it began. */
function framed(picture: Picture, from: Point, to: Point): Brush {
  const { facet } = picture.locate(from.x, from.y);
  const isFlat = Math.abs(to.y - from.y) < FLAT;
  const clamp = (y: number): number => Math.min(Math.max(y, picture.top(facet)), picture.lower(facet) - 1e-3);
  return {
    left: Math.min(from.x, to.x),
    right: Math.max(from.x, to.x),
    upper: isFlat ? picture.top(facet) : clamp(Math.min(from.y, to.y)),
    lower: isFlat ? picture.lower(facet) : clamp(Math.max(from.y, to.y)),
  };
}
