/** Colours of the canvas, read from the page's style: light or dark as the reader has chosen; light for printing. */

/** Steps between the colours of a ramp. */
export const SHADES = 64;

export interface Theme {
  /** Background of the picture. */
  paper: string;
  ink: string;
  soft: string;
  line: string;
  faint: string;
  /** Of operations, by name. */
  ops: Record<string, string>;
  /** Of sizes, from small to large. */
  sizes: string[];
  faded: string;
}

/** The current colours of an element, each as `#rrggbb` or `#rgb`. */
export function themeOf(element: Element): Theme {
  const style = getComputedStyle(element);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    ...{ paper: of("raised"), ink: of("ink"), soft: of("soft"), line: of("line"), faint: of("faint"), faded: of("faded") },
    ops: { read: of("read"), write: of("write") },
    sizes: of("sizes").split(" "),
  };
}

/** Calls back when the theme changes between light and dark, also for printing. */
export function onTheme(changed: () => void): void {
  matchMedia("screen and (prefers-color-scheme: dark)").addEventListener("change", changed);
}

/** Red, green and blue of `#rrggbb`, or of `#rgb`, which the build shortens it to where it can. */
export function channels(css: string): number[] {
  const digits = css.length === 4 ? css.replace(/[\da-f]/gi, "$&$&") : css;
  return [1, 3, 5].map((at) => parseInt(digits.slice(at, at + 2), 16));
}

/** Shades between the colours of a ramp. */
export function palette(ramp: string[]): string[] {
  const parts = ramp.map(channels);
  return Array.from({ length: SHADES }, (_, shade) => {
    const at = (shade / (SHADES - 1)) * (parts.length - 1);
    const low = Math.min(Math.floor(at), parts.length - 2);
    const mixed = parts[low]!.map((channel, index) => Math.round(channel + (parts[low + 1]![index]! - channel) * (at - low)));
    return `rgb(${mixed.join(" ")})`;
  });
}
