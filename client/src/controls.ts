/** The controls around the picture: tabs, choices, buttons, and places for messages and tables. */

import { button, choice, element, table } from "./dom";
import { parseRange, type Range, rangeText, SECONDS, SIZES } from "./ranges";
import { type About, type Highlight, UNKNOWN } from "./rows";
import { parseRanks, ranksText } from "./select";
import type { Chosen, ViewName } from "./state";
import type { View } from "./views";

export const VIEWS: Record<ViewName, readonly [string, string]> = {
  operations: ["Operations", "Reads and writes of each rank over time."],
  sizes: ["Transfer sizes", "Reads and writes of each rank over time, coloured by size."],
  offsets: ["Offsets", "Where in their files ranks read and write."],
  osts: ["OSTs", "Requests over time by the OST that holds their first byte, and the bytes that each OST moved."],
  phases: ["Phases", "Stretches of time in which a layer reads or writes, with the time that the fastest and the slowest rank spend in requests."],
};

/** An entry of the legend. */
export interface Entry {
  name: string;
  css: string;
  isShown: boolean;
}

/** What the controls ask of the explorer. */
export interface Commands {
  readonly view: View | undefined;
  choose(changes: Partial<Chosen>): Promise<void>;
  /** Switches what has a colour on or off. */
  toggle(name: string): void;
  zoom(factor: number): void;
  reset(): void;
  savePicture(): void;
  saveRows(): void;
  rowsInSight(): number[];
}

const ROWS_LISTED = 200;
const KEYS = [
  ["Drag", "zoom to a stretch of time, or of time and ranks; with a finger, move"],
  ["Two fingers", "zoom in time if they lie side by side, and in ranks if they lie above each other"],
  ["Shift and drag, arrow keys", "move in time or in ranks"],
  ["Wheel, + and −", "zoom in time; click the picture first, or hold Ctrl and turn the wheel"],
  ["Shift and wheel, ] and [", "zoom in ranks"],
  ["n, p", "show the next or the previous request"],
  ["Double click, 0", "show everything"],
];

export class Controls {
  readonly canvas = element("canvas", { tabindex: "0", role: "img" });
  readonly tip = element("div", { class: "tip", role: "status" });
  private readonly legend = element("div", { class: "legend", role: "group" });
  readonly stage = element("div", { class: "stage" }, this.canvas, this.tip);
  readonly elements: HTMLElement[];
  private readonly tabs: Map<string, HTMLButtonElement>;
  private readonly hint = element("p", { class: "hint" });
  private readonly finding = element("p", { class: "finding" });
  private readonly problem = element("p", { class: "problem", role: "alert" });
  private readonly ignored = element("p", { class: "problem", role: "status" });
  private readonly status = element("p", { class: "status", role: "status" });
  private readonly summary = element("div", { class: "summary" });
  private readonly runTables = element("div", { class: "summary" });
  private readonly listed = element("details", { class: "rows" }, element("summary", {}, "Rows in sight"));
  private readonly colour: HTMLLabelElement;
  private readonly order: HTMLLabelElement;
  private readonly highlight: HTMLSelectElement;
  /** Fields that say what is shown, each with the text or value for a choice. */
  private readonly fields: [HTMLInputElement | HTMLSelectElement, (chosen: Chosen) => string][] = [];
  private readonly highlights: Highlight[];

  constructor(
    about: About,
    private readonly commands: Commands,
  ) {
    const highlight = choice(
      "Highlight",
      [["", "nothing"], ...about.highlights.map(({ code, text }, at): [string, string] => [String(at), `${code}: ${text}`])],
      (value) => void commands.choose({ highlight: value === "" ? undefined : about.highlights[Number(value)] }),
    );
    this.highlight = highlight.select;
    this.highlights = about.highlights;
    this.tip.hidden = true;
    this.tabs = new Map(
      Object.entries(VIEWS)
        .filter(([name]) => (name === "osts" ? about.osts.length : name === "phases" ? about.phases.length : true))
        .map(([name, [text, hint]]) => [name, button(text, hint, () => void commands.choose({ view: name as ViewName }))]),
    );
    const colour = choice("Colour by", [["op", "operation"], ["size", "transfer size"]], (value) => void commands.choose({ isBySize: value === "size" }));
    this.colour = colour.box;
    this.fields.push([colour.select, ({ isBySize }) => (isBySize ? "size" : "op")]);
    const order = choice("Order", [["use", "first use"], ["number", "number"]], (value) => void commands.choose({ isByNumber: value === "number" }));
    this.order = order.box;
    this.fields.push([order.select, ({ isByNumber }) => (isByNumber ? "number" : "use")]);
    this.elements = [
      element("div", { class: "tabs", role: "group", "aria-label": "Views" }, ...this.tabs.values()),
      this.hint,
      element("div", { class: "controls" }, ...this.choices(about), highlight.box, this.colour, this.order, this.buttons()),
      this.problem,
      this.ignored,
      this.finding,
      element("div", { class: "picture" }, this.legend, this.stage),
      this.status,
      this.summary,
      this.runTables,
      this.listed,
      element("details", { class: "keys" }, element("summary", {}, "Mouse and keys"), table("", ["", ""], KEYS)),
    ];
    this.listed.addEventListener("toggle", () => this.list());
  }

