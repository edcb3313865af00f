/** Creates elements. Texts may come from users, such as names of files, so none is parsed as markup. */

export type Child = Node | string;

/** The event by which one picture says to others of the page what is chosen in it. */
export const CHOSEN = "iomine-chosen";

/** What was chosen: ranks, OSTs or files, and the direction; nothing where all are empty. */
export interface Choice {
  names: string;
  op: string;
  ranks: number[];
  osts: number[];
  files: number[];
}

/** The event by which a picture asks others of the page for the requests of the trace. */
export const ASKED = "iomine-asked";

/** What answers: whether the page has the requests is known once it is there, and they are loaded when they are asked for. */
export interface Asked<Found> {
  requests?: Promise<(() => Promise<Found>) | undefined>;
}

/** An element with attributes and children. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A button with a tooltip. */
export function button(text: string, hint: string, act: () => void): HTMLButtonElement {
  const made = element("button", { type: "button", title: hint }, text);
  made.addEventListener("click", act);
  return made;
}

/** A drop-down list with a label; `options` are pairs of value and text. */
export function choice(label: string, options: [string, string][], act: (value: string) => void): { box: HTMLLabelElement; select: HTMLSelectElement } {
  const select = element("select", {}, ...options.map(([value, text]) => element("option", { value }, text)));
  select.addEventListener("change", () => act(select.value));
  return { box: element("label", {}, `${label} `, select), select };
}

/** Has keys act on an element; those that the browser has a use for, with Ctrl and the like, stay its own. */
export function onKeys(target: HTMLElement, keyed: (key: string) => (() => void) | undefined): void {
  target.addEventListener("keydown", (event) => {
    const act = keyed(event.key);
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
}

/** A table with a caption. Numbers are aligned to the right, and so are the heads of columns that begin with a number. */
export function table(caption: string, head: string[], rows: Child[][]): HTMLTableElement {
  const kind = (child: Child | undefined): Record<string, string> =>
    typeof child === "string" && /^[\d.,−-]+( |$)/.test(child) ? { class: "number" } : {};
  return element(
    "table",
    {},
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...head.map((text, at) => element("th", { scope: "col", ...kind(rows[0]?.[at]) }, text)))),
    element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells.map((child) => element("td", kind(child), child))))),
  );
}

/** Saves a file through the browser. */
export function save(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = element("a", { href: url, download: name });
  link.click();
  // The browser starts to read the URL only after this function has returned.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
