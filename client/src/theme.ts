/** Colours that the page's style gives the canvas: those of the scheme that the reader has chosen, and on paper those of light. */

export interface Theme {
  /** What the picture is drawn on. */
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

/** The colours in force at an element, each as `#rrggbb`. */
export function themeOf(element: Element): Theme {
  const style = getComputedStyle(element);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    ...{ paper: of("raised"), ink: of("ink"), soft: of("soft"), line: of("line"), faint: of("faint"), faded: of("faded") },
    ops: { read: of("read"), write: of("write") },
    sizes: of("sizes").split(" "),
  };
}

/** Calls back when other colours are in force: in the evening, and for printing. */
export function onTheme(changed: () => void): void {
  matchMedia("screen and (prefers-color-scheme: dark)").addEventListener("change", changed);
}

/** Red, green and blue of `#rrggbb`, or of `#rgb`, to which builds shorten it. */
export function channels(css: string): number[] {
  const digits = css.length === 4 ? css.replace(/[\da-f]/gi, "$&$&") : css;
  return [1, 3, 5].map((at) => parseInt(digits.slice(at, at + 2), 16));
}
