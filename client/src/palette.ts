/** Colours: of operations, of transfer sizes, of OSTs; each from light, little of a pixel's time, to full. */

export const SHADES = 64;
/** Colour of rows that are not shown. */
export const HIDDEN = 255;
/** How much of its colour a pixel has that is hardly touched. */
const LEAST = 0.42;

export interface Colour {
  name: string;
  css: string;
  shades: Uint32Array;
  /** Shown only where no other colour is. */
  isBehind: boolean;
}

export interface Palette {
  title: string;
  colours: Colour[];
}

/** Upper bounds, inclusive, of Darshan's classes of sizes. */
const SIZE_BOUNDS = [100, 1024, 10240, 102400, 2 ** 20, 4 * 2 ** 20, 10 * 2 ** 20, 100 * 2 ** 20, 2 ** 30, Infinity];
const SIZE_NAMES = "to 100 B|to 1 KiB|to 10 KiB|to 100 KiB|to 1 MiB|to 4 MiB|to 10 MiB|to 100 MiB|to 1 GiB|above 1 GiB".split("|");
// Of Okabe and Ito: told apart by all kinds of colour vision, and in grey, where blue is the darker.
const OPERATION_COLOURS: Record<string, string> = { read: "#0072b2", write: "#d55e00" };
const FADED = "#8a8f98";
// Ten steps of plasma, whose luminance rises evenly for all kinds of colour vision; its end would be lost on white paper.
const SIZE_COLOURS = "#0d0887 #3e049c #6400a7 #8808a6 #a82296 #c33d80 #d9586a #eb7556 #f89441 #feb72d".split(" ");

/** Colours of operations; the last is for what is faded. */
export function operationPalette(ops: string[]): Palette {
  return { title: "Operation", colours: [...ops.map((op) => colour(op, OPERATION_COLOURS[op] ?? "#444444")), faded()] };
}

/** Colours of sizes, lighter for larger; the last is for what is faded. */
export function sizePalette(): Palette {
  return { title: "Bytes of a request", colours: [...SIZE_NAMES.map((name, at) => colour(name, SIZE_COLOURS[at]!)), faded()] };
}

/** Class of a size. */
export function sizeClass(bytes: number): number {
  return SIZE_BOUNDS.findIndex((bound) => bytes <= bound);
}

function faded(): Colour {
  return { ...colour("not highlighted", FADED, 0.25, 0.55), isBehind: true };
}

function colour(name: string, css: string, least = LEAST, most = 1): Colour {
  const channels = [1, 3, 5].map((at) => parseInt(css.slice(at, at + 2), 16));
  const shades = Uint32Array.from({ length: SHADES }, (_, shade) => {
    const part = least + ((most - least) * shade) / (SHADES - 1);
    const [red, green, blue] = channels.map((channel) => Math.round(255 + (channel - 255) * part));
    return (0xff000000 | (blue! << 16) | (green! << 8) | red!) >>> 0;
  });
  return { name, css, shades, isBehind: false };
}
