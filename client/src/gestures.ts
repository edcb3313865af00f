/** Turns events of pointer, wheel and keys on the canvas into moves of the picture. */

import { onKeys } from "./dom";
import type { Brush, Picture } from "./picture";

export interface Moves {
  /** Zooms x around a point, or the middle; a factor below 1 zooms in. */
  zoom(factor: number, x?: number): void;
  /** The same for lanes. */
  zoomLanes(factor: number, position?: number): void;
  /** Moves by a fraction of the x range in sight, and by lanes. */
  pan(x: number, lanes: number): void;
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

export function listen(picture: Picture, moves: Moves): void {
  const { canvas } = picture;
  let start: { x: number; y: number; isPan: boolean } | undefined;
  let last = { x: 0, y: 0 };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button > 1) return;
    canvas.setPointerCapture(event.pointerId);
    canvas.focus({ preventScroll: true });
    start = { x: event.offsetX, y: event.offsetY, isPan: event.shiftKey || event.button === 1 };
    last = { x: event.offsetX, y: event.offsetY };
    moves.leave();
    event.preventDefault();
  });
  canvas.addEventListener("pointermove", (event) => {
    const { offsetX: x, offsetY: y } = event;
    if (!start) return moves.hover(x, y);
    if (start.isPan) {
      const before = picture.locate(last.x, last.y);
      const now = picture.locate(x, y);
      const lanes = Math.trunc(before.position) - Math.trunc(now.position);
      moves.pan(-(x - last.x) / picture.plotWidth, lanes);
      last = { x, y };
    } else {
      picture.draw(framed(picture, start, { x, y }));
    }
  });
  canvas.addEventListener("pointerup", (event) => {
    const from = start;
    start = undefined;
    if (!from || from.isPan) return;
    const to = { x: event.offsetX, y: event.offsetY };
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
  canvas.addEventListener("pointercancel", () => {
    start = undefined;
    picture.draw();
  });
  canvas.addEventListener("pointerleave", () => {
    if (!start) moves.leave();
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
    ArrowUp: () => moves.pan(0, -1),
    ArrowDown: () => moves.pan(0, 1),
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
