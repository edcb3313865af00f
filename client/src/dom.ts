/** Elements with their texts; names come from users, so nothing here takes markup. */

type Child = Node | string;

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

/** A button with a word on it and a sentence behind it. */
export function button(text: string, hint: string, act: () => void): HTMLButtonElement {
  const made = element("button", { type: "button", title: hint }, text);
  made.addEventListener("click", act);
  return made;
}

/** A choice with a label, of texts by value. */
export function choice(label: string, options: [string, string][], act: (value: string) => void): { box: HTMLLabelElement; select: HTMLSelectElement } {
  const select = element("select", {}, ...options.map(([value, text]) => element("option", { value }, text)));
  select.addEventListener("change", () => act(select.value));
  return { box: element("label", {}, `${label} `, select), select };
}

/** A table with a caption; numbers, and the heads of columns that begin with one, stand to the right. */
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

/** Hands a file to the person. */
export function save(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = element("a", { href: url, download: name });
  link.click();
  // Browsers begin to read it after this turn.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
