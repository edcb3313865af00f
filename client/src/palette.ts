/** Colours of operations and of transfer sizes, in shades: the more of a pixel's time is busy, the stronger. */

import { channels, type Theme } from "./theme";

export const SHADES = 64;
/** Colour of rows that are not shown. */
export const HIDDEN = 255;
export const NOT_HIGHLIGHTED = "not highlighted";
/** Strength of the faintest shade. */
const FAINTEST = 0.42;

export interface Colour {
  name: string;
  css: string;
  shades: Uint32Array;
  /** Shown only where there is no other colour. */
  isBackground: boolean;
}

export interface Palette {
  title: string;
  colours: Colour[];
}

/** Upper bounds, inclusive, of Darshan's classes of sizes. */
const SIZE_BOUNDS = [100, 1024, 10240, 102400, 2 ** 20, 4 * 2 ** 20, 10 * 2 ** 20, 100 * 2 ** 20, 2 ** 30, Infinity];
export const SIZE_NAMES = "to 100 B|to 1 KiB|to 10 KiB|to 100 KiB|to 1 MiB|to 4 MiB|to 10 MiB|to 100 MiB|to 1 GiB|above 1 GiB".split("|");

/** Colours of operations; the last is for rows that are not highlighted. */
export function operationPalette(ops: string[], theme: Theme): Palette {
  return { title: "Operation", colours: [...ops.map((op) => colour(op, theme.ops[op]!, theme)), faded(theme)] };
}

/** Colours of sizes, lighter for larger; the last is for rows that are not highlighted. */
export function sizePalette(theme: Theme): Palette {
  return { title: "Request size", colours: [...SIZE_NAMES.map((name, at) => colour(name, theme.sizes[at]!, theme)), faded(theme)] };
}

/** Index of the class of a size. */
export function sizeClass(bytes: number): number {
  return SIZE_BOUNDS.findIndex((bound) => bytes <= bound);
}

function faded(theme: Theme): Colour {
  return { ...colour(NOT_HIGHLIGHTED, theme.faded, theme, 0.25, 0.55), isBackground: true };
}

function colour(name: string, css: string, { paper }: Theme, faintest = FAINTEST, strongest = 1): Colour {
  const [full, none] = [channels(css), channels(paper)];
  const shades = Uint32Array.from({ length: SHADES }, (_, shade) => {
    const part = faintest + ((strongest - faintest) * shade) / (SHADES - 1);
    const [red, green, blue] = full.map((channel, at) => Math.round(none[at]! + (channel - none[at]!) * part));
    return (0xff000000 | (blue! << 16) | (green! << 8) | red!) >>> 0;
  });
  return { name, css, shades, isBackground: false };
}