  /** Shows what is chosen, and the tables about the whole run. */
  update(chosen: Chosen, view: View, runTables: HTMLTableElement[]): void {
    this.stage.hidden = view.lanes.rows.length === 0;
    this.runTables.replaceChildren(...runTables);
    for (const [name, tab] of this.tabs) tab.setAttribute("aria-pressed", String(name === chosen.view));
    this.hint.textContent = VIEWS[chosen.view][1];
    this.problem.textContent = "";
    for (const [field, valueOf] of this.fields) field.value = valueOf(chosen);
    this.colour.hidden = chosen.view !== "offsets" && chosen.view !== "osts";
    this.order.hidden = chosen.view !== "osts";
    this.highlight.value = chosen.highlight ? String(this.highlights.indexOf(chosen.highlight)) : "";
    this.finding.textContent = chosen.highlight ? `${chosen.highlight.code}: ${chosen.highlight.text}` : "";
    const along = view.x.kind === "time" ? "time" : "offset";
    this.canvas.setAttribute("aria-label", `${VIEWS[chosen.view][1]} Picture of ${view.axis.name} by ${along}. The tables below have the numbers.`);
  }

  /** Shows the legend; a click on an entry switches it on or off. */
  showLegend(title: string, entries: Entry[]): void {
    const buttons = entries.map(({ name, css, isShown }) => {
      const made = button(name, isShown ? `Hide: ${name}` : `Show: ${name}`, () => this.commands.toggle(name));
      made.setAttribute("aria-pressed", String(isShown));
      const swatch = element("span", { class: "swatch" });
      swatch.style.setProperty("--swatch", css);
      made.prepend(swatch);
      return made;
    });
    const focused = [...this.legend.querySelectorAll("button")].findIndex((each) => each === document.activeElement);
    this.legend.setAttribute("aria-label", title);
    this.legend.replaceChildren(...(entries.length ? [element("span", {}, `${title}:`), ...buttons] : []));
    // The button that was pressed is another now; the keyboard stays on it.
    buttons[focused]?.focus({ preventScroll: true });
  }

  /** Says in a line which parts of an address cannot be shown. */
  showIgnored(parts: string[]): void {
    const named = parts.map((part) => part.replace(/[^\x20-\x7e]/g, "?").slice(0, 40)).slice(0, 6).join(", ");
    this.ignored.textContent = parts.length ? `This trace has no such thing, so the address is followed without it: ${named}` : "";
  }

  get statusText(): string {
    return this.status.textContent ?? "";
  }

  showStatus(text: string): void {
    this.status.textContent = text;
  }

  showSummary(tables: HTMLTableElement[]): void {
    this.summary.replaceChildren(...tables);
    this.list();
  }

  /** Lists the rows in sight if the list is open. */
  private list(): void {
    this.listed.querySelector("div")?.remove();
    const { view } = this.commands;
    if (!this.listed.open || !view) return;
    const rows = this.commands.rowsInSight();
    const order = this.finding.textContent ? ", those highlighted first" : "";
    const caption = rows.length > ROWS_LISTED ? `The first ${ROWS_LISTED} of ${rows.length} rows${order}. “Save rows” saves all of them.` : `${rows.length} rows${order}`;
    const cells = rows.slice(0, ROWS_LISTED).map((row) => view.fields.map(({ shown }) => shown(row)));
    this.listed.append(element("div", {}, table(caption, view.fields.map(({ label }) => label), cells)));
  }

  private choices(about: About): HTMLElement[] {
    const { commands } = this;
    const files = choice(
      "File",
      [[String(UNKNOWN), "all files"], ...about.files.map((name, at): [string, string] => [String(at), name])],
      (value) => void commands.choose({ file: Number(value) }),
    );
    this.fields.push([files.select, ({ file }) => String(file)]);
    const op = choice("Operation", [["", "all"], ...about.ops.map((name): [string, string] => [name, name])], (value) => void commands.choose({ op: value || undefined }));
    this.fields.push([op.select, (chosen) => chosen.op ?? ""]);
    return [
      ...(about.files.length > 1 ? [files.box] : []),
      op.box,
      this.typed("Ranks", "all, or 0-15, 32", ({ ranks }) => (ranks ? ranksText(ranks) : ""), (text) => ({ ranks: parseRanks(text, about.rank_count) })),
      this.range("Size", "all, or 4K-1M", SIZES, "size"),
      this.range("Duration", "all, or 10ms-", SECONDS, "took"),
    ];
  }

  /** A field for a range. */
  private range(label: string, hint: string, units: Readonly<Record<string, number>>, name: "size" | "took"): HTMLElement {
    const shown = (range: Range | undefined): string => (range ? rangeText(range) : "");
    return this.typed(label, hint, (chosen) => shown(chosen[name]), (text) => ({ [name]: parseRange(text, units) }));
  }

  /** A field for a text, which throws where it cannot be. */
  private typed(label: string, hint: string, valueOf: (chosen: Chosen) => string, parse: (text: string) => Partial<Chosen>): HTMLElement {
    const input = element("input", { type: "text", placeholder: hint, size: "12", spellcheck: "false" });
    input.addEventListener("change", () => {
      try {
        void this.commands.choose(parse(input.value));
      } catch (error) {
        this.problem.textContent = (error as Error).message;
      }
    });
    this.fields.push([input, valueOf]);
    return element("label", {}, `${label} `, input);
  }

  private buttons(): HTMLElement {
    const { commands } = this;
    return element(
      "span",
      { class: "buttons" },
      button("+", "Zoom in", () => commands.zoom(0.5)),
      button("−", "Zoom out", () => commands.zoom(2)),
      button("All", "Show everything", () => commands.reset()),
      button("Save picture", "Save the picture as PNG", () => commands.savePicture()),
      button("Save rows", "Save the rows in sight as CSV", () => commands.saveRows()),
    );
  }
}
