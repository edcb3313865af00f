/** The controls around the picture: tabs, choices, buttons, and places for messages and tables. */

import { button, choice, element, table } from "./dom";
import { type About, type Highlight, UNKNOWN } from "./rows";
import { parseRanks } from "./select";
import type { View } from "./views";

const VIEWS = {
  operations: ["Operations", "Reads and writes of each rank over time."],
  sizes: ["Transfer sizes", "Reads and writes of each rank over time, coloured by size. Darker is smaller."],
  offsets: ["Offsets", "Where in their files ranks read and write."],
  osts: ["OSTs", "Requests over time by the OST that holds their first byte, and the bytes that each OST moved."],
  phases: ["Phases", "Stretches of time in which a layer reads or writes, with the time that the fastest and the slowest rank spend in requests."],
} as const;

export type ViewName = keyof typeof VIEWS;

/** What the person chose. */
export interface Chosen {
  view: ViewName;
  /** Whether colours stand for transfer sizes; otherwise they stand for operations. */
  isBySize: boolean;
  /** Index of a file, `UNKNOWN` for all files. */
  file: number;
  ranks: Int32Array | undefined;
  highlight: Highlight | undefined;
}

/** What the controls ask of the explorer. */
export interface Commands {
  readonly view: View | undefined;
  choose(changes: Partial<Chosen>): Promise<void>;
  zoom(factor: number): void;
  reset(): void;
  savePicture(): void;
  saveRows(): void;
  rowsInSight(): number[];
}

const ROWS_LISTED = 200;
const KEYS = [
  ["Drag", "zoom to a stretch of time, or of time and ranks"],
  ["Shift and drag, arrow keys", "move in time or in ranks"],
  ["Wheel, + and −", "zoom in time; click the picture first, or hold Ctrl and turn the wheel"],
  ["Shift and wheel, ] and [", "zoom in ranks"],
  ["n, p", "show the next or the previous request"],
  ["Double click, 0", "show everything"],
];

export class Controls {
  readonly canvas = element("canvas", { tabindex: "0", role: "img" });
  readonly tip = element("div", { class: "tip", role: "status" });
  readonly stage = element("div", { class: "stage" }, this.canvas, this.tip);
  readonly elements: HTMLElement[];
  private readonly tabs: Map<string, HTMLButtonElement>;
  private readonly hint = element("p", { class: "hint" });
  private readonly finding = element("p", { class: "finding" });
  private readonly problem = element("p", { class: "problem", role: "alert" });
  private readonly status = element("p", { class: "status", role: "status" });
  private readonly summary = element("div", { class: "summary" });
  private readonly runTables = element("div", { class: "summary" });
  private readonly listed = element("details", { class: "rows" }, element("summary", {}, "Rows in sight"));
  private readonly colour: HTMLLabelElement;
  private readonly highlight: HTMLSelectElement;
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
    this.elements = [
      element("div", { class: "tabs", role: "group", "aria-label": "Views" }, ...this.tabs.values()),
      this.hint,
      element("div", { class: "controls" }, ...this.choices(about), highlight.box, this.colour, this.buttons()),
      this.problem,
      this.finding,
      this.stage,
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
    this.colour.hidden = chosen.view !== "offsets" && chosen.view !== "osts";
    this.highlight.value = chosen.highlight ? String(this.highlights.indexOf(chosen.highlight)) : "";
    this.finding.textContent = chosen.highlight ? `${chosen.highlight.code}: ${chosen.highlight.text}` : "";
    const along = view.x.kind === "time" ? "time" : "offset";
    this.canvas.setAttribute("aria-label", `${VIEWS[chosen.view][1]} Picture of ${view.axis.name} by ${along}. The tables below have the numbers.`);
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
    const ranks = element("input", { type: "text", placeholder: "all, or 0-15, 32", size: "14", spellcheck: "false" });
    ranks.addEventListener("change", () => {
      try {
        void commands.choose({ ranks: parseRanks(ranks.value, about.rank_count) });
        this.problem.textContent = "";
      } catch (error) {
        this.problem.textContent = (error as Error).message;
      }
    });
    return [...(about.files.length > 1 ? [files.box] : []), element("label", {}, "Ranks ", ranks)];
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
